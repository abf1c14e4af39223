"""The short table: four quantities, baseline against tuned, each over all workloads."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence

from pipeline.judge.icache import under_pressure, weighted_lines
from pipeline.judge.model import LibraryCounts, Measured, Throughput, VerifyResult, WorkloadCounts
from pipeline.report.model import SummaryRow

Weighted = Sequence[tuple[float, float]]
Pick = Callable[[LibraryCounts], Measured | None]


def summary_rows(result: VerifyResult) -> tuple[SummaryRow, ...]:
    """Return throughput, instructions, I-cache and RSS; unknown values are None."""
    return (
        _throughput(result),
        _instructions(result),
        _icache(result),
        _rss(result),
    )


def geometric_mean(values: Weighted) -> float:
    """Return the weighted geometric mean of (weight, value) with values above zero."""
    total = sum(weight for weight, _ in values)
    return math.exp(sum(weight / total * math.log(value) for weight, value in values))


def peak_mib(throughput: Throughput, names: Collection[str]) -> float | None:
    """Return the tuned library's peak memory in MiB over the workloads of these names."""
    return _rss_mean(throughput, "tuned_rss_kib", names) if names else None


def _throughput(result: VerifyResult) -> SummaryRow:
    workloads = result.throughput.workloads
    return SummaryRow(
        name="throughput",
        unit="M ops/s",
        baseline=geometric_mean([(w.weight, w.baseline_ops_per_sec) for w in workloads]) / 1e6,
        tuned=geometric_mean([(w.weight, w.tuned_ops_per_sec) for w in workloads]) / 1e6,
        ratio=result.throughput.overall.value,
        verdict=result.keys.throughput.verdict,
    )


def _instructions(result: VerifyResult) -> SummaryRow:
    baseline, tuned = _means(result.counting.workloads, lambda counts: counts.instructions)
    return SummaryRow(
        name="instructions per op",
        unit="",
        baseline=baseline,
        tuned=tuned,
        ratio=_divide(tuned, baseline),
        verdict=None,
    )


def _icache(result: VerifyResult) -> SummaryRow:
    """Return what the key was judged by: misses under pressure, or else hot lines."""
    pressed, lines = under_pressure(result.counting), weighted_lines(result.counting)
    by_lines = not pressed and lines is not None and bool(result.counting.workloads)
    means = _means(pressed, lambda counts: counts.i1_misses)
    baseline, tuned = lines if by_lines and lines is not None else means
    return SummaryRow(
        name="I-cache lines that are hot" if by_lines else "I-cache misses per op",
        unit="",
        baseline=baseline,
        tuned=tuned,
        ratio=_divide(tuned, baseline),
        verdict=result.keys.icache.verdict,
    )


def _rss(result: VerifyResult) -> SummaryRow:
    return SummaryRow(
        name="peak RSS",
        unit="MiB",
        baseline=_rss_mean(result.throughput, "baseline_rss_kib"),
        tuned=_rss_mean(result.throughput, "tuned_rss_kib"),
        ratio=result.rss.ratio,
        verdict="holds" if result.rss.holds else "broken",
    )


def _rss_mean(throughput: Throughput, field: str, names: Collection[str] = ()) -> float:
    """Return the mean over the workloads called ``names``; over all if there are none."""
    chosen = [one for one in throughput.workloads if not names or one.name in names]
    return geometric_mean([(one.weight, getattr(one, field)) for one in chosen]) / 1024


def _means(
    workloads: Sequence[WorkloadCounts], pick: Pick
) -> tuple[float, float] | tuple[None, None]:
    """Return the weighted means of both sides, or twice None when any count is unknown."""
    total = sum(one.weight for one in workloads)
    baseline = tuned = 0.0
    for one in workloads:
        left, right = pick(one.baseline), pick(one.tuned)
        if left is None or right is None:
            return None, None
        baseline += one.weight / total * left.value
        tuned += one.weight / total * right.value
    return (baseline, tuned) if workloads else (None, None)


def _divide(tuned: float | None, baseline: float | None) -> float | None:
    return tuned / baseline if tuned is not None and baseline else None
