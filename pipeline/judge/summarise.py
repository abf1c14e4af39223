"""What pairs of runs say together: each workload, and all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pipeline.judge import statistics
from pipeline.judge.keys import single_confidence
from pipeline.judge.memory_key import memory_logs
from pipeline.judge.request import BenchCommand, JudgeRequest, Kind, Side
from pipeline.judge.samples import Clock, PairSample, Throughput, WorkloadThroughput
from pipeline.judge.schedule import BLOCK
from pipeline.judge.statistics import Interval

Samples = dict[str, list[PairSample]]


def summarise(
    request: JudgeRequest, samples: Samples, share: float, looks: int, seconds: float
) -> Throughput:
    """Return what all pairs so far say together, in intervals that use ``share`` of alpha.

    The intervals of single workloads, by two clocks each, hold for all of them together: with
    many workloads, one of them looks bad by chance.
    """
    single = single_confidence(share, len(request.benches))
    workloads = tuple(
        _one_workload(bench, samples[bench.name], single, request) for bench in request.benches
    )
    overall = mean_ratio(workloads, "ops_per_sec", statistics.confidence(share), request.seed)
    pairs = sum(len(one.samples) for one in workloads)
    factor = statistics.times_as_much(overall, request.margins.throughput)
    return Throughput(
        workloads=workloads,
        overall=overall,
        programs=_part(workloads, "program", overall, request.seed),
        loops=_part(workloads, "loop", overall, request.seed),
        pairs=pairs,
        looks=looks,
        stopped="",
        seconds=seconds,
        pairs_to_decide=None if factor is None else BLOCK * math.ceil(factor * pairs / BLOCK),
        seconds_to_decide=None if factor is None else factor * seconds,
    )


def _part(
    workloads: Sequence[WorkloadThroughput], kind: Kind, overall: Interval, seed: int
) -> Interval | None:
    """Return the mean of the workloads of one kind; ``overall`` where all are of that kind.

    A single one has the interval of its own row: two for the same runs would say two things.
    """
    chosen = [one for one in workloads if one.kind == kind]
    if len(chosen) == len(workloads):
        return overall
    if len(chosen) == 1:
        return chosen[0].ratio
    return mean_ratio(chosen, "ops_per_sec", overall.confidence, seed) if chosen else None


def mean_ratio(
    workloads: Sequence[WorkloadThroughput], rate: str, confidence: float, seed: int
) -> Interval:
    """Return the mean change of a rate over workloads, by their weights."""
    return statistics.overall_ratio(
        [speed_logs(one.samples, rate) for one in workloads],
        [one.weight for one in workloads],
        confidence,
        seed,
    )


def _one_workload(
    bench: BenchCommand, pairs: list[PairSample], confidence: float, request: JudgeRequest
) -> WorkloadThroughput:
    logs = speed_logs(pairs)
    return WorkloadThroughput(
        name=bench.name,
        weight=bench.weight,
        allowance=bench.allowance or request.margins.workload,
        argv=bench.argv,
        env=dict(bench.env),
        clock=_clock(pairs),
        threads=pairs[0].baseline.threads,
        samples=tuple(pairs),
        ratio=statistics.median_ratio(logs, confidence),
        wall=_wall(pairs, confidence),
        baseline_ops_per_sec=_middle(pairs, "baseline", "ops_per_sec"),
        tuned_ops_per_sec=_middle(pairs, "tuned", "ops_per_sec"),
        baseline_rss_kib=_middle(pairs, "baseline", "peak_rss_kib"),
        tuned_rss_kib=_middle(pairs, "tuned", "peak_rss_kib"),
        rss=statistics.median_ratio(memory_logs(pairs), confidence),
        kind=bench.kind,
        noise=statistics.noise(logs),
    )


def _wall(pairs: Sequence[PairSample], confidence: float) -> Interval | None:
    """Return the change by wall time; None where both runs of a pair went on at once."""
    if any(pair.together for pair in pairs):
        return None
    return statistics.median_ratio(speed_logs(pairs, "wall_ops_per_sec"), confidence)


def _middle(pairs: Sequence[PairSample], side: Side, field: str) -> float:
    return float(np.median([getattr(getattr(pair, side), field) for pair in pairs]))


def _clock(pairs: list[PairSample]) -> Clock:
    clocks = {run.clock for pair in pairs for run in (pair.baseline, pair.tuned)}
    if len(clocks) != 1:
        raise ValueError("runs of one workload were judged by different clocks")
    return clocks.pop()


def speed_logs(pairs: Sequence[PairSample], field: str = "ops_per_sec") -> statistics.Array:
    """Return the log ratios of a rate, pair by pair."""
    return statistics.log_ratios(
        [getattr(pair.baseline, field) for pair in pairs],
        [getattr(pair.tuned, field) for pair in pairs],
    )
