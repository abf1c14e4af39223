"""The catalogue of messages: it is what the sources say, and no error leaves people alone."""

from __future__ import annotations

import errno
import re
import tempfile
from pathlib import Path

import pytest

from pipeline.cli import cli
from pipeline.core.errors import ArtifactError, GateError, ToolError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.home import MARKS
from pipeline.core.messages import messages, of_command, page
from pipeline.core.report_error import report_error

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_made_from_the_sources() -> None:
    text = (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
    assert text == page(ROOT), ".venv/bin/python -m pipeline.core.messages > docs/messages.md"


def test_a_command_has_what_it_shares_with_others_too() -> None:
    said = of_command(ROOT, "tune")
    assert "this folder is not in a tree of hakmem" in said
    assert "--scheduler needs the package distributed" in said


def test_headings_are_commands_as_people_type_them() -> None:
    text = (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
    titles = [line for line in text.splitlines() if line.startswith("## ")]
    named = {name for title in titles for name in re.findall("`pipeline ([a-z-]+)`", title)}
    assert named <= cli.commands.keys()
    assert {"rollback", "reject", "import", "sample", "init", "list", "diff"} <= named
    assert "no older version to go back to" in of_command(ROOT, "rollback")
    assert "``" not in text


OF_A_PROFILE = "build|tune|install|package|layout [a-z]+|report|diff|list|rollback|unpin|reject"


def test_a_command_for_a_profile_names_it() -> None:
    text = (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
    found = re.findall(rf"`\.venv/bin/pipeline (?:{OF_A_PROFILE})\b[^`]*`(?! builds `mixed`)", text)
    assert found
    assert not [one for one in found if " --profile " not in one and " -p " not in one]


SOURCE = """
def f(console, path, count, names, state):
    console.notice(f"corrupt: {path.name}")
    raise DataError(
        f"{path}: no line {len(count)} in " + ", ".join(names),
        hint=did_you_mean(path, names),
    )
    raise ToolError("one" if state else "two", hint=f"`mv {path} {path}.old`")
    raise ValueError("for the caller")
    raise BuildError(error.message)
"""


def test_what_is_filled_in_is_told_from_what_is_said(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(SOURCE, encoding="utf-8")
    assert [one.item.replace("\n", "|") for one in messages(file)] == [
        "- note: corrupt: `path name`",
        "- `path`: no line `count` in `names`|  - did you mean `name`?",
        "- one / two|  - `mv path path.old`",
    ]


@pytest.mark.parametrize(("hint", "shown"), [("look twice", "look twice"), ("", "")])
def test_an_error_always_says_what_to_do(
    hint: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for error in (ToolError("no ninja", hint=hint), ArtifactError("it is empty", hint=hint)):
        assert report_error(error) == error.exit_code
        told = shown or error.exit_code.cure
        assert f"  what to do: {told}\n" in capsys.readouterr().err


def test_a_build_that_is_not_published_is_a_result_with_a_report(
    capsys: pytest.CaptureFixture[str],
) -> None:
    error = GateError("not published", hint="judge longer", log=Path("report.html"))
    assert report_error(error) == ExitCode.GATE
    said = capsys.readouterr().err
    assert said == "result: not published\n  what to do: judge longer\n  report: report.html\n"


@pytest.mark.parametrize("code", list(ExitCode), ids=lambda code: code.name)
def test_each_exit_code_has_a_meaning_and_a_cure(code: ExitCode) -> None:
    assert len(code.meaning) > 5
    assert len(code.cure) > 5


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (RuntimeError("odd"), ExitCode.INTERNAL, "report it with this message"),
        (OSError(errno.ENOSPC, "No space left on device"), ExitCode.SPACE, "free some space"),
    ],
)
def test_an_error_outside_of_a_tree_is_told_and_nothing_is_kept(
    error: Exception,
    code: ExitCode,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The search for a folder for its log ended in an error of its own, and a traceback."""
    for module in ("paths", "report_error"):
        monkeypatch.setattr(f"pipeline.core.{module}.own_root", lambda: tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert report_error(error) == code
    said = capsys.readouterr().err
    assert str(error) in said and words in said and "log" not in said
    assert not list(tmp_path.iterdir())


def test_an_unexpected_error_in_a_tree_keeps_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in MARKS:
        (tmp_path / name).mkdir()
    for module in ("paths", "report_error"):
        monkeypatch.setattr(f"pipeline.core.{module}.own_root", lambda: tmp_path)
    assert report_error(RuntimeError("odd")) == ExitCode.INTERNAL
    (log,) = tmp_path.rglob("crash-*.log")
    assert "RuntimeError: odd" in log.read_text("utf-8")
    assert "report it with the log" in capsys.readouterr().err


def test_each_command_that_the_page_names_is_one() -> None:
    """What is filled in may be the whole command, and the page would name one that is not there."""
    page_ = (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`\.venv/bin/([^\s`]+)", page_))
    assert named <= {"pipeline", "python", "dask"}, named
