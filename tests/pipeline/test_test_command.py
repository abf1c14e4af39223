"""``pipeline test`` itself: its exit code, its summary, and that it leaves nothing out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pipeline.commands.test import SUITES, Outcome, Step, c_sources, run_suite, steps, summarise
from pipeline.core.paths import Tree

ROOT = Path(__file__).resolve().parents[2]
GOOD, BAD = (sys.executable, "-c", "print('fine')"), (sys.executable, "-c", "print('oh'); exit(3)")


@pytest.mark.parametrize("suite", SUITES)
def test_each_suite_has_commands(suite: str) -> None:
    assert steps(suite, ROOT)


@pytest.mark.parametrize("suite", ["clang", "gcc", "guard", "research", "pytest"])
def test_test_runners_show_what_they_do(suite: str) -> None:
    assert steps(suite, ROOT)[-1].shown


def test_warnings_are_errors_in_both_compilers() -> None:
    assert '"HAKMEM_WERROR": "ON"' in (ROOT / "CMakePresets.json").read_text(encoding="utf-8")


def test_all_c_folders_are_looked_at() -> None:
    tops = {path.relative_to(ROOT).parts[0] for path in c_sources(ROOT)}
    assert tops == {"allocator", "bench", "training", "tests"}


def test_failure_stops_the_suite_and_shows_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    todo = [Step(GOOD), Step(BAD), Step(("touch", tmp_path / "never"))]
    outcome = run_suite("x", todo, Tree(tmp_path))
    assert "exit code 3" in outcome.failed
    assert not (tmp_path / "never").exists()
    assert capsys.readouterr().out == "oh\n\n"


def test_success_is_quiet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_suite("x", [Step(GOOD)], Tree(tmp_path)).failed == ""
    assert capsys.readouterr().out == ""


def test_summary_has_a_line_per_suite(capsys: pytest.CaptureFixture[str]) -> None:
    summarise([Outcome("ruff", 1.0), Outcome("gcc", 2.0, "exit code 8: ctest")])
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2].split() == ["ruff", "1.0", "s", "passed"]
    assert "FAILED  exit code 8: ctest" in lines[-1]
