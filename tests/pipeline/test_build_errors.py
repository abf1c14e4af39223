"""What becomes of a build when something is wrong: one clear error, its code, nothing lost."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import TINY, Sandbox

from pipeline.commands.workshop import open_workshop
from pipeline.core.console import open_console
from pipeline.core.exit_codes import ExitCode
from pipeline.core.lock import other_run, tree_lock
from pipeline.core.paths import Tree
from pipeline.core.store import ROOM_PREFIX
from pipeline.profile.load import load_profile
from pipeline.release.published import nothing_published
from pipeline.stages.build.workshop import Options
from pipeline.toolchain.find import Toolchain

# With the library alone: each command of the training is first tried without it.
CRASH = 'argv = ["sh", "-c", "test -z $LD_PRELOAD || kill -SEGV $$"]'
HANG = 'argv = ["sh", "-c", "test -z $LD_PRELOAD || sleep 300"]\ntimeout_s = 1'
STAY = 'argv = ["sh", "-c", "test -z $LD_PRELOAD || sleep infinity"]\ntimeout_s = 3600'
NEEDY = """
[[workload]]
name = "needy"
kind = "command"
role = "train"
argv = ["true"]
needs = ["no-such-program"]
"""
TRAINED = ("baseline", "record", "geometry", "instrument", "train", "merge")
SHELL = 'argv = ["sh", "-c", "seq 2000 | sort | tail -n 1"]'


def variant(sandbox: Sandbox, name: str, old: str, new: str) -> None:
    """Write the profile ``name``: tiny with one text replaced, and where ``tiny`` stands.

    It is cut alike. So it finds all stages as made already that the text does not change.
    """
    assert old in TINY
    sandbox.profile(name, TINY.replace('name = "tiny"', f'name = "{name}"').replace(old, new, 1))
    shutil.copytree(sandbox.geometry.parent, sandbox.root / "layouts" / name, dirs_exist_ok=True)
    sandbox.take(sandbox, TRAINED, name)


def published(sandbox: Sandbox) -> str:
    return sandbox.current.readlink().name


def test_nothing_to_do_says_why_and_how_long_it_looked(built: Sandbox) -> None:
    code, output = built.build()
    assert code == 0
    assert re.search(r"^nothing to do: .*checked in [0-9.]+ s", output, re.M), output
    assert "LD_PRELOAD=" in output.splitlines()[-1]


def test_broken_toml_names_file_and_line(built: Sandbox) -> None:
    built.profile("broken", 'schema_version = 1\nname = "broken\n')
    code, output = built.run("build", "--profile", "broken")
    assert code == ExitCode.PROFILE
    assert "broken.toml: not valid TOML" in output
    assert "line 2" in output


def test_crashing_workload_is_named_with_its_log(built: Sandbox) -> None:
    variant(built, "crash", SHELL, CRASH)
    code, output = built.run("build", "--profile", "crash")
    assert code == ExitCode.WORKLOAD
    assert 'workload "shell" failed: killed by SIGSEGV' in output
    log = built.root / output.rpartition("\n  log: ")[2].strip()
    assert "kill -SEGV" in log.read_text(encoding="utf-8").splitlines()[0]


def test_hanging_workload_is_killed_at_its_limit(built: Sandbox) -> None:
    variant(built, "hang", SHELL, HANG)
    code, output = built.run("build", "--profile", "hang")
    assert code == ExitCode.WORKLOAD
    assert 'workload "shell" was still running after its limit of 1 s' in output


def test_missing_programs_are_skipped_with_a_notice(built: Sandbox) -> None:
    """They are neither run nor merged. The rest of such a build tells nothing more."""
    variant(built, "skip", SHELL, f'argv = ["no-such-program"]\nweight = 1\n{NEEDY}')
    child = built.start("build", "--profile", "skip", "--quick")
    said = "".join(read_until(child, "pgo: started"))
    child.send_signal(signal.SIGINT)
    child.communicate()
    assert 'workload "shell" is skipped: not on this machine: no-such-program' in said
    assert 'workload "needy" is skipped' in said
    assert re.search(r"train: done in .*: 1 workloads", said)
    assert "merge: done" in said


def typo(sandbox: Sandbox, old: str, new: str) -> str:
    """Build a profile with one text replaced; return what a refusal before all work says."""
    assert old in TINY
    sandbox.profile("typo", TINY.replace('name = "tiny"', 'name = "typo"').replace(old, new, 1))
    code, output = sandbox.run("build", "--profile", "typo")
    assert code == ExitCode.PROFILE, output
    assert "baseline" not in output
    return output


def test_unknown_program_is_told_before_any_work(fresh: Sandbox) -> None:
    output = typo(fresh, "training/mixed_sizes", "training/mixed_size")
    assert 'typo.toml: workload "mixed-sizes": there is no program training/mixed_size' in output
    assert "known: training/aligned, " in output
    assert "did you mean training/mixed_sizes?" in output


def test_unknown_hot_function_is_told_before_any_work(fresh: Sandbox) -> None:
    output = typo(fresh, '"hak_malloc", "hak_free"', '"hak_mallok"')
    assert "layout.must_be_hot: no function of the library is called hak_mallok" in output
    assert "did you mean hak_malloc?" in output


def test_unknown_listed_function_is_told_before_any_work(fresh: Sandbox) -> None:
    with (fresh.root / "layouts/mixed/hot.txt").open("a", encoding="utf-8") as stream:
        stream.write("hak_mallock\n")
    output = typo(fresh, "weight = 2", "weight = 3")
    assert "layouts/mixed/hot.txt: no function of the library is called hak_mallock" in output


def test_listed_word_that_is_no_function_is_refused(built: Sandbox) -> None:
    variant(built, "list", 'name = "mixed"\nmust', 'name = "typo"\nmust')
    shutil.copytree(built.root / "layouts" / "mixed", built.root / "layouts" / "typo")
    with (built.root / "layouts/typo/hot.txt").open("a", encoding="utf-8") as stream:
        stream.write("HAK_SMALL_MAX\n")
    code, output = built.run("build", "--profile", "list")
    assert code == ExitCode.PROFILE
    assert "layouts/typo/hot.txt: no function of the library is called HAK_SMALL_MAX" in output


def test_branch_stacks_are_asked_of_the_machine(built: Sandbox, tmp_path: Path) -> None:
    perf = tmp_path / "bin" / "perf"
    perf.parent.mkdir()
    perf.write_text("#!/bin/sh\n[ $1 = --version ] && echo perf 6.1 || exit 77\n")
    perf.chmod(0o755)
    path = f"{perf.parent}:{os.environ['PATH']}"
    code, output = built.build("--branch-stacks", PATH=path)
    assert code == ExitCode.TOOL
    assert "this machine has no branch stacks: perf: exit code 77" in output
    assert "leave out --branch-stacks" in output
    assert "baseline" not in output


def test_training_that_never_runs_a_hot_function(built: Sandbox) -> None:
    variant(built, "cold", '["hak_malloc", "hak_free"]', '["hak_malloc", "hak_pvalloc"]')
    code, output = built.run("build", "--profile", "cold")
    assert code == ExitCode.DATA
    assert "the training never ran hak_pvalloc" in output


def test_damaged_artifact_is_made_again(built: Sandbox) -> None:
    """What is made again has the same bytes, so nothing that was made of it is made again."""
    merged = built.artifacts("merge")[-1] / "hakmem.profdata"
    content = merged.read_bytes()
    merged.write_bytes(content[: len(content) // 2])
    code, output = built.build("--explain")
    assert code == 0
    assert "merge: its artifact is damaged" in output
    assert "baseline: unchanged" in output
    assert "pgo: unchanged" in output
    assert merged.read_bytes() == content


def test_a_file_in_place_of_dist_is_told_before_any_work(built: Sandbox) -> None:
    built.profile("shut", TINY.replace('name = "tiny"', 'name = "shut"'))
    (built.root / "dist" / "shut").write_text("in the way", encoding="utf-8")
    code, output = built.run("build", "--profile", "shut")
    assert code == ExitCode.SPACE
    assert "dist/shut is a file" in output
    assert "remove or rename it: mv " in output
    assert "baseline" not in output


def test_where_nothing_is_published_the_others_are_named(tmp_path: Path) -> None:
    (tmp_path / "shop" / "current").mkdir(parents=True)
    hardened = nothing_published("kv+hardened", tmp_path).hint
    assert hardened.startswith("`.venv/bin/pipeline build --profile kv --variant hardened`")
    hint = nothing_published("mixed", tmp_path).hint
    assert hint is not None
    assert hint.endswith("or name a profile that is published: -p shop")


@pytest.mark.parametrize("command", ["list", "rollback"])
def test_nothing_published_has_a_code_of_its_own(command: str, built: Sandbox) -> None:
    built.profile("unbuilt", TINY.replace('name = "tiny"', 'name = "unbuilt"'))
    code, output = built.run(command, "--profile", "unbuilt")
    assert code == ExitCode.VERSION
    assert "nothing is published for profile 'unbuilt'" in output
    assert "build --profile unbuilt" in output
    code, output = built.run(command, "--profile", "unbuild")
    assert code == ExitCode.PROFILE
    assert "did you mean --profile unbuilt?" in output


@pytest.mark.slow
def test_no_space_is_named_and_nothing_half_made_stays(built: Sandbox) -> None:
    built.profile("full", TINY.replace('name = "tiny"', 'name = "full"'))
    child = subprocess.run(
        [sys.executable, "-m", "pipeline", "build", "--profile", "full"],
        cwd=built.root,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )
    assert child.returncode == ExitCode.SPACE, child.stderr
    assert "no space left" in child.stderr
    assert "Traceback" not in child.stderr
    assert not list((built.root / "build/pipeline/full").glob("*/[!.]*/receipt.json"))
    code, output = built.run("build", "--profile", "full")
    assert code == 0, output


def test_closed_gate_keeps_report_and_current(built: Sandbox) -> None:
    before = published(built)
    built.gate(False)
    try:
        code, output = built.build("--from", "publish")
    finally:
        built.gate(True)
    assert code == ExitCode.GATE
    told = r"^(result: not published|why): the gate of the test says False"
    assert (
        len(re.findall(told, output, re.M)) == output.count("the gate of the test says False") == 1
    )
    assert re.search(r"result: not published.*; `current`", output)
    assert "error:" not in output and "\n  log:" not in output
    page = built.root / output.rsplit("  report: ")[-1].strip()
    report = page.read_text(encoding="utf-8")
    assert report.startswith("<!doctype html>")
    assert published(built) == before
    assert built.build("--from", "publish")[0] == 0  # the last report is of a published version


def read_until(child: subprocess.Popen[str], words: str) -> list[str]:
    """Return what a run says before a line with these words; it must come."""
    assert child.stdout is not None
    lines: list[str] = []
    while words not in (line := child.stdout.readline()):
        assert line, "".join(lines)
        lines.append(line)
    return lines


def test_second_run_refuses_or_waits_and_an_interrupt_leaves_good_artifacts(built: Sandbox) -> None:
    """The first run trains with a program that stays as long as we want."""
    variant(built, "stay", SHELL, STAY)
    first = built.start("build", "--profile", "stay")
    read_until(first, "train: started")
    code, output = built.build("--no-wait")
    assert code == ExitCode.BUSY
    holder = f"process {first.pid}, `pipeline build --profile stay`, since "
    assert f"another pipeline run works in this tree ({holder}" in output
    second = built.start("build", "--profile", "tiny")
    read_until(second, "waiting for it")
    first.send_signal(signal.SIGINT)
    output, _ = first.communicate()
    assert first.returncode == ExitCode.INTERRUPTED, output
    assert "interrupted" in output
    assert "goes on from the last good stage" in output
    assert "Traceback" not in output
    output, _ = second.communicate()
    assert second.returncode == 0, output
    while children_in(built.root):  # what was killed may take a moment to be gone
        time.sleep(0.02)


def children_in(root: Path) -> list[str]:
    """Return the command lines of processes that still work in a tree."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if str(root) in line and int(path.parent.name) != os.getpid():
            lines.append(line)
    return lines


