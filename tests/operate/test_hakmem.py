"""The command `hakmem` itself: help, version, exit codes, completion, and what it imports."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from operate.cli import COMMANDS
from pipeline.core.exit_codes import ExitCode

ROOT = Path(__file__).resolve().parents[2]
SHARED = {
    "pipeline",
    *(f"pipeline.core{x}" for x in ("", ".errors", ".home", ".preload", ".processor", ".spelling")),
    "pipeline.core.architecture",
    "pipeline.core.exit_codes",
    "pipeline.core.files",
    "pipeline.core.huge_pages",
    "pipeline.core.nested",
    "pipeline.core.output",
    "pipeline.core.paste",
    "pipeline.core.variant",
}
"""What of the pipeline the command may need: modules of the standard library's alone."""


def hakmem(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "operate", *words], cwd=ROOT, capture_output=True, text=True
    )


@pytest.mark.parametrize("words", [(), ("--help",)])
def test_help_names_each_command(words: tuple[str, ...]) -> None:
    done = hakmem(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(name in done.stdout for name in COMMANDS)


@pytest.mark.parametrize("columns", ["80", "100"])
def test_each_command_has_a_row_of_the_help(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    rows = [line.split(maxsplit=1) for line in hakmem("--help").stdout.splitlines()]
    assert [[name, line] for name, line in COMMANDS.items() if [name, line] not in rows] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_has_what_it_is_for_beside_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = hakmem(name, "--help").stdout.splitlines()
    assert [line for line in lines if line.startswith("  -") and "  " not in line.strip()] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help_of_its_own(name: str) -> None:
    done = hakmem(name, "--help")
    assert done.returncode == 0, done.stderr
    assert f"usage: hakmem {name}" in done.stdout


def test_version_is_that_of_the_project() -> None:
    assert hakmem("--version").stdout == f"hakmem {(ROOT / 'VERSION').read_text().strip()}\n"


@pytest.mark.parametrize("words", [("rnu",), ("--nope",), ("completion", "tcsh")])
def test_wrong_command_lines_are_usage_errors(words: tuple[str, ...]) -> None:
    done = hakmem(*words)
    assert done.returncode == ExitCode.USAGE
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("top", "-n", "1"), "unrecognized arguments: -n"),
        (("top", "1", "2"), "unrecognized arguments: 2"),
        (("top", "--rows", "x", "1"), "argument --rows: it must be 1 or more"),
        (("check",), "the following arguments are required: pid"),
    ],
)
def test_refused_words_are_told_with_what_helps(words: tuple[str, ...], said: str) -> None:
    done = hakmem(*words)
    helps = f"  what to do: `hakmem {words[0]} --help` shows what it takes\n"
    assert (done.returncode, done.stderr) == (ExitCode.USAGE, f"error: {said}\n{helps}")


def test_a_misspelt_command_has_its_nearest() -> None:
    assert "did you mean 'check'?" in hakmem("chek").stderr
    assert "run, check, top, heap, reload, metrics, completion" in hakmem("zzz").stderr


def test_all_commands_need_the_standard_library_alone() -> None:
    code = (
        "import sys; old = {*sys.modules}; from operate.cli import build_parser, COMMANDS;"
        "build_parser([*COMMANDS]); print(*{*sys.modules} - old)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    ours = {name for name in loaded if name.partition(".")[0] == "pipeline"}
    others = {name.partition(".")[0] for name in loaded - ours} - sys.stdlib_module_names
    assert others == {"operate"}
    assert ours <= SHARED


def test_only_the_module_of_the_command_is_imported() -> None:
    code = "import sys; from operate.cli import build_parser; build_parser([]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert not [name for name in done.stdout.split() if name.startswith("operate.commands.")]


@pytest.mark.parametrize("option", ["--library", "--prefix"])
def test_a_name_that_the_system_refuses_is_told(option: str) -> None:
    done = hakmem("run", option, "x" * 300, "--", "true")
    assert done.returncode == ExitCode.USAGE, done.stderr
    assert re.match(r"error: cannot use .*: .*\n  what to do: name another", done.stderr)


@pytest.mark.parametrize("line", ["completion bash >/dev/full", "metrics -o /dev/full"])
def test_a_full_disk_is_told(line: str) -> None:
    words = ["bash", "-c", f"$0 -m operate {line}", sys.executable]
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, env=buffered)
    assert done.returncode == ExitCode.SPACE, done.stderr
    assert "error: cannot read or write: No space left on device\n  what to do: free" in done.stderr


TYPED = [
    (("compl",), "completion"),
    (("run", "--pro"), "--profile"),
    (("run", "--variant", "ha"), "hardened"),
    (("run", "printe"), "printenv"),
    (("run", "--variant", "hardened", "--", "printe"), "printenv"),
    (("completion", "z"), "zsh"),
]
"""What is typed behind `hakmem`, and a word that completes it."""


@pytest.mark.parametrize(("typed", "word"), TYPED)
def test_bash_completes(typed: tuple[str, ...], word: str) -> None:
    script = hakmem("completion", "bash").stdout
    line = f"COMP_WORDS=(hakmem {' '.join(typed)}); COMP_CWORD={len(typed)}"
    ask = f"{script}\n{line}; _hakmem; printf '%s\\n' ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True)
    assert done.stderr == ""
    assert word in done.stdout.split()


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish here")
@pytest.mark.parametrize(("typed", "word"), TYPED)
def test_fish_completes(tmp_path: Path, typed: tuple[str, ...], word: str) -> None:
    script = hakmem("completion", "fish").stdout
    ask = f"{script}\ncomplete -C 'hakmem {' '.join(typed)}'"
    env = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(
        ["fish", "--no-config", "-c", ask], env=env, capture_output=True, text=True
    )
    assert word in done.stdout.split(), done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh here")
@pytest.mark.parametrize(("typed", "word"), TYPED)
def test_zsh_completes(tmp_path: Path, typed: tuple[str, ...], word: str) -> None:
    """In a zsh of its own: completion wants an editor, and that a terminal."""
    (tmp_path / "_hakmem").write_text(hakmem("completion", "zsh").stdout, encoding="utf-8")
    (tmp_path / "inner").write_text(
        f"fpath=({tmp_path} $fpath); PS1=; unsetopt zle_bracketed_paste list_beep\n"
        f"autoload -Uz compinit && compinit -u -d {tmp_path}/dump\n"
        "typed() { print -r -- \"<$BUFFER>\"; exit }; zle -N typed; bindkey '^X' typed\n"
        "print ready\n",
        encoding="utf-8",
    )
    outer = (
        "zmodload zsh/zpty; zpty z zsh -f -i; zpty -w z 'source ./inner'\n"
        "zpty -r -m z _ '*ready*'\n"
        f"zpty -n -w z $'hakmem {' '.join(typed)}\\t\\x18'\n"
        "while zpty -r z line; do print -r -- $line; done"
    )
    env = {**os.environ, "TERM": "dumb", "HOME": str(tmp_path)}
    done = subprocess.run(
        ["zsh", "-f", "-c", outer], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    found = re.search(r"<hakmem (.*)>", done.stdout)
    assert found and word in found[1].split(), done.stdout + done.stderr
