"""The suite of real programs: what it accepts, what it refuses, what it leaves behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from pipeline.apps import packages
from pipeline.apps.model import App, Outcome, choose, load_apps
from pipeline.apps.run import Place, run_app
from pipeline.apps.suite import conclude, find_library, scripts, summary
from pipeline.apps.watch import GRACE_S, Seen, Watch
from pipeline.core.errors import PackagesMissing, TestsFailed, UsageError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paths import Tree

ROOT = Path(__file__).resolve().parents[2]
APPS = load_apps(scripts(Tree(ROOT)))
# Ended by the watch of these tests once it has seen it, however seldom it gets to look.
SEEN = "sleep 600 || true"

Trial = Callable[..., Outcome]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that can be preloaded and does nothing."""
    path = tmp_path_factory.mktemp("library") / "libnothing.so"
    subprocess.run(["gcc", "-shared", "-x", "c", "/dev/null", "-o", path], check=True)
    return path


class Impatient(Watch):
    """Ends every ``sleep`` as soon as it is clear whether the library is in it."""

    def _look_at(self, pid: int) -> None:
        super()._look_at(pid)
        seen = self.processes.get((pid, "sleep"))
        if seen and (seen.loaded or self._lacks_library(pid, seen)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)

    def _lacks_library(self, pid: int, seen: Seen) -> bool:
        """Return whether it started without the library, long enough ago for that to count."""
        with suppress(OSError):
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            return b"LD_PRELOAD=" not in environment and seen.looked - seen.first >= GRACE_S
        return False


@pytest.fixture
def trial(tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch) -> Trial:
    """Run an app with this script as run(); return what came of it."""
    monkeypatch.setattr("pipeline.apps.run.Watch", Impatient)

    def run(script: str, *, setup: str = ":", **fields: object) -> Outcome:
        folder = tmp_path / "a" / "b" / "scripts"
        folder.mkdir(parents=True)
        text = f"set -e\nsetup() {{\n{setup}\n}}\nrun() {{\n{textwrap.dedent(script)}\n}}\n$1\n"
        (folder / "toy.sh").write_text(text, encoding="utf-8")
        app = App.model_validate(
            {
                "name": "toy",
                "what": "a toy",
                "script": "toy.sh",
                "needs": {},
                "serves": ["sleep"],
                "limit_s": 60,
                "memory_mib": 100,
                **fields,
            }
        )
        place = Place(folder, tmp_path / "work", library, tmp_path / "logs")
        return run_app(app, place, lambda _text: None)

    return run


def test_equal_output_with_the_library_in_place_is_ok(trial: Trial) -> None:
    outcome = trial(f"{SEEN}; echo same; cat $SETUP/made", setup="echo made >made")
    assert (outcome.result, outcome.why) == ("ok", "")
    assert outcome.plain and outcome.preloaded
    assert outcome.preloaded.peaks["sleep"] > 0


def test_a_copy_of_the_watcher_that_has_not_begun_yet_does_not_count(library: Path) -> None:
    with Impatient(library) as watch:
        copy = os.fork()
        if copy == 0:
            time.sleep(600)
            os._exit(0)
        subprocess.run(["sleep", "600"], check=False)
    assert copy not in {pid for pid, _ in watch.processes}
    assert "sleep" in watch.peaks()


def test_different_output_fails_and_is_shown(trial: Trial) -> None:
    outcome = trial(f'{SEEN}; echo "preload: ${{LD_PRELOAD:+yes}}"')
    assert outcome.result == "failed"
    assert "the outputs differ: -preload:  | +preload: yes" in outcome.why


def test_a_program_without_the_library_fails(trial: Trial) -> None:
    outcome = trial(f"env -u LD_PRELOAD {SEEN}; echo same")
    assert outcome.why == "the library was never seen in sleep"


def test_one_process_without_the_library_among_others_fails(trial: Trial) -> None:
    outcome = trial(f"{SEEN}; env -u LD_PRELOAD {SEEN}; echo same")
    assert outcome.why == "a process of sleep ran without the library"


