"""The short table: four quantities, baseline against tuned, each over all workloads."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from pipeline.judge.counts import RealProgram
from pipeline.judge.icache import misses_ratio
from pipeline.judge.means import geometric_mean, mean_count
from pipeline.judge.model import VerifyResult
from pipeline.judge.request import Side
from pipeline.judge.samples import SIDES, Throughput
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict
from pipeline.report.compared_model import INSTRUCTIONS, SPEED
from pipeline.report.model import SummaryRow


def summary_rows(result: VerifyResult) -> tuple[SummaryRow, ...]:
    """Return speed, instructions, I-cache and RSS; unknown values are None.

    Real programs stand first; the verdict on speed is that of all workloads together.
    """
    return (
        *_programs(result),
        *_throughput(result),
        _instructions(result),
        _icache(result),
        _rss(result),
    )


def peak_mib(throughput: Throughput, names: Collection[str]) -> float | None:
    """Return the tuned library's peak memory in MiB over the workloads of these names."""
    return _rss_mean(throughput, "tuned_rss_kib", names) if names else None


def _programs(result: VerifyResult) -> tuple[SummaryRow, ...]:
    """Return the speed of real programs by the clock that judges, and by wall time."""
    ratio, wall = result.throughput.programs, result.throughput.programs_wall
    if ratio is None:
        return ()
    row = _speed("speed of real programs", ratio)
    return (row,) if wall is None else (row, _speed("the same by wall time", wall))


def _throughput(result: VerifyResult) -> tuple[SummaryRow, ...]:
    """Return the speed of our loops, and, where there are programs too, that of all together."""
    overall, verdict = result.throughput.overall, result.keys.throughput.verdict
    loops = result.throughput.loops
    whole = _speed(SPEED, overall, verdict)
    if result.throughput.programs is None or loops is None:
        return (whole,)
    return (_speed("speed of loops and replays", loops), whole)


def _speed(name: str, ratio: Interval, verdict: Verdict | None = None) -> SummaryRow:
    """Return a row with the baseline as 1.

    The medians of both sides stand with the workloads: their quotient is not the median of the
    pairs, so side by side here they would contradict the ratio.
    """
    return SummaryRow(
        name=name,
        unit="",
        baseline=1.0,
        tuned=ratio.value,
        ratio=ratio.value,
        interval=ratio,
        verdict=verdict,
    )


def _instructions(result: VerifyResult) -> SummaryRow:
    """Return the means of both sides, unknown where any count is."""
    counted = result.counting.workloads
    baseline = mean_count((one.weight, one.baseline.instructions) for one in counted)
    tuned = mean_count((one.weight, one.tuned.instructions) for one in counted)
    if baseline is None or tuned is None:
        baseline = tuned = None
    return SummaryRow(
        name=INSTRUCTIONS,
        unit="",
        baseline=baseline,
        tuned=tuned,
        ratio=_divide(tuned, baseline),
        verdict=None,
    )


def _icache(result: VerifyResult) -> SummaryRow:
    """Return what the key was judged by: the library's misses in a run of a real program."""
    baseline, tuned = (_misses(result.programs, side) for side in SIDES)
    key = result.keys.icache
    counted = sum(misses_ratio(one) is not None for one in result.programs)
    return SummaryRow(
        name="I-cache misses in a real program",
        unit=f"mean of {counted}" if counted > 1 else "",
        baseline=baseline,
        tuned=tuned,
        ratio=key.ratio.value if key.ratio else None,
        verdict=key.verdict,
    )


def _misses(programs: Sequence[RealProgram], side: Side) -> float | None:
    """Return the mean of a side; the quotient of both sides is the key's ratio."""
    counted = [one for one in programs if misses_ratio(one) is not None]
    found = [(one.weight, max(1, getattr(one, side).i1_misses)) for one in counted]
    return geometric_mean(found) if found else None


def _rss(result: VerifyResult) -> SummaryRow:
    """Return peak memory with the verdict of its key; a broken limit goes before that."""
    key = result.keys.memory
    judged: Verdict | Literal["holds"] = key.verdict if key is not None else "holds"
    return SummaryRow(
        name="peak memory",
        unit="MiB",
        baseline=_rss_mean(result.throughput, "baseline_rss_kib"),
        tuned=_rss_mean(result.throughput, "tuned_rss_kib"),
        ratio=result.rss.ratio,
        interval=key.ratio if key is not None else None,
        verdict=judged if result.rss.holds else "broken",
    )


def _rss_mean(throughput: Throughput, field: str, names: Collection[str] = ()) -> float:
    """Return the mean over the workloads called ``names``; over all if there are none."""
    chosen = [one for one in throughput.workloads if not names or one.name in names]
    return geometric_mean([(one.weight, getattr(one, field)) for one in chosen]) / 1024


def _divide(tuned: float | None, baseline: float | None) -> float | None:
    return tuned / baseline if tuned is not None and baseline else None
