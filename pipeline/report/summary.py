"""The short table: four quantities, baseline against tuned, each over all workloads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from pipeline.judge.means import geometric_mean, weighted_mean
from pipeline.judge.model import (
    SIDES,
    LibraryCounts,
    Measured,
    RealProgram,
    Throughput,
    VerifyResult,
    WorkloadCounts,
)
from pipeline.judge.request import Side
from pipeline.report.model import SummaryRow

Pick = Callable[[LibraryCounts], Measured | None]


def summary_rows(result: VerifyResult) -> tuple[SummaryRow, ...]:
    """Return throughput, instructions, I-cache and RSS; unknown values are None."""
    return (
        _throughput(result),
        _instructions(result),
        _icache(result),
        _rss(result),
    )


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
    """Return what the key was judged by: the library's misses in a run of a real program."""
    baseline, tuned = (_misses(result.programs, side) for side in SIDES)
    key = result.keys.icache
    return SummaryRow(
        name="I-cache misses in a real program",
        unit="",
        baseline=baseline,
        tuned=tuned,
        ratio=key.ratio.value if key.ratio else None,
        verdict=key.verdict,
    )


def _misses(programs: Sequence[RealProgram], side: Side) -> float | None:
    found = [counts.i1_misses for one in programs if (counts := getattr(one, side))]
    return geometric_mean((1.0, max(1, misses)) for misses in found) if found else None


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

    def mean(side: Side) -> float | None:
        counted = ((one.weight, pick(getattr(one, side))) for one in workloads)
        return weighted_mean((weight, found.value if found else None) for weight, found in counted)

    baseline, tuned = mean("baseline"), mean("tuned")
    return (None, None) if baseline is None or tuned is None else (baseline, tuned)


def _divide(tuned: float | None, baseline: float | None) -> float | None:
    return tuned / baseline if tuned is not None and baseline else None