def test_a_dry_run_says_what_a_build_would_do_first_and_does_nothing(built: Sandbox) -> None:
    code, output = built.build("--dry-run")
    assert code == 0
    assert output.splitlines()[-1] == "dry run: no stage has anything to do"
    before = [built.artifacts(stage) for stage in ("merge", "pgo")]
    code, output = built.build("--dry-run", "--from", "pgo")
    assert code == 0
    assert "merge: unchanged" in output
    assert "pgo: to be made again, as --from asks for" in output
    assert output.splitlines()[-1].startswith("dry run: a build does pgo first")
    assert [built.artifacts(stage) for stage in ("merge", "pgo")] == before
    assert built.build("--dry-run", "--cpu", "all")[0] == ExitCode.USAGE


def test_a_dry_run_waits_for_no_other_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tools = Toolchain(())
    monkeypatch.setattr("pipeline.toolchain.find.find_toolchain", lambda _: tools)
    tree, console = Tree(tmp_path), open_console()
    assert not other_run(tree.state)
    profile, options = load_profile(Tree.here(), "mixed"), Options(dry_run=True)
    room = tree.artifacts("mixed") / "pgo" / f"{ROOM_PREFIX}0123"
    room.mkdir(parents=True)
    with (
        tree_lock(tree.state, wait=False, say=print),
        open_workshop(tree, profile, options, console, wait=False),
    ):
        pass
    assert "another pipeline run works in this tree" in capsys.readouterr().out
    assert room.exists()  # of the other run
    (tree.state / "lock").unlink()
    with open_workshop(tree, profile, options, console, wait=False):
        pass
    assert capsys.readouterr().out == ""
    assert not (tree.state / "lock").exists()  # the tree may be one that cannot be written


def test_explain_names_the_changed_input(built: Sandbox) -> None:
    """The rest of such a build tells nothing more: it is interrupted."""
    cold = built.root / "layouts" / "mixed" / "cold.txt"
    text = cold.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line != "hak_message"]
    cold.write_text("\n".join(lines) + "\n", encoding="utf-8")
    try:
        child = built.start("build", "--profile", "tiny", "--explain")
        said = read_until(child, "pgo: made because of cold")
        child.send_signal(signal.SIGINT)
        child.communicate()
    finally:
        cold.write_text(text, encoding="utf-8")
    assert any("merge: unchanged" in line for line in said), said
