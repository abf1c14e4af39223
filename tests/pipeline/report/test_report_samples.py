"""Imported samples in a report: which they were, their part, and what they were worth."""

from __future__ import annotations

from typing import Any

import pytest
from report_support import RECEIPTS, evidence, facts, good, judged, receipt

from pipeline.report.build import Inputs, report_model
from pipeline.report.html import render_html
from pipeline.report.markdown import render_markdown
from pipeline.report.model import ReportModel

ROW = {
    "file": "web.data",
    "sha256": "0" * 64,
    "build_id": "ab",
    "event": "cpu-clock:u",
    "samples": 2069,
    "weight": 3.0,
    "share": 0.375,
    "by": "functions",
    "unknown": 0.01,
}
MERGED = {"functions": 120, "ran": 80, "corrupt": [], "made_hot": ["hak_memalign"]}


def sampled(chosen: str | None) -> ReportModel:
    """A build with samples; ``chosen`` is the step that the chain took, None for no chain."""
    receipts: dict[str, Any] = {
        **RECEIPTS,
        "merge": receipt("bbbb", 0.5, MERGED),
        "bolt-samples": receipt("eeee", 1.0, {"sources": [ROW], "branches": 5}),
        "samples": receipt("ffff", 1.0, {"order": {"placed": 41}, "dyno_stats": {}}),
    }
    found = evidence()
    assert found.ablation is not None
    steps = tuple(
        step.model_copy(update={"name": name})
        for step, name in zip(found.ablation.steps[-2:], ("bolt", "samples"), strict=True)
    )
    chain = found.ablation.model_copy(update={"steps": steps, "chosen": chosen})
    return report_model(
        profile="mixed",
        version="0.1.0-abc",
        result=judged(),
        allow_neutral=False,
        allow_regression=("larson",),
        inputs=Inputs(
            receipts=receipts,
            evidence=found.model_copy(update={"ablation": chain if chosen else None}),
            facts=facts(),
        ),
    )


@pytest.mark.parametrize("render", [render_markdown, render_html])
def test_file_event_number_weight_and_part_are_named(render: Any) -> None:
    text = render(sampled("samples"))
    for said in ("web.data", "cpu-clock:u", "2,069", "37.5", "functions", "hak_memalign"):
        assert said in text, said
    assert "web.data" not in render(good())


def test_what_they_were_worth_is_told_by_the_chain_or_not_at_all() -> None:
    assert "the steps `samples` and `bolt`" in render_markdown(sampled("samples"))
    left_out = render_markdown(sampled("bolt"))
    assert "what is judged was laid out without them" in left_out
    assert "was not measured" in render_markdown(sampled(None))


@pytest.mark.parametrize(("chosen", "placed"), [("samples", 41), ("bolt", 40), (None, 41)])
def test_the_layout_is_that_of_the_step_that_is_judged(chosen: str | None, placed: int) -> None:
    layout = sampled(chosen).layout
    assert layout is not None
    assert layout.placed == placed
