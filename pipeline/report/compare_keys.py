"""Speed and memory of two versions: by two judgements made apart, or by one of both."""

from __future__ import annotations

from pipeline.judge.direct_speed import DirectSpeed
from pipeline.judge.keys import compare as judge_interval
from pipeline.judge.keys import share
from pipeline.judge.memory_key import LEANER
from pipeline.judge.model import VerifyResult
from pipeline.judge.samples import Throughput
from pipeline.judge.statistics import Interval
from pipeline.report.compare_alike import no_runs, other_workloads, same_runs, timed_names
from pipeline.report.compare_counts import fewer
from pipeline.report.compared_model import OF_VERDICT, SPEED, ComparedRow, Judgement
from pipeline.report.model import ReportModel, SummaryRow
from pipeline.report.summary import peak_mib, summary_rows
from pipeline.report.text import workloads_apart

OF_PAIRS = "both columns are medians of all runs, the change is the median over the pairs"


def speed(older: ReportModel, newer: ReportModel) -> ComparedRow:
    """Return what the build of ``newer`` has judged directly; else the two gains.

    Where that was left open, gains that are shown to be worse still count.
    """
    direct, gains = newer.direct, gain(older.verify, newer.verify)
    if direct is None or direct.library != older.verify.tuned.sha256:
        return gains
    return gains if direct.is_open and gains.judgement == "worse" else _speed_of(direct)


def _speed_of(direct: DirectSpeed) -> ComparedRow:
    found = direct.key.ratio
    row = ComparedRow(
        name=SPEED,
        unit="",
        before=1.0,
        after=None,
        ratio=None,
        judgement=OF_VERDICT[direct.key.verdict],
        why=f"{direct.how}: {direct.key.reason}",
    )
    if found is None:
        return row
    ends = {"low": found.low, "high": found.high}
    return row.model_copy(update={"after": found.value, "ratio": found.value, **ends})


def gain(older: VerifyResult, newer: VerifyResult) -> ComparedRow:
    """Return the two gains over the baseline, where they say anything of each other."""
    before, after = older.throughput.overall, newer.throughput.overall
    ratio = _quotient(before, after)
    margins = older.margins.throughput, newer.margins.throughput
    judgement = OF_VERDICT[judge_interval(ratio, min(margins))]
    doubt = _incomparable(older, newer, judgement)
    row = ComparedRow(
        name="gain over the baseline",
        unit="",
        before=before.value,
        after=after.value,
        ratio=None,
        judgement="unknown",
        why=doubt,
    )
    if doubt:
        return row
    apart = workloads_apart(*other_workloads(older, newer))
    by = f", by other workloads ({apart})" if apart else ""
    why = f"both over the same baseline, in two sessions{_tighter(*margins)}{by}"
    known = {"ratio": ratio.value, "low": ratio.low, "high": ratio.high}
    return row.model_copy(update={**known, "judgement": judgement, "why": why})


def _quotient(before: Interval, after: Interval) -> Interval:
    """Return by how much one gain is larger than another, with all that both leave open."""
    return Interval(
        value=after.value / before.value,
        low=after.low / before.high,
        high=after.high / before.low,
        confidence=min(before.confidence, after.confidence),
    )


def _incomparable(older: VerifyResult, newer: VerifyResult, judgement: Judgement) -> str:
    """Return why two gains say nothing of each other; "" where they do.

    One that is worse counts also by other workloads, so that `current` stays.
    """
    if older.baseline.sha256 != newer.baseline.sha256:
        return "the two baselines are not the same library: only a direct judgement can tell"
    apart = workloads_apart(*other_workloads(older, newer))
    if not apart or judgement == "worse":
        return ""
    return f"judged by other workloads ({apart}): only a direct judgement can tell"


def _tighter(before: float, after: float) -> str:
    """Say which margin holds where the two versions were judged by different ones."""
    if before == after:
        return ""
    return f"; of the margins {share(before)} and {share(after)} the tighter one holds"


def speed_judged(direct: VerifyResult) -> ComparedRow:
    """Return what one judgement says of the speed of both."""
    overall, key = direct.throughput.overall, direct.keys.throughput
    medians = next(row for row in summary_rows(direct) if row.verdict is not None)
    why = f"judged directly: {key.reason}"
    return _direct(medians, overall.value, overall, OF_VERDICT[key.verdict], why)


def memory(before: Throughput, after: Throughput, changed: set[str]) -> ComparedRow:
    """Return the peak over the workloads that both ran, which is another mean than over all.

    Those that run one of the ``changed`` programs or files are not the same in both.
    """
    names = same_runs(before, after, changed)
    peaks = [peak_mib(one, names) for one in (before, after)]
    row = fewer("peak memory", peaks[0], peaks[1], LEANER, no_runs(before, after, changed))
    most = max(len(timed_names(before)), len(timed_names(after)))
    part = f"; over the {len(names)} of {most} workloads that both ran alike"
    why = f"{row.why}{part}" if names and len(names) < most else row.why
    return row.model_copy(update={"unit": "MiB", "why": why})


def memory_judged(direct: VerifyResult) -> ComparedRow:
    """Return what one judgement says of both: the limit of each workload, then the key."""
    memory, key = next(row for row in summary_rows(direct) if row.unit == "MiB"), direct.keys.memory
    judged: Judgement = OF_VERDICT[key.verdict] if key is not None else "unknown"
    why = f"judged directly: {key.reason}" if key is not None else "this judgement has no such key"
    if not direct.rss.holds:
        judged, why = "worse", f"the memory limit is broken: {direct.rss.reason}"
    row = _direct(memory, memory.ratio, key.ratio if key is not None else None, judged, why)
    return row.model_copy(update={"why": f"{why}; {OF_PAIRS}"}) if row.is_of_pairs else row


def _direct(
    row: SummaryRow, ratio: float | None, ends: Interval | None, judgement: Judgement, why: str
) -> ComparedRow:
    """Return a row of one judgement of both: what was baseline there is the older one."""
    return ComparedRow(
        name=row.name,
        unit=row.unit,
        before=row.baseline,
        after=row.tuned,
        ratio=ratio,
        low=ends.low if ends else None,
        high=ends.high if ends else None,
        judgement=judgement,
        why=why,
    )
