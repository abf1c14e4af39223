"""What a report says where a build was judged directly against the version that was current."""

from __future__ import annotations

import pytest
from report_support import good, older

from pipeline.judge.direct_speed import DirectSpeed
from pipeline.judge.model import Key
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict
from pipeline.report.build import against
from pipeline.report.compare import compare_versions
from pipeline.report.compared_model import INSTRUCTIONS
from pipeline.report.diff import render_diff
from pipeline.report.html import render_html
from pipeline.report.markdown import render_markdown
from pipeline.report.model import ReportModel
from pipeline.report.terminal import as_text
from pipeline.report.what_next import next_command


def other_baseline() -> ReportModel:
    """Return the version before, built of other sources: its baseline is another library."""
    verify = older().verify
    baseline = verify.baseline.model_copy(update={"sha256": "0" * 64})
    return older().model_copy(update={"verify": verify.model_copy(update={"baseline": baseline})})


def other_workload() -> ReportModel:
    """Return the version before, over the same baseline, judged by one workload of another name."""
    verify = older().verify
    first, *others = verify.throughput.workloads
    workloads = (first.model_copy(update={"name": "gone"}), *others)
    timed = verify.throughput.model_copy(update={"workloads": workloads})
    return older().model_copy(update={"verify": verify.model_copy(update={"throughput": timed})})


def judged(
    value: float,
    verdict: Verdict,
    library: str = "f" * 64,
    before: ReportModel | None = None,
    gain: float | None = None,
) -> ReportModel:
    """Return a report of a build that was judged against ``before``, with this gain of its own."""
    ratio = Interval(value=value, low=value - 0.01, high=value + 0.01, confidence=0.95)
    key = Key(
        verdict=verdict, margin=0.01, measure="x", reason="REASON", ratio=ratio, not_worse=False
    )
    found = DirectSpeed(version="0.1.0-old", library=library, key=key, pairs=40, seconds=21.4)
    newer = good().model_copy(update={"direct": found})
    if gain is not None:
        newer = gaining(newer, gain)
    return against(newer, before or other_baseline())


def gaining(model: ReportModel, times: float) -> ReportModel:
    """Return a report whose library is so many times as fast as its baseline."""
    overall = Interval(value=times, low=times, high=times, confidence=0.95)
    timed = model.verify.throughput.model_copy(update={"overall": overall})
    verify = model.verify.model_copy(update={"throughput": timed})
    return model.model_copy(update={"verify": verify})


@pytest.mark.parametrize(
    ("verdict", "judgement"),
    [
        (Verdict.NO_GO, "worse"),
        (Verdict.INCONCLUSIVE, "unclear"),
        (Verdict.NEUTRAL, "same"),
        (Verdict.GO, "better"),
    ],
)
def test_speed_is_what_was_judged_directly(verdict: Verdict, judgement: str) -> None:
    """It was unknown wherever the baselines differed."""
    model = judged(0.95, verdict)
    assert model.previous is not None
    row = model.previous.rows[0]
    assert (row.name, row.judgement, row.ratio) == ("throughput", judgement, 0.95)
    assert (row.low, row.high) == pytest.approx((0.94, 0.96))
    assert row.why == "judged directly, in 21 s: REASON"
    assert (row in model.previous.worse_overall) is (verdict is Verdict.NO_GO)
    assert compare_versions(other_baseline(), model).rows[0] == row


@pytest.mark.parametrize("verdict", [Verdict.NEUTRAL, Verdict.GO, Verdict.INCONCLUSIVE])
def test_more_instructions_hold_nothing_back_where_no_time_is_lost(verdict: Verdict) -> None:
    """A version that was 28 % faster stayed beside the current one, for 2.9 % more instructions."""
    previous = judged(1.28, verdict).previous
    assert previous is not None
    rows = tuple(
        row.model_copy(update={"judgement": "worse"}) if row.name == INSTRUCTIONS else row
        for row in previous.rows
    )
    held = previous.model_copy(update={"rows": rows}).worse_overall
    assert [row.name for row in held] == [INSTRUCTIONS] * (verdict is Verdict.INCONCLUSIVE)


def test_a_judgement_of_another_library_says_nothing() -> None:
    model = judged(0.95, Verdict.NO_GO, library="e" * 64)
    assert model.previous is not None
    assert model.previous.rows[0].judgement == "unknown"


def test_every_form_says_how_it_was_judged() -> None:
    model = judged(0.95, Verdict.NO_GO)
    assert model.previous is not None
    for text in (
        render_html(model),
        render_markdown(model),
        render_diff(model.previous, model.version, "term"),
    ):
        assert "judged directly, in 21 s: REASON" in " ".join(text.split())
    assert "throughput worse" in " ".join(as_text(model).split())
    assert ReportModel.model_validate_json(model.model_dump_json()).direct == model.direct


def test_what_was_left_open_names_the_command_that_takes_longer() -> None:
    line = "`.venv/bin/pipeline diff -p mixed 0.1.0-old 0.1.0-abc --measure`"
    said = f"{line} tells whether it is slower than 0.1.0-old"
    assert said in next_command(judged(0.995, Verdict.INCONCLUSIVE))
    assert said not in next_command(judged(1.0, Verdict.NEUTRAL))
    assert said not in next_command(good())


def test_by_other_workloads_speed_is_what_was_judged_directly_and_no_doubt_is_left() -> None:
    model = judged(0.95, Verdict.NO_GO, before=other_workload())
    assert model.previous is not None and model.previous.apart
    assert model.previous.rows[0].judgement == "worse"
    assert not [one for one in model.findings if "gains by other workloads" in one.detail]
    unknown = judged(0.95, Verdict.NO_GO, "e" * 64, other_workload())
    assert [one for one in unknown.findings if "gains by other workloads" in one.detail]


@pytest.mark.parametrize(
    ("verdict", "name"),
    [(Verdict.INCONCLUSIVE, "gain over the baseline"), (Verdict.NEUTRAL, "throughput")],
)
def test_what_was_left_open_does_not_hide_gains_that_are_worse(verdict: Verdict, name: str) -> None:
    previous = judged(0.995, verdict, before=other_workload(), gain=0.5).previous
    assert previous is not None
    assert previous.rows[0].name == name
    assert (previous.rows[0].judgement == "worse") is (verdict is Verdict.INCONCLUSIVE)
