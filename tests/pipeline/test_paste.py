"""Commands in messages work where they are read, and a terminal keeps each in one line."""

from __future__ import annotations

import io
import re
from pathlib import Path

import click
import pytest
from rich.console import Console

from pipeline.core.console import BuildConsole
from pipeline.core.errors import UsageError
from pipeline.core.home import own_root
from pipeline.core.paste import FOLDER, in_lines, runnable, what_to_do
from pipeline.core.report_error import report_error

ROOT = own_root()
SAID = "try `.venv/bin/pipeline versus libc build/pipeline/x/libhakmem.so -- a b`, or the next one"


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in another folder than the root, of a tree in a folder with a blank in its name."""
    root = tmp_path / "a tree"
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "bin" / "pipeline").touch()
    monkeypatch.setattr("pipeline.core.paste.own_root", lambda: root)
    monkeypatch.chdir(tmp_path)
    return root


def test_in_the_root_commands_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert runnable(SAID) == SAID


def test_elsewhere_they_have_whole_paths(elsewhere: Path) -> None:
    command = f"'{elsewhere}/.venv/bin/pipeline'"
    library = f"'{elsewhere}/build/pipeline/x/libhakmem.so'"
    assert runnable(SAID) == f"try `{command} versus libc {library} -- a b`, or the next one"
    assert runnable(".venv/bin/hakmem check 1") == f"'{elsewhere}/.venv/bin/hakmem' check 1"


def test_what_is_no_command_of_ours_stays(elsewhere: Path) -> None:
    for said in ("LD_PRELOAD=x build/pipeline/y", f"`{elsewhere}/.venv/bin/pipeline`", "pipeline"):
        assert runnable(said) == said


def test_a_tree_without_the_command_proposes_no_path_to_it(elsewhere: Path) -> None:
    (elsewhere / ".venv" / "bin" / "pipeline").unlink()
    assert runnable(SAID) == SAID


def test_no_line_ends_inside_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for width in range(10, 100):
        lines = in_lines(f"A sentence before. {SAID}.\n  - a second line", width).split("\n")
        assert [line for line in lines if "`" in line] and all(
            line.count("`") % 2 == 0 for line in lines
        )
        assert " ".join(" ".join(lines).split()) == f"A sentence before. {SAID}. - a second line"
        assert all(len(line) <= width or "`" in line for line in lines)


def test_a_build_asks_once_for_the_paths_of_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []

    def own_root() -> Path:
        asked.append(ROOT)
        return ROOT

    monkeypatch.setattr("pipeline.core.paste.own_root", own_root)
    for terminal in (True, False):
        BuildConsole(Console(file=io.StringIO(), width=40, force_terminal=terminal)).prose(SAID)
    assert len(asked) == 2


def test_a_build_tells_whole_commands(elsewhere: Path) -> None:
    shown = Console(file=io.StringIO(), width=40, force_terminal=True, color_system=None)
    BuildConsole(shown).prose(f"one two three four {SAID}")
    assert isinstance(shown.file, io.StringIO)
    assert f"\n`'{elsewhere}/.venv/bin/pipeline' versus libc '" in shown.file.getvalue()


@pytest.mark.parametrize(
    "error",
    [
        UsageError("no", hint="`.venv/bin/pipeline list`"),
        click.UsageError("no"),
    ],
)
def test_an_error_does_so_too(
    elsewhere: Path, error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    report_error(error)
    assert f"what to do: `'{elsewhere}/.venv/bin/pipeline' " in capsys.readouterr().err


def test_each_command_that_is_printed_goes_this_way() -> None:
    for path in (ROOT / "pipeline").rglob("*.py"):
        for call in re.findall(r"click\.s?echo\((?:[^()]|\([^()]*\))*\)", path.read_text()):
            assert ".venv/bin/" not in call or "runnable(" in call, f"{path}: {call}"


def test_a_long_piece_of_advice_has_a_line_for_each_sentence() -> None:
    first = f"`{FOLDER}pipeline build` judges again, for up to {'9' * 80} s."
    assert what_to_do(f"{first} Other stages are kept") == (
        f"  what to do: {runnable(first)}\n              Other stages are kept"
    )
    assert what_to_do("name a file. Or none") == "  what to do: name a file. Or none"
