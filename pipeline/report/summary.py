"""The short table: four quantities, baseline against tuned, each over all workloads."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Sequence

from pipeline.judge.counts import LibraryCounts, Measured, RealProgram, WorkloadCounts
from pipeline.judge.means import geometric_mean, weighted_mean
from pipeline.judge.model import VerifyResult
from pipeline.judge.request import Kind, Side
from pipeline.judge.samples import SIDES, Throughput
from pipeline.report.model import SummaryRow

Pick = Callable[[LibraryCounts], Measured | None]


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
    """Return how many runs of a real program fit into a second: like its ratio, more is better."""
    ratio, wall = result.throughput.programs, result.throughput.programs_wall
    if ratio is None:
        return ()
    clocks = {one.clock for one in result.throughput.workloads if one.kind == "program"}
    unit = "runs per CPU s" if clocks == {"cpu"} else "runs per s"
    row = _speed(result, "program", "speed of real programs", unit, per=1)
    rows = (row.model_copy(update={"ratio": ratio.value}),)
    return rows if wall is None else (*rows, _by_wall(result, wall.value))


def _by_wall(result: VerifyResult, ratio: float) -> SummaryRow:
    """Return the same by wall time, which is what a user waits."""
    ones = [one for one in result.throughput.workloads if one.kind == "program"]

    def mean(side: Side) -> float:
        runs = [(one.weight, [getattr(pair, side) for pair in one.samples]) for one in ones]
        return geometric_mean(
            (weight, statistics.median(run.wall_ops_per_sec for run in side_runs))
            for weight, side_runs in runs
        )

    return SummaryRow(
        name="the same by wall time",
        unit="runs per s",
        baseline=mean("baseline"),
        tuned=mean("tuned"),
        ratio=ratio,
        verdict=None,
    )


def _throughput(result: VerifyResult) -> tuple[SummaryRow, ...]:
    """Return the speed of our loops, and, where there are programs too, that of all together."""
    overall, verdict = result.throughput.overall, result.keys.throughput.verdict
    loops, name = result.throughput.loops, "throughput"
    if result.throughput.programs is None:
        row = _speed(result, "loop", name, "M ops/s", per=1e6)
        return (row.model_copy(update={"ratio": overall.value, "verdict": verdict}),)
    whole = SummaryRow(
        name="speed of all (baseline: 1)",
        unit="",
        baseline=1.0,
        tuned=overall.value,
        ratio=overall.value,
        verdict=verdict,
    )
    if loops is None:
        return (whole,)
    row = _speed(result, "loop", "speed of loops and replays", "M ops/s", per=1e6)
    return (row.model_copy(update={"ratio": loops.value}), whole)


def _speed(result: VerifyResult, kind: Kind, name: str, unit: str, *, per: float) -> SummaryRow:
    """Return a row of the mean rate of both sides, over the workloads of one kind."""
    ones = [one for one in result.throughput.workloads if one.kind == kind]
    baseline = geometric_mean([(one.weight, one.baseline_ops_per_sec) for one in ones])
    tuned = geometric_mean([(one.weight, one.tuned_ops_per_sec) for one in ones])
    return SummaryRow(
        name=name, unit=unit, baseline=baseline / per, tuned=tuned / per, ratio=None, verdict=None
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
    counted = sum(one.status == "counted" for one in result.programs)
    return SummaryRow(
        name="I-cache misses in a real program",
        unit=f"mean of {counted}" if counted > 1 else "",
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
