"""bootstrap: quick when there is nothing to do, clear when it cannot do it."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from pipeline.cli import MODULES
from pipeline.core.exit_codes import ExitCode

ROOT = Path(__file__).resolve().parents[2]
# What the script calls beside the commands that a test replaces.
NEEDED = (
    "bash",
    "env",
    "cat",
    "cut",
    "sha256sum",
    "dirname",
    "readlink",
    "mkdir",
    "flock",
    "rm",
    "tail",
)


# Of several packages it tells a word each, as it was asked to; of one the word alone.
ALL_THERE = (
    'case "$*" in *"cmake valgrind"*) printf "installed installed " ;; *) echo installed ;; esac'
)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in ("bootstrap", "requirements.lock", "pyproject.toml"):
        shutil.copy2(ROOT / name, folder)
    return folder


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A PATH of a machine without root, where no package is installed."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in NEEDED:
        found = shutil.which(name)
        assert found, name
        (folder / name).symlink_to(found)
    scripts = {
        "id": "echo 1000",
        "dpkg-query": "exit 1",
        "apt-get": "exit 100",
        "apt-cache": "exit 0",
        "python3": "echo Python 3.9.2; exit 1",
    }
    for name, text in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


def bootstrap(clone: Path, path: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [clone / "bootstrap", *(words or ("list",))],
        capture_output=True,
        text=True,
        env={"PATH": str(path), "HOME": os.environ.get("HOME", "/"), **env},
        cwd="/",
        stdin=subprocess.DEVNULL,
    )


def replace(machine: Path, name: str, text: str) -> None:
    (machine / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    (machine / name).chmod(0o755)


def test_second_run_says_nothing_and_works_from_any_folder() -> None:
    command = (str(ROOT / "bootstrap"), "build", "--help")
    subprocess.run(command, cwd="/", capture_output=True)  # perhaps the first one in this tree
    done = subprocess.run(command, cwd="/", capture_output=True, text=True)
    assert done.returncode == 0
    assert "bootstrap:" not in done.stderr
    assert "Build, train, judge and publish" in done.stdout


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help_is_its_own_and_sets_nothing_up(clone: Path, machine: Path, word: str) -> None:
    for tool in list(machine.iterdir()):
        if tool.name not in ("bash", "env"):
            tool.unlink()
    done = bootstrap(clone, machine, word)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Sets this machine up" in done.stdout and "HAKMEM_LLVM" in done.stdout
    assert "set -euo" not in done.stdout
    assert not (clone / "build").exists() and not (clone / ".venv").exists()


def test_help_of_a_command_sets_nothing_up(clone: Path, machine: Path) -> None:
    """It installed 34 packages first."""
    done = bootstrap(clone, machine, "build", "--help")
    assert done.returncode == ExitCode.PACKAGES
    assert "nothing was set up: docs/commands.md has the commands" in done.stderr
    replace(machine, "python3", '[ "$1" = -c ] || echo "$@"')
    done = bootstrap(clone, machine, "build", "--help")
    assert (done.returncode, done.stdout) == (0, "-m pipeline build --help\n"), done.stderr
    assert not (clone / "build").exists() and not (clone / ".venv").exists()
    made_up(clone)
    replace(clone / ".venv" / "bin", "pipeline", f'echo "{clone}/.venv/bin/python $@"')
    replace(clone / ".venv" / "bin", "python", "exit 0")
    done = bootstrap(clone, machine, "build", "-h")
    assert done.stdout.endswith("python build -h\n"), done.stderr
    done = bootstrap(clone, machine, "record", "--", "x", "--help")
    assert "nothing was set up" not in done.stderr


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("docter",), "did you mean doctor?"),
        (("profile",), "did you mean profiles?"),
        (("--verison",), "did you mean --version?"),
        (("--link", "buidl"), "did you mean build?"),
        (("quite-another-thing",), "the commands are: build bundle"),
    ],
)
def test_a_command_that_is_none_is_refused_before_the_set_up(
    typed: tuple[str, ...], meant: str, clone: Path, machine: Path
) -> None:
    (clone / "pipeline").mkdir()
    shutil.copy2(ROOT / "pipeline" / "cli.py", clone / "pipeline")
    done = bootstrap(clone, machine, *typed)
    assert (done.returncode, done.stdout) == (ExitCode.USAGE, "")
    assert f"there is no command {typed[-1]}" in done.stderr and meant in done.stderr
    assert not (clone / "build").exists() and not (clone / ".venv").exists()


def test_all_commands_and_the_version_pass_to_the_set_up(clone: Path, machine: Path) -> None:
    (clone / "pipeline").mkdir()
    shutil.copy2(ROOT / "pipeline" / "cli.py", clone / "pipeline")
    for word in (*MODULES, "--version"):
        assert bootstrap(clone, machine, word).returncode == ExitCode.PACKAGES, word


def test_a_venv_of_another_tree_is_made_anew(clone: Path, machine: Path, tmp_path: Path) -> None:
    made_up(clone)
    replace(machine, "dpkg-query", ALL_THERE)
    assert bootstrap(clone, machine).stdout == "ready\n"
    copy = tmp_path / "copy"
    shutil.copytree(clone, copy, symlinks=True)
    done = bootstrap(copy, machine)
    assert "ready" not in done.stdout
    assert done.returncode == ExitCode.PYTHON  # it tries to make .venv, and has no Python here
    assert bootstrap(clone, machine).stdout == "ready\n"


def test_a_venv_behind_a_link_is_taken_and_never_cleared(
    clone: Path, machine: Path, tmp_path: Path
) -> None:
    made_up(clone)
    replace(machine, "dpkg-query", ALL_THERE)
    other = tmp_path / "other"
    other.mkdir()
    for name in ("bootstrap", "requirements.lock", "pyproject.toml"):
        shutil.copy2(clone / name, other)
    (other / ".venv").symlink_to(clone / ".venv")
    assert bootstrap(other, machine).stdout == "ready\n"
    (other / "requirements.lock").write_text("other\n", encoding="utf-8")
    replace(machine, "python3", '[ "$1" = -c ]')
    bootstrap(other, machine)
    assert not (other / ".venv").is_symlink()
    assert bootstrap(clone, machine).stdout == "ready\n"


def test_link_puts_the_command_on_the_path(clone: Path, machine: Path, tmp_path: Path) -> None:
    made_up(clone)
    replace(machine, "dpkg-query", "printf 'installed installed '")
    (machine / "ln").symlink_to(shutil.which("ln") or "")
    home = tmp_path / "home"
    done = bootstrap(clone, machine, "--link", HOME=str(home))
    link = home / ".local" / "bin" / "pipeline"
    assert link.readlink() == clone / ".venv" / "bin" / "pipeline"
    assert (link.parent / "hakmem").readlink() == clone / ".venv" / "bin" / "hakmem"
    assert (done.returncode, done.stdout) == (0, "")
    assert f'export PATH="{link.parent}:$PATH"' in done.stderr
    again = bootstrap(clone, machine, "--link", "list", HOME=str(home))
    assert (again.returncode, again.stdout) == (0, "ready\n")
    link.unlink()
    link.write_text("somebody else's", encoding="utf-8")
    refused = bootstrap(clone, machine, "--link", HOME=str(home))
    assert refused.returncode == ExitCode.SPACE
    assert link.read_text(encoding="utf-8") == "somebody else's"


def test_without_root_it_prints_the_line_to_run(clone: Path, machine: Path) -> None:
    done = bootstrap(clone, machine)
    assert done.returncode == ExitCode.PACKAGES
    line = next(text for text in done.stderr.splitlines() if "run as root:" in text)
    assert "apt-get install -y --no-install-recommends" in line
    for package in ("clang-22", "lld-22", "bolt-22", "valgrind", "python3-venv", "ninja-build"):
        assert f" {package} " in f"{line} "


def test_wished_llvm_is_asked_for(clone: Path, machine: Path) -> None:
    done = bootstrap(clone, machine, HAKMEM_LLVM="20")
    assert done.returncode == ExitCode.PACKAGES
    assert "bolt-20" in done.stderr
    assert "bolt-22" not in done.stderr


def test_folder_of_llvm_needs_no_llvm_package(clone: Path, machine: Path) -> None:
    done = bootstrap(clone, machine, HAKMEM_LLVM="/opt/llvm/bin")
    assert done.returncode == ExitCode.PACKAGES
    assert "valgrind" in done.stderr
    assert "clang" not in done.stderr


def test_failing_apt_is_not_success(clone: Path, machine: Path) -> None:
    replace(machine, "id", "echo 0")
    done = bootstrap(clone, machine)
    assert done.returncode == ExitCode.PACKAGES
    assert "apt-get failed" in done.stderr
    assert "the whole output is in" in done.stderr


def test_apt_waits_while_another_one_installs(clone: Path, machine: Path) -> None:
    replace(machine, "id", "echo 0")
    held = "E: Could not get lock /var/lib/dpkg/lock-frontend"
    replace(
        machine,
        "apt-get",
        f'case "$*" in *DPkg::Lock::Timeout=*) echo waits;; *) echo {held!r};; esac; exit 100',
    )
    done = bootstrap(clone, machine)
    assert "waits" in done.stderr and held not in done.stderr


def test_old_python_is_named(clone: Path, machine: Path) -> None:
    replace(machine, "dpkg-query", "echo installed")
    done = bootstrap(clone, machine, HAKMEM_PYTHON="python3")
    assert done.returncode == ExitCode.PYTHON
    assert "no Python 3.11 or newer" in done.stderr
    assert "Python 3.9.2" in done.stderr


def test_half_made_venv_is_not_taken(clone: Path, machine: Path) -> None:
    (clone / ".venv" / "bin").mkdir(parents=True)
    (clone / ".venv" / "bin" / "pipeline").write_text("#!/bin/sh\necho half-made\n")
    (clone / ".venv" / "bin" / "pipeline").chmod(0o755)
    done = bootstrap(clone, machine)
    assert done.returncode == ExitCode.PACKAGES
    assert "half-made" not in done.stdout


def test_a_step_that_takes_long_says_that_it_goes_on(clone: Path, machine: Path) -> None:
    """pip took minutes, and nothing told it from one that hangs."""
    replace(machine, "dpkg-query", ALL_THERE)
    replace(machine, "sleep", "exec /bin/sleep 0.3")
    slow = f"echo {'half way' * 9}; /bin/sleep 1; mkdir -p $4/bin"
    slow += "; printf '#!/bin/sh\\nexit 1' >$4/bin/python"
    replace(machine, "python3", f'[ "$1" = -m ] || exit 0; {slow}; /bin/chmod 755 $4/bin/python')
    done = bootstrap(clone, machine)
    assert done.returncode == ExitCode.PACKAGES
    said = done.stderr.splitlines()
    begin = next(number for number, line in enumerate(said) if " -m venv " in line)
    assert "still at it, waiting for python's venv for " in said[begin + 1]
    assert re.search(r"still at it, .*bootstrap\.log\): (half way){7}h\.\.\.$", said[begin + 1])
    assert re.search(r"still at it, .*bootstrap\.log\)$", said[begin + 2])  # nothing new
    packages = (clone / "requirements.lock").read_text(encoding="utf-8").count("==")
    assert f"bootstrap: installing {packages} Python packages" in done.stderr
    assert "Terminated" not in done.stderr


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("apt_get update", "apt-get update"),
        ("apt_get install -y clang-22", "apt-get install"),
        ("/t/.venv/bin/python -m pip install -q -r lock", "pip"),
        ("python3 -m venv --clear /t/.venv", "python's venv"),
        ("/usr/bin/git fetch", "git"),
    ],
)
def test_what_a_long_step_waits_for_has_a_name(words: str, name: str) -> None:
    """Seven minutes of "still at it" said nowhere that pip was at work."""
    text = (ROOT / "bootstrap").read_text(encoding="utf-8")
    function = text[text.index("\ncalled() {") :].partition("\n}\n")[0] + "\n}\n"
    done = subprocess.run(["bash", "-c", f"{function}called {words}"], capture_output=True)
    assert done.stdout.decode().strip() == name


def test_ctrl_c_is_told_from_a_failure(clone: Path, machine: Path) -> None:
    """pip ends with 1 at Ctrl-C, and bootstrap said that pip could not install the packages."""
    replace(machine, "dpkg-query", ALL_THERE)
    replace(machine, "python3", '[ "$1" = -m ] || exit 0; kill -INT $PPID; exit 1')
    done = subprocess.run(
        ["env", "--default-signal=INT", clone / "bootstrap", "list"],
        capture_output=True,
        text=True,
        env={"PATH": str(machine), "HOME": str(clone)},
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == ExitCode.INTERRUPTED
    assert done.stderr.endswith("bootstrap: interrupted; the same command goes on\n")


def test_venv_of_a_running_build_is_not_cleared(clone: Path, machine: Path) -> None:
    """A build holds the lock of the tree; bootstrap waits for it before it touches .venv."""
    python = machine / "python3"
    python.write_text('#!/bin/sh\necho "$@" >>made\n[ "$1" = -c ]\n', encoding="utf-8")
    for program in ("id", "dpkg-query"):
        (machine / program).write_text("#!/bin/sh\necho installed\n", encoding="utf-8")
    state, waited = clone / "build" / "pipeline", clone / "waited"
    state.mkdir(parents=True)
    holder = (state / "lock").open("w")
    fcntl.flock(holder, fcntl.LOCK_EX)
    child = subprocess.Popen(
        [clone / "bootstrap"],
        env={"PATH": str(machine), "HOME": str(clone)},
        cwd=clone,
        stderr=waited.open("wb"),
    )
    try:
        while b"a build works in this tree" not in waited.read_bytes():
            assert child.poll() is None, waited.read_text(encoding="utf-8")
            time.sleep(0.01)
        assert not (clone / "made").exists()
    finally:
        holder.close()
        child.wait()
    assert "venv --clear" in (clone / "made").read_text(encoding="utf-8")


def test_unwritable_folder_is_named(clone: Path, machine: Path) -> None:
    (clone / "build").write_text("in the way", encoding="utf-8")
    done = bootstrap(clone, machine)
    assert done.returncode == ExitCode.SPACE
    assert "cannot write in" in done.stderr


@pytest.mark.parametrize("name", ["a clone", "a:clone", "a;clone"])
def test_a_place_that_cannot_be_preloaded_from_is_refused_at_once(
    name: str, clone: Path, machine: Path
) -> None:
    place = clone.rename(clone.with_name(name))
    done = bootstrap(place, machine)
    assert done.returncode == ExitCode.SPACE
    assert "which LD_PRELOAD cannot take" in done.stderr
    assert not (place / "build").exists() and not (place / ".venv").exists()


def test_a_venv_with_a_python_out_of_reach_is_named(clone: Path, machine: Path) -> None:
    made_up(clone)
    replace(machine, "dpkg-query", ALL_THERE)
    (clone / ".venv" / "bin" / "python").symlink_to(clone / "gone")
    done = bootstrap(clone, machine)
    assert (done.returncode, done.stdout) == (ExitCode.PYTHON, "")
    assert "is gone or cannot be run: remove" in done.stderr
    if os.getuid() == 0:  # only root can give files away
        os.chown(clone / ".venv", 1, 1)
        done = bootstrap(clone, machine)
        assert done.returncode == ExitCode.PYTHON
        assert "belongs to another user" in done.stderr


def made_up(clone: Path) -> None:
    """Let a clone look as it does after a bootstrap that succeeded."""
    venv = clone / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "pipeline").write_text(f"#!/bin/sh\n# {venv}/bin/python\necho ready\n")
    (venv / "bin" / "pipeline").chmod(0o755)
    (venv / "packages").write_text("cmake valgrind", encoding="utf-8")
    (venv / "hakmem-stamp").write_text(digest_of(clone), encoding="utf-8")


def digest_of(clone: Path) -> str:
    """Return what the script calls its digest, computed here."""
    inner = (clone / "requirements.lock").read_bytes() + (clone / "pyproject.toml").read_bytes()
    venv = hashlib.sha256(inner).hexdigest() + "\n"
    return hashlib.sha256((clone / "bootstrap").read_bytes() + venv.encode()).hexdigest()


@pytest.mark.parametrize(
    ("states", "code", "said"),
    [
        ("installed installed ", 0, "ready"),
        ("installed config-files ", ExitCode.PACKAGES, ""),
        ("not-installed installed ", ExitCode.PACKAGES, ""),
    ],
)
def test_package_removed_since_is_noticed(
    states: str, code: int, said: str, clone: Path, machine: Path
) -> None:
    made_up(clone)
    whole = f'printf "%s" "{states}"'
    replace(machine, "dpkg-query", f'case "$*" in *"cmake valgrind"*) {whole} ;; *) exit 1 ;; esac')
    done = bootstrap(clone, machine)
    assert (done.returncode, done.stdout.strip()) == (code, said), done.stderr


def test_what_the_tests_add_is_said_with_its_reason(clone: Path, machine: Path) -> None:
    made_up(clone)
    replace(machine, "dpkg-query", "printf 'installed installed '")
    (clone / "requirements-cluster.lock").write_text("", encoding="utf-8")
    replace(clone / ".venv" / "bin", "python", "exit 0")
    done = bootstrap(clone, machine, "test")
    assert done.stdout == "ready\n", done.stderr
    assert "bootstrap: adding Dask, which tunes on several machines" in done.stderr
    assert bootstrap(clone, machine, "test").stderr == ""


def test_alone_it_says_what_is_there_and_what_to_type_next(clone: Path, machine: Path) -> None:
    """It ended in the help of pipeline."""
    made_up(clone)
    replace(clone / ".venv/bin", "pipeline", f": {clone}/.venv/bin/python; echo Usage: pipeline")
    replace(machine, "dpkg-query", ALL_THERE)
    done = subprocess.run(
        [clone / "bootstrap"],
        capture_output=True,
        text=True,
        env={"PATH": str(machine), "HOME": "/"},
        cwd=clone,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage" not in done.stdout
    assert "ready: 2 Debian packages are installed: cmake valgrind\n" in done.stdout
    assert "\nnext:  .venv/bin/pipeline doctor  " in done.stdout
    assert "  .venv/bin/pipeline build --profile mixed  " in done.stdout


def test_second_run_is_quick_because_it_starts_few_programs(clone: Path, machine: Path) -> None:
    made_up(clone)
    log = clone / "started"
    replace(machine, "dpkg-query", "printf 'installed installed '")
    for tool in [path for path in machine.iterdir() if path.name not in ("bash", "env")]:
        real = tool.rename(tool.with_name(f"real-{tool.name}"))
        text = f'#!/bin/sh\necho {tool.name} >>{log}\nexec {real} "$@"\n'
        tool.write_text(text, encoding="utf-8")
        tool.chmod(0o755)
    assert bootstrap(clone, machine).stdout == "ready\n"
    started = Counter(log.read_text(encoding="utf-8").split())
    assert started["dpkg-query"] == 1
    assert not started.keys() & {"python3", "apt-get", "apt-cache", "flock"}
    assert started.total() <= 12, started


def test_bare_path_is_named(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = subprocess.run(
        ["/bin/bash", clone / "bootstrap", "list"],
        capture_output=True,
        text=True,
        env={"PATH": str(tmp_path / "empty")},
    )
    assert done.returncode == ExitCode.PACKAGES
    assert f"cat is not in PATH={tmp_path}/empty" in done.stderr
    assert "PATH=/usr/local/bin:/usr/bin:/bin" in done.stderr
    assert "list" in done.stderr.splitlines()[-1]
