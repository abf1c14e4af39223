"""The pairs of one judgement: which are run next, and what they have cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from pipeline.judge import statistics
from pipeline.judge.request import BenchCommand, JudgeRequest
from pipeline.judge.samples import PairSample
from pipeline.judge.schedule import Block, Effort, allot, plan
from pipeline.judge.summarise import Samples, speed_logs

LOOKS = (1 / 8, 1 / 4, 1 / 2, 1.0)
"""Shares of the time budget at which a verdict is looked for."""

LEAST_NOISE = 0.001
"""No workload is taken to be quieter than this, whatever its first pairs say."""

Runner = Callable[[BenchCommand, Block], Sequence[PairSample]]


class Campaign:
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
        noise = max(LEAST_NOISE, statistics.noise(speed_logs(samples)))
        return Effort(len(samples), self._spent_s[bench.name] / len(samples), bench.weight * noise)


def _long(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
