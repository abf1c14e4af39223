"""Measuring throughput: pairs of fresh processes, added until the verdict is clear."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable

import numpy as np
from scipy import stats

from pipeline.judge import statistics
from pipeline.judge.keys import throughput_key
from pipeline.judge.model import Clock, PairSample, Side, Throughput, WorkloadThroughput
from pipeline.judge.request import BenchCommand, JudgeRequest
from pipeline.judge.schedule import PlannedPair, plan
from pipeline.judge.verdict import Verdict

Samples = dict[str, list[PairSample]]
CLOCKS = 2
"""Each workload is looked at by CPU time and by wall time."""

Runner = Callable[[BenchCommand, PlannedPair], PairSample]


def measure(
    request: JudgeRequest,
    runner: Runner,
    progress: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
) -> Throughput:
    """Run pairs up to each look; stop at the first clear verdict or at the end of the budget.

    Every look pays its share of the error in advance (see statistics.confidence_per_look), so
    looking again does not make a false verdict more likely.
    """
    counts = statistics.looks(request.pairs, request.max_pairs)
    samples: Samples = defaultdict(list)
    started, done, stopped = clock(), 0, ""
    while not stopped:
        upto = counts[counts.index(done) + 1] if done else counts[0]
        _run_rounds(request, range(done, upto), runner, samples, progress)
        done = upto
        result = summarise(request, samples, counts)
        stopped = _reason_to_stop(request, result, counts, clock() - started)
        progress(f"{done} pairs: {describe(result)}")
    return result.model_copy(update={"stopped": stopped})


def _run_rounds(
    request: JudgeRequest,
    rounds: range,
    runner: Runner,
    samples: Samples,
    progress: Callable[[str], None],
) -> None:
    benches = {bench.name: bench for bench in request.benches}
    for pair in plan(list(benches), rounds, request.seed):
        if pair.workload == next(iter(benches)):
            progress(f"pair {pair.round + 1} of {rounds.stop}")
        samples[pair.workload].append(runner(benches[pair.workload], pair))


def summarise(request: JudgeRequest, samples: Samples, looks: tuple[int, ...]) -> Throughput:
    """Return what all pairs so far say together.

    The intervals of single workloads, by two clocks each, hold for all of them together: with
    many workloads, one of them looks bad by chance.
    """
    single = statistics.confidence_per_look(len(looks), CLOCKS * len(request.benches))
    workloads = tuple(
        _one_workload(bench, samples[bench.name], single, request.seed) for bench in request.benches
    )
    overall = statistics.overall_ratio(
        [_logs(samples[bench.name]) for bench in request.benches],
        [bench.weight for bench in request.benches],
        statistics.confidence_per_look(len(looks)),
        request.seed,
    )
    pairs = len(workloads[0].samples)
    return Throughput(
        workloads=workloads,
        overall=overall,
        pairs=pairs,
        looks=looks,
        stopped="",
        pairs_to_decide=statistics.pairs_to_decide(overall, pairs, request.margins.throughput),
    )


def _one_workload(
    bench: BenchCommand, pairs: list[PairSample], confidence: float, seed: int
) -> WorkloadThroughput:
    logs, together = _logs(pairs), any(pair.together for pair in pairs)
    wall = None if together else _logs(pairs, "wall_ops_per_sec")

    def middle(side: Side, field: str) -> float:
        return float(np.median([getattr(getattr(pair, side), field) for pair in pairs]))

    return WorkloadThroughput(
        name=bench.name,
        weight=bench.weight,
        argv=bench.argv,
        env=dict(bench.env),
        clock=_clock(pairs),
        threads=pairs[0].baseline.threads,
        samples=tuple(pairs),
        ratio=statistics.median_ratio(logs, confidence, seed),
        wall=None if wall is None else statistics.median_ratio(wall, confidence, seed),
        baseline_ops_per_sec=middle("baseline", "ops_per_sec"),
        tuned_ops_per_sec=middle("tuned", "ops_per_sec"),
        baseline_rss_kib=middle("baseline", "peak_rss_kib"),
        tuned_rss_kib=middle("tuned", "peak_rss_kib"),
        noise=float(stats.median_abs_deviation(logs, scale="normal")),
    )


def _clock(pairs: list[PairSample]) -> Clock:
    clocks = {run.clock for pair in pairs for run in (pair.baseline, pair.tuned)}
    if len(clocks) != 1:
        raise ValueError("runs of one workload were judged by different clocks")
    return clocks.pop()


def _logs(pairs: list[PairSample], field: str = "ops_per_sec") -> statistics.Array:
    return statistics.log_ratios(
        [getattr(pair.baseline, field) for pair in pairs],
        [getattr(pair.tuned, field) for pair in pairs],
    )


def _reason_to_stop(
    request: JudgeRequest, result: Throughput, counts: tuple[int, ...], spent_s: float
) -> str:
    """Return why no more pairs are run, or nothing when more are needed and affordable."""
    verdict = throughput_key(result, request.margins).verdict
    if verdict is not Verdict.INCONCLUSIVE:
        return f"decided after {result.pairs} pairs"
    if result.pairs == counts[-1]:
        return f"not decided within the limit of {counts[-1]} pairs"
    following = counts[counts.index(result.pairs) + 1]
    if spent_s / result.pairs * following > request.time_budget_s:
        return f"not decided within the time budget of {request.time_budget_s:g} s"
    return ""


def describe(result: Throughput) -> str:
    """Return the overall ratio and its interval in a few words."""
    overall = result.overall
    change, low, high = ((x - 1) * 100 for x in (overall.value, overall.low, overall.high))
    return f"throughput {change:+.2f} % [{low:+.2f}, {high:+.2f}]"
