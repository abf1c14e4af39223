"""Measuring throughput: pairs of fresh processes, added until the verdict is clear."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pipeline.judge import statistics
from pipeline.judge.keys import memory_logs, single_confidence, throughput_key
from pipeline.judge.request import BenchCommand, JudgeRequest, Kind, Side
from pipeline.judge.samples import Clock, PairSample, Throughput, WorkloadThroughput
from pipeline.judge.schedule import BLOCK, Block, Effort, allot, plan
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict

Samples = dict[str, list[PairSample]]
LOOKS = (1 / 8, 1 / 4, 1 / 2, 1.0)
"""Shares of the time budget at which a verdict is looked for."""

LEAST_NOISE = 0.001
"""No workload is taken to be quieter than this, whatever its first pairs say."""

Runner = Callable[[BenchCommand, Block], Sequence[PairSample]]


def measure(
    request: JudgeRequest,
    runner: Runner,
    progress: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
) -> Throughput:
    """Run pairs up to each look; stop at the first clear verdict or at the end of the budget.

    Looks come when LOOKS of the time budget are used up, and nowhere else, however much or little
    the pairs cost: the time up to a look is filled before it. Looks that the first pairs have
    passed are left out. Each look may err by the share that it adds to those before, and the last
    one, after which no pair fits any more, by all that is left: so looking again does not make a
    false verdict more likely, and the last look is the sharpest.
    """
    campaign = _Campaign(request, runner, progress, clock)
    campaign.add(request.pairs)
    looks, used = 0, 0.0
    while True:
        planned = campaign.next_look()
        campaign.fill(planned)
        share = (1.0 if campaign.is_full() else planned) - used
        campaign.add(least_pairs(request, share))
        looks, used = looks + 1, used + share
        result = summarise(request, campaign.samples, share, looks, campaign.seconds)
        progress(f"{result.pairs} pairs in {campaign.seconds:.0f} s: {describe(result)}")
        if throughput_key(result, request.margins).verdict is not Verdict.INCONCLUSIVE:
            return ended(request, result, f"decided after {result.pairs} pairs")
        if used == 1:
            return ended(request, result, f"not decided within {campaign.seconds:.0f} s")


def least_pairs(request: JudgeRequest, share: float) -> int:
    """Return how many pairs each workload needs at a look, for its interval to hold (even)."""
    least = statistics.least_pairs(single_confidence(share, len(request.benches)))
    return BLOCK * math.ceil(least / BLOCK)


def ended(request: JudgeRequest, result: Throughput, why: str) -> Throughput:
    """Return the result of the last look: ``why`` it was the last, and what only it needs."""
    return result.model_copy(update={"stopped": why, "programs_wall": _by_wall(request, result)})


def _by_wall(request: JudgeRequest, result: Throughput) -> Interval | None:
    """Return the speed of real programs together by wall time, if CPU time judges them."""
    programs = [one for one in result.workloads if one.kind == "program"]
    if not programs or any(one.wall is None or one.clock == "wall" for one in programs):
        return None
    if len(programs) == 1:
        return programs[0].wall
    return _together(programs, "wall_ops_per_sec", result.overall.confidence, request.seed)


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
        self._request = request
        self._benches = {bench.name: bench for bench in request.benches}
        self._runner = runner
        self._progress = progress
        self._clock = clock
        self._spent_s: dict[str, float] = defaultdict(float)
        self._looked = 0.0

    @property
    def seconds(self) -> float:
        """Return the time that all pairs took."""
        return sum(self._spent_s.values())

    def next_look(self) -> float:
        """Return the share of the budget at which the next look comes: not before it is used."""
        used = self.seconds / self._request.time_budget_s
        ahead = [share for share in LOOKS if share > self._looked]
        passed = [share for share in ahead if share <= used]
        self._looked = max(passed, default=ahead[0])
        return self._looked

    def fill(self, share: float) -> None:
        """Run pairs, of the workloads where they tell most, until ``share`` of the budget is used.

        Pairs that cost less than was reckoned with leave time, which is filled again.
        """
        until_s = share * self._request.time_budget_s
        while wanted := self._more(until_s - self.seconds):
            self.run(wanted, until_s)

    def is_full(self) -> bool:
        """Return whether no further block fits into the budget."""
        return not self._more(self._request.time_budget_s - self.seconds)

    def _more(self, seconds: float) -> dict[str, int]:
        """Return how many pairs each workload should have; nothing when no block fits."""
        efforts = self._efforts()
        wanted = allot(efforts, seconds)
        more = any(count > efforts[name].pairs for name, count in wanted.items())
        return wanted if more else {}

    def add(self, pairs: int) -> None:
        """Run pairs, whatever they cost, until each workload has so many."""
        self.run({name: max(pairs, len(self.samples[name])) for name in self._benches})

    def run(self, wanted: Mapping[str, int], until_s: float | None = None) -> None:
        """Run blocks until each workload has its number of pairs, or the time is up."""
        numbers = {name: range(len(self.samples[name]), count) for name, count in wanted.items()}
        for block in plan(numbers, self._request.seed):
            if until_s is not None and self.seconds >= until_s:
                return
            self._run_block(block, wanted if until_s is None else {})

    def _run_block(self, block: Block, wanted: Mapping[str, int]) -> None:
        name = block[0].workload
        self._progress(f"{self._place(wanted)}: {name}")
        before = self._clock()
        self.samples[name] += self._runner(self._benches[name], block)
        self._spent_s[name] += self._clock() - before

    def _place(self, wanted: Mapping[str, int]) -> str:
        """Say which pair comes next; of how many where all that must be run exceed the budget."""
        done, spent = sum(map(len, self.samples.values())), self.seconds
        left, budget = self._left(wanted), self._request.time_budget_s
        if spent + left <= budget:
            return f"pair {done + 1}, {spent:.0f} s of {budget:.0f}"
        return f"pair {done + 1} of {sum(wanted.values())}, about {_long(left)} more"

    def _left(self, wanted: Mapping[str, int]) -> float:
        """Return how many seconds the pairs that are wanted still take, by those so far."""
        done = sum(map(len, self.samples.values()))
        if not done:
            return 0.0
        mean = self.seconds / done

        def each(name: str) -> float:
            samples = self.samples[name]
            return self._spent_s[name] / len(samples) if samples else mean

        return sum((count - len(self.samples[name])) * each(name) for name, count in wanted.items())

    def _efforts(self) -> dict[str, Effort]:
        return {name: self._effort(bench) for name, bench in self._benches.items()}

    def _effort(self, bench: BenchCommand) -> Effort:
        samples = self.samples[bench.name]
        noise = max(LEAST_NOISE, statistics.noise(_logs(samples)))
        return Effort(len(samples), self._spent_s[bench.name] / len(samples), bench.weight * noise)


def _long(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


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
    overall = _together(workloads, "ops_per_sec", statistics.confidence(share), request.seed)
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
    return _together(chosen, "ops_per_sec", overall.confidence, seed) if chosen else None


def _together(
    workloads: Sequence[WorkloadThroughput], rate: str, confidence: float, seed: int
) -> Interval:
    return statistics.overall_ratio(
        [_logs(one.samples, rate) for one in workloads],
        [one.weight for one in workloads],
        confidence,
        seed,
    )


def _one_workload(
    bench: BenchCommand, pairs: list[PairSample], confidence: float, request: JudgeRequest
) -> WorkloadThroughput:
    logs, together = _logs(pairs), any(pair.together for pair in pairs)
    wall = None if together else _logs(pairs, "wall_ops_per_sec")

    def middle(side: Side, field: str) -> float:
        return float(np.median([getattr(getattr(pair, side), field) for pair in pairs]))

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
        wall=None if wall is None else statistics.median_ratio(wall, confidence),
        baseline_ops_per_sec=middle("baseline", "ops_per_sec"),
        tuned_ops_per_sec=middle("tuned", "ops_per_sec"),
        baseline_rss_kib=middle("baseline", "peak_rss_kib"),
        tuned_rss_kib=middle("tuned", "peak_rss_kib"),
        rss=statistics.median_ratio(memory_logs(pairs), confidence),
        kind=bench.kind,
        noise=statistics.noise(logs),
    )


def _clock(pairs: list[PairSample]) -> Clock:
    clocks = {run.clock for pair in pairs for run in (pair.baseline, pair.tuned)}
    if len(clocks) != 1:
        raise ValueError("runs of one workload were judged by different clocks")
    return clocks.pop()


def _logs(pairs: Sequence[PairSample], field: str = "ops_per_sec") -> statistics.Array:
    return statistics.log_ratios(
        [getattr(pair.baseline, field) for pair in pairs],
        [getattr(pair.tuned, field) for pair in pairs],
    )


def describe(result: Throughput) -> str:
    """Return the overall ratio and its interval in a few words."""
    overall = result.overall
    change, low, high = ((x - 1) * 100 for x in (overall.value, overall.low, overall.high))
    return f"throughput {change:+.2f} % [{low:+.2f}, {high:+.2f}]"
