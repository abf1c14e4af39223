"""Reports against golden files, and against the ways in which a report could mislead.

After a wanted change of wording: UPDATE_GOLDEN=1 pytest tests/pipeline/report, then read the diff.
"""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pipeline.report import text as wording
from pipeline.report.build import Inputs, report_model
from pipeline.report.markdown import render_markdown
from pipeline.report.model import ReportModel
from pipeline.report.summary import summary_rows
from pipeline.report.terminal import render_terminal

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "judge"))
from judge_support import program_of, result_of
from report_support import FakeReceipt, bad, good, mixed, mixed_counts

GOLDEN = Path(__file__).parent / "golden"


def terminal(model: ReportModel, width: int = 100) -> str:
    stream = io.StringIO()
    render_terminal(model, Console(file=stream, width=width, force_terminal=False))
    return stream.getvalue()


def check_golden(name: str, found: str) -> None:
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "make"), [("good", good), ("bad", bad)])
def test_golden(name: str, make: Any) -> None:
    check_golden(f"{name}.md", render_markdown(make()))
    check_golden(f"{name}.txt", terminal(make()))


def test_the_model_survives_json() -> None:
    for model in (good(), bad()):
        assert ReportModel.model_validate_json(model.model_dump_json()) == model


def test_the_first_sentence_is_the_verdict_and_why() -> None:
    first = render_markdown(good()).split("\n\n")[1]
    assert first.startswith("**Published:** throughput is GO: +")
    first = render_markdown(bad()).split("\n\n")[1]
    assert first.startswith("**Not published:** python failed; throughput is NO-GO: -3")


def test_regressions_come_first() -> None:
    lines = render_markdown(good()).splitlines()
    start = lines.index("## Workloads, the slowest first")
    names = [line.split("|")[1].strip() for line in lines[start:] if line.startswith("| ")][1:4]
    assert names == ["larson", "mixed", "tiny"]
    assert any("larson" in line and "**slower**" in line for line in lines)


def test_unknown_is_a_word_and_never_a_zero() -> None:
    rows = {row.name: row for row in bad().summary}
    assert rows["instructions per op"].baseline is None
    assert rows["I-cache misses in a real program"].ratio is None
    table = terminal(bad())
    assert "unknown" in table
    assert not re.search(r"(?<!\d)0\.00", table)


def test_a_report_without_receipts_leaves_their_sections_out() -> None:
    report = render_markdown(bad())
    assert "## Training" not in report
    assert "## Layout" not in report
    assert "## Environment" in report


def test_holes_in_the_notes_are_shown_as_unknown() -> None:
    receipts = {"train": FakeReceipt("k", 1.0), "bolt": FakeReceipt("k", 1.0)}
    report = render_markdown(
        report_model(
            profile="mixed",
            version="1",
            result=result_of(mixed(), mixed_counts()),
            allow_neutral=False,
            inputs=Inputs(receipts=receipts),
        )
    )
    assert "unknown of unknown functions ran" in report
    assert "unknown listed functions lie where the lists say" in report


def test_every_table_row_has_as_many_cells_as_its_heading() -> None:
    for model in (good(), bad()):
        width = 0
        for line in render_markdown(model).splitlines():
            if not line.startswith("|"):
                width = 0
                continue
            cells = line.replace("\\|", "").count("|")
            width = width or cells
            assert cells == width, line


def test_the_icache_row_shows_what_the_key_was_judged_by() -> None:
    judged = result_of(mixed(), programs=[program_of("a", 4.0, 2.0), program_of("b", 9.0, 9.0)])
    row = {row.name: row for row in summary_rows(judged)}["I-cache misses in a real program"]
    assert row.baseline == pytest.approx(6000)
    assert row.ratio == pytest.approx(0.5**0.5)
    assert row.verdict is judged.keys.icache.verdict


def test_a_pipe_in_a_name_does_not_break_a_table() -> None:
    assert wording.cell("a|b\nc") == "a\\|b c"


def test_numbers() -> None:
    assert wording.number(None) == wording.ratio(None) == wording.change(None) == "unknown"
    assert wording.number(1234.5) == "1,234.50"
    assert wording.change(0.97) == "-3.00 %"
    assert wording.measured(None) == "unknown"
