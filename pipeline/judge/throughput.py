"""Measuring throughput: pairs of fresh processes, added until the verdict is clear."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable

import numpy as np

from pipeline.judge import statistics
from pipeline.judge.keys import throughput_key
from pipeline.judge.model import Clock, PairSample, Side, Throughput, WorkloadThroughput
from pipeline.judge.request import BenchCommand, JudgeRequest
from pipeline.judge.schedule import PlannedPair, plan
from pipeline.judge.verdict import Verdict

Samples = dict[str, list[PairSample]]
CLOCKS = 2
"""Each workload is looked at by CPU time and by wall time."""

WORTH_MORE_PAIRS = 0.25
"""Share of the largest blur from which on a workload gets more pairs after the first look."""

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
    campaign = _Campaign(request, runner, progress, clock)
    looks: list[int] = []
    planned = statistics.looks(request.pairs, request.max_pairs)
    for upto in planned:
        affordable = campaign.affordable(upto) if looks else upto
        if affordable == campaign.rounds:
            break
        campaign.run_to(affordable)
        looks.append(affordable)
        result = summarise(request, campaign.samples, planned)
        progress(f"{affordable} pairs: {describe(result)}")
        if throughput_key(result, request.margins).verdict is not Verdict.INCONCLUSIVE:
            return _ended(result, f"decided after {affordable} pairs")
    if looks[-1] == planned[-1]:
        return _ended(result, f"not decided within the limit of {planned[-1]} pairs")
    return _ended(result, f"not decided within the time budget of {request.time_budget_s:g} s")


def _ended(result: Throughput, why: str) -> Throughput:
    return result.model_copy(update={"stopped": why})


class _Campaign:
    """The pairs that were run so far, and what they cost."""

    def __init__(
        self,
        request: JudgeRequest,
        runner: Runner,
        progress: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        self.samples: Samples = defaultdict(list)
        self.rounds = 0
        self._request = request
        self._runner = runner
        self._progress = progress
        self._clock = clock
        self._spent_s: dict[str, float] = defaultdict(float)

    def run_to(self, rounds: int) -> None:
        """Run rounds until there are ``rounds``, of the workloads that need them."""
        benches = {bench.name: bench for bench in self._chosen()}
        for pair in plan(list(benches), range(self.rounds, rounds), self._request.seed):
            self._progress(f"pair {pair.round + 1} of {rounds}: {pair.workload}")
            before = self._clock()
            self.samples[pair.workload].append(self._runner(benches[pair.workload], pair))
            self._spent_s[pair.workload] += self._clock() - before
        self.rounds = rounds

    def affordable(self, wanted: int) -> int:
        """Return how many rounds, ``wanted`` at most, fit into the budget; an even number."""
        per_round = sum(
            self._spent_s[bench.name] / len(self.samples[bench.name]) for bench in self._chosen()
        )
        left = self._request.time_budget_s - sum(self._spent_s.values())
        more = wanted - self.rounds
        if per_round * more > left:
            more = 2 * max(0, int(left / per_round / 2))
        return self.rounds + more

    def _chosen(self) -> list[BenchCommand]:
        """Return the workloads that blur the whole; at first all of them.

        A workload blurs the overall ratio by its weight times the standard error of its own. More
        pairs of one that blurs it little would cost time and tell nothing.
        """
        if not self.samples:
            return list(self._request.benches)
        blur = {
            bench.name: bench.weight * statistics.standard_error(_logs(self.samples[bench.name]))
            for bench in self._request.benches
        }
        least = max(blur.values()) * WORTH_MORE_PAIRS
        return [bench for bench in self._request.benches if blur[bench.name] >= least]


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
    pairs = max(len(one.samples) for one in workloads)
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
        noise=statistics.noise(logs),
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


def describe(result: Throughput) -> str:
    """Return the overall ratio and its interval in a few words."""
    overall = result.overall
    change, low, high = ((x - 1) * 100 for x in (overall.value, overall.low, overall.high))
    return f"throughput {change:+.2f} % [{low:+.2f}, {high:+.2f}]"
