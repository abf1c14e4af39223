"""Reports against golden files, and against the ways in which a report could mislead.

After a wanted change of wording: UPDATE_GOLDEN=1 pytest tests/pipeline/report, then read the diff.
"""

from __future__ import annotations

import io
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pipeline.judge.model import Counting, Throughput
from pipeline.report import ReportModel, render_markdown, render_terminal, report_model
from pipeline.report import text as wording
from pipeline.report.summary import summary_rows

sys.path.insert(0, str(Path(__file__).parent.parent / "judge"))
from judge_support import (
    counting_of,
    counts,
    health_of,
    pairs,
    result_of,
    throughput_of,
    workload_counts,
)

GOLDEN = Path(__file__).parent / "golden"


@dataclass(frozen=True)
class FakeReceipt:
    key: str
    seconds: float
    notes: dict[str, Any] = field(default_factory=dict)


RECEIPTS = {
    "train": FakeReceipt(
        "aaaaaaaaaaaaaaaa",
        12.25,
        {
            "workloads": {
                "server": {"weight": 2.0, "seconds": 1.5, "processes": 3},
                "git": {"weight": 1.0, "seconds": 0.5, "processes": 12},
            },
            "skipped": ["perl"],
        },
    ),
    "merge": FakeReceipt("bbbb", 0.5, {"functions": 120, "ran": 80, "corrupt": ["x.profraw"]}),
    "bolt-train": FakeReceipt(
        "cccc",
        9.0,
        {
            "workloads": {"server": {"processes": 3, "lost": 1, "corrupt": 0}},
            "branches": 1234,
        },
    ),
    "bolt": FakeReceipt(
        "dddd",
        2.0,
        {
            "order": {"placed": 40, "vanished_hot": ["pop"], "vanished_cold": []},
            "quality": "function CFG discontinuity 0.00%",
            "dyno_stats": {"taken branches": [1000, 600]},
            "bytes": 65536,
        },
    ),
}


def mixed() -> Throughput:
    return throughput_of(tiny=pairs(1.08), mixed=pairs(1.03), larson=pairs(0.985))


def mixed_counts() -> Counting:
    return counting_of(
        workload_counts("tiny", counts(0.001), counts(0.0005)),
        workload_counts("mixed", counts(4.0), counts(3.0)),
    )


def good() -> ReportModel:
    return report_model(
        profile="mixed",
        version="0.1.0-abc",
        result=result_of(mixed(), mixed_counts()),
        receipts=RECEIPTS,
        allow_neutral=False,
    )


def bad() -> ReportModel:
    """Slower, uncounted, unhealthy, and with no receipts: everything unknown is said."""
    result = result_of(
        throughput_of(mixed=pairs(0.97, rss=(40_000, 60_000))),
        Counting(source="static", why="valgrind is not installed", scope="sizes only"),
        health_of("failed"),
    )
    return report_model(
        profile="mixed", version="0.1.0-bad", result=result, receipts={}, allow_neutral=True
    )


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
    assert rows["I-cache misses per op"].ratio is None
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
            receipts=receipts,
            allow_neutral=False,
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
    pressed = {row.name: row for row in summary_rows(result_of(mixed(), mixed_counts()))}
    row = pressed["I-cache misses per op"]
    assert (row.baseline, row.tuned, row.ratio) == pytest.approx((4.0, 3.0, 0.75))
    calm = counting_of(workload_counts("tiny", counts(0.0, 20), counts(0.0, 15)))
    row = {row.name: row for row in summary_rows(result_of(mixed(), calm))}[
        "I-cache lines that are hot"
    ]
    assert (row.baseline, row.tuned, row.ratio) == pytest.approx((20, 15, 0.75))


def test_a_pipe_in_a_name_does_not_break_a_table() -> None:
    assert wording.cell("a|b\nc") == "a\\|b c"


def test_numbers() -> None:
    assert wording.number(None) == wording.ratio(None) == wording.change(None) == "unknown"
    assert wording.number(1234.5) == "1,234.50"
    assert wording.change(0.97) == "-3.00 %"
    assert wording.measured(None) == "unknown"