def test_silence_is_no_result(trial: Trial) -> None:
    assert "printed nothing" in trial(SEEN).why


def test_a_crash_is_named_with_its_log(trial: Trial) -> None:
    outcome = trial(f'{SEEN}; echo same; [ -z "${{LD_PRELOAD:-}}" ] || kill -SEGV $$')
    assert outcome.why.startswith("preloaded: bash: killed by SIGSEGV")
    assert "toy-preloaded.log" in outcome.why


def test_a_complaint_of_the_library_fails_even_in_a_log_file(trial: Trial) -> None:
    outcome = trial(f"{SEEN}; echo same; echo 'hakmem: double free: x' >server.log")
    assert outcome.why == "it complained: hakmem: double free: x"


def test_too_much_memory_fails(trial: Trial) -> None:
    outcome = trial(f"{SEEN}; echo same", memory_mib=0.1)
    assert "its largest process grew to" in outcome.why


def test_a_hang_is_ended(trial: Trial) -> None:
    outcome = trial("tail -f /dev/null", limit_s=0.5)
    assert "still running after its limit of 0.5 s" in outcome.why


def test_what_made_itself_a_daemon_is_ended(trial: Trial, tmp_path: Path) -> None:
    trial(f"""
        rm -f {tmp_path}/pid
        setsid --fork sh -c 'echo $$ >{tmp_path}/pid; exec tail -f /dev/null'
        until [ -s {tmp_path}/pid ]; do :; done
        {SEEN}; echo same""")
    pid = int((tmp_path / "pid").read_text(encoding="ascii"))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_interrupt_ends_the_servers_and_removes_the_folders() -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "pipeline", "test", "--app", "cxx", "--library", find_any_library()],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    own = f"hakmem-apps-{child.pid}-*"
    while not (made := list(Path("/tmp").glob(own))):
        assert child.poll() is None
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGINT)
    _, stderr = child.communicate()
    assert child.returncode == ExitCode.INTERRUPTED, stderr
    assert made
    assert not list(Path("/tmp").glob(own))


def find_any_library() -> str:
    """Return a library of the system: the test does not get as far as using it."""
    return str(next(Path("/usr/lib").rglob("libm.so.6")))


@pytest.mark.parametrize("app", APPS, ids=lambda app: app.name)
def test_each_app_has_a_script_that_runs(app: App) -> None:
    script = scripts(Tree(ROOT)) / app.script
    text = script.read_text(encoding="utf-8")
    assert "\nrun() {" in text
    assert text.endswith('\n"$@"\n')
    subprocess.run(["bash", "-n", script], check=True)


def test_names_are_unique_and_chosen_in_the_order_of_the_table() -> None:
    names = [app.name for app in APPS]
    assert len(set(names)) == len(names)
    assert [app.name for app in choose(APPS, (names[2], names[0]))] == [names[0], names[2]]


def test_unknown_app_is_named_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="there is no app 'nope'") as caught:
        choose(APPS, ("nope",))
    assert "redis" in caught.value.hint


def test_a_table_with_a_wrong_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "apps.toml").write_text('[[app]]\nname = "x"\nlimit = 3\n', encoding="utf-8")
    with pytest.raises(UsageError, match="limit"):
        load_apps(tmp_path)


def test_the_published_library_of_mixed_wins_over_a_built_one(tmp_path: Path) -> None:
    for place in ("build/clang/lib", "dist/zoo/current/lib", "dist/mixed/current/lib"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "libhakmem.so").touch()
    assert find_library(Tree(tmp_path)) == tmp_path / "dist/mixed/current/lib/libhakmem.so"
    shutil.rmtree(tmp_path / "dist")
    assert find_library(Tree(tmp_path)) == tmp_path / "build/clang/lib/libhakmem.so"
    shutil.rmtree(tmp_path / "build")
    with pytest.raises(UsageError, match="no library"):
        find_library(Tree(tmp_path))


@pytest.mark.parametrize(
    ("what", "here"),
    [
        ("sh", True),
        ("no-such-program|sh", True),
        ("no-such|nor-this", False),
        ("/bin/s*", True),
        ("/no/such/*", False),
    ],
)
def test_programs_and_files_are_looked_for(what: str, here: bool) -> None:
    assert packages.present(what) == here


def test_without_root_the_line_to_run_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "_root", lambda: None)
    app = APPS[0].model_copy(update={"needs": {"no-such-program": "its-package"}})
    lacking = packages.provide(app, Path("/nowhere"), lambda _text: None)
    assert "run as root: apt-get install -y --no-install-recommends its-package" in lacking


def test_a_pipeline_that_is_killed_leaves_no_policy_behind(tmp_path: Path) -> None:
    """Else no service of the machine starts with its package any more, and nobody knows why."""
    policy = tmp_path / "policy-rc.d"
    script = (
        "import os, pathlib, signal\n"
        "from pipeline.apps import packages\n"
        f"packages.POLICY = pathlib.Path({str(policy)!r})\n"
        "with packages._services_stay_off([]):\n"
        "    assert packages.POLICY.exists()\n"
        "    print('there', flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "there\n", done.stderr
    for _ in range(60_000):
        if not policy.exists():
            break
        time.sleep(0.01)
    assert not policy.exists()


def test_a_policy_that_a_crash_has_left_is_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = tmp_path / "policy-rc.d"
    policy.write_text(f"#!/bin/sh\n{packages.MARK}\nexit 101\n", encoding="utf-8")
    monkeypatch.setattr(packages, "POLICY", policy)
    with packages._services_stay_off([]):
        assert policy.exists()
    assert not policy.exists()


def test_services_of_packages_stay_off_only_while_packages_are_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    policy = tmp_path / "policy-rc.d"
    monkeypatch.setattr(packages, "POLICY", policy)
    with packages._services_stay_off([]):
        assert subprocess.run([policy]).returncode == 101
    assert not policy.exists()
    policy.write_text("of the administrator\n", encoding="utf-8")
    with packages._services_stay_off([]):
        pass
    assert policy.read_text(encoding="utf-8") == "of the administrator\n"


def test_failures_come_before_what_was_skipped() -> None:
    skipped, failed = Outcome("a", "skipped", "no package"), Outcome("b", "failed", "it crashed")
    with pytest.raises(TestsFailed, match="1 of 2 apps failed: b"):
        conclude([skipped, failed])
    with pytest.raises(PackagesMissing, match="not run for want of packages: a"):
        conclude([skipped, Outcome("c", "ok")])
    conclude([Outcome("c", "ok")])
    assert summary([skipped, failed]).row_count == 2


def test_with_the_guard_an_app_may_take_more_and_leave_out_what_misuses_memory() -> None:
    usual = {app.name: app for app in load_apps(scripts(Tree(ROOT)))}["python-processes"]
    guarded = usual.for_guard()
    assert guarded.limit_s > usual.limit_s and guarded.memory_mib > usual.memory_mib
    assert guarded.env.items() > usual.env.items() and "IGNORE" in guarded.env


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--apps", "--only", "ruff"], "--only and --apps do not go together"),
        (["--library", "README.md"], "--library is for --apps alone"),
        (["--set", "HAKMEM_PURGE_DELAY=0"], "--set is for --apps alone"),
        (["--variant", "guard"], "--variant is for --apps alone"),
        (["--apps", "--variant", "fast"], "'fast' is not one of 'guard', 'hardened'"),
        (
            ["--apps", "--variant", "guard", "--library", "README.md"],
            "--library and --variant do not go together",
        ),
        (["--apps", "--set", "LD_DEBUG=all"], "--set LD_DEBUG=all: HAKMEM_NAME=VALUE is expected"),
        (["--app", "nope"], "there is no app 'nope'"),
        (["--apps", "--library", "nowhere.so"], "nowhere.so"),
    ],
)
def test_wrong_use_is_refused(words: list[str], said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pipeline", "test", *words], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == ExitCode.USAGE
    assert said in done.stderr
