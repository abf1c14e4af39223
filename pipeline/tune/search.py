"""The search for a geometry: single moves raced, the best combined, the result confirmed.

    race        all single moves get a block of pairs; the better half gets as many again, and so on
    combine     what pays is put together, best first: one move, two moves, three ...
    confirm     the best combination, with fresh runs that nothing was chosen by: twice, each time
                with another seed, and beside it the default against itself, as many runs

Successive halving: Jamieson & Talwalkar 2016, Non-stochastic Best Arm Identification. Choosing the
best of many by noisy runs makes it look better than it is; hence the fresh runs at the end, looked
at once. Only they say what the result is worth. What the default gains over itself is the noise of
a repeat: a choice that gains no more than that is none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence

from pipeline.judge.samples import PairSample
from pipeline.tune.engine import Engine
from pipeline.tune.measure import Job, Result
from pipeline.tune.standing import Standing, standing
from pipeline.tune.state import Journal
from pipeline.tune.trial import Candidate, Confirmation, Ground, Trial

RUNGS = 3
"""Blocks of pairs a candidate may get in a race: 1, 2, 4."""

BLOCKS_EACH = 2.0
"""About how many blocks a race takes for each of its candidates."""

CONFIRM_BLOCKS = (1, 4)
"""Fresh blocks of each seed and side for the confirmation: at least, and at most if there is
time."""

FRESH = (1_000_000, 2_000_000)
"""Added to the seed for the two halves of the confirmation: other orders, stack placements."""

REPEAT = "the default again"
"""The name of the default where it is measured like a candidate, against itself."""

FOREVER = math.inf
"""The deadline of what is measured on every run."""

Say = Callable[[str], None]


class Measurer:
    """Measures blocks of candidates, each at most once in the life of the journal."""

    def __init__(
        self,
        ground: Ground,
        engine: Engine,
        journal: Journal,
        say: Say,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Measure on ``ground`` by ``engine``; keep every result in ``journal`` at once."""
        self.ground = ground
        self.taken_over = self.made = 0
        self.ends: float | None = None  # when the search as a whole is to be done, by the clock
        self._engine = engine
        self._journal = journal
        self._say = say
        self._clock = clock
        self._seconds: list[float] = []

    def left(self, deadline: float) -> float:
        """Return the seconds until ``deadline``."""
        return deadline - self._clock()

    def has_time(self, blocks: float, deadline: float) -> bool:
        """Return whether so many blocks are likely to be done by ``deadline``."""
        return self.left(deadline) >= blocks * self.block_seconds()

    def block_seconds(self) -> float:
        """Return what a block takes, by those measured so far."""
        return sum(self._seconds) / len(self._seconds) if self._seconds else self.ground.block_s

    def blocks(
        self,
        candidates: Sequence[Candidate],
        count: int,
        seeds: Sequence[int],
        what: str,
        deadline: float,
    ) -> list[Trial]:
        """Return the standing of each candidate after its first ``count`` blocks of each seed.

        Blocks in the journal are taken from there. Those that would not be done by ``deadline``
        are not begun, and their candidates are left out.
        """
        numbered = [(n, seed) for n in range(count) for seed in seeds]
        jobs = [(c, self.ground.job(c, n, seed)) for c in candidates for n, seed in numbered]
        missing = [job for _, job in jobs if self._journal.find(job.key) is None]
        if known := self._journal.take_over(job.key for _, job in jobs):
            self.taken_over += known
            self._say(f"{what}: {known} blocks were measured by an earlier run")
        self._run(missing, what, deadline)
        found = [(c, [self._journal.find(job.key) for who, job in jobs if who is c])
                 for c in candidates]  # fmt: skip
        return [
            Trial(c, len(numbered), self._standing([r for r in results if r is not None]))
            for c, results in found
            if all(result is not None for result in results)
        ]

    def _run(self, jobs: Sequence[Job], what: str, deadline: float) -> None:
        total, batch = len(jobs), list(jobs)
        started = self._clock()
        timely = (job for job in batch if self._in_time(deadline))
        for done, result in enumerate(self._engine.run(timely), start=1):
            self._journal.add(result)
            self._seconds.append(result.seconds)
            self.made += 1
            rest = (self._clock() - started) / done * (total - done)
            self._say(f"{what}: {result.name}, {done} of {total}, {self._to_go(rest)}")

    def _to_go(self, rest: float) -> str:
        """Return the seconds that these blocks and the whole search need, which may end sooner."""
        if self.ends is None:
            return f"about {rest:.0f} s to go"
        left = max(0.0, self.left(self.ends))
        return f"about {min(rest, left):.0f} s to go; the search ends in {left:.0f} s at most"

    def _in_time(self, deadline: float) -> bool:
        return self.left(deadline) > self.block_seconds()

    def _standing(self, results: Sequence[Result]) -> Standing:
        samples: dict[str, tuple[PairSample, ...]] = {
            bench.name: tuple(p for r in results for p in r.samples[bench.name])
            for bench in self.ground.benches
        }
        return standing(self.ground.request, samples)


def race(
    measurer: Measurer,
    candidates: Sequence[Candidate],
    deadline: float,
    sure: frozenset[str] = frozenset(),
) -> list[Trial]:
    """Return how far each candidate came, best first, without those there was no time for.

    Those named in ``sure`` get their first block in any case. After each rung those that are shown
    to be worse leave, then the worse half; who is shown to be better in one key stays, until it is
    clear whether the other one suffers.
    """
    last: dict[str, Trial] = {}
    alive = list(candidates)
    seeds = (measurer.ground.request.seed,)
    if first := [one for one in candidates if one.name in sure]:
        measurer.blocks(first, 1, seeds, "the first change of each kind", FOREVER)
    for rung in range(RUNGS):
        what = f"race, rung {rung + 1} of {RUNGS}"
        trials = measurer.blocks(alive, 1 << rung, seeds, what, deadline)
        last |= {trial.candidate.name: trial for trial in trials}
        alive = [trial.candidate for trial in _better_half(trials)]
        if not alive:
            break
    return sorted(last.values(), key=_rank, reverse=True)


def _rank(trial: Trial) -> tuple[bool, int, float]:
    return (not trial.standing.out, trial.blocks, trial.standing.score)


def _better_half(trials: Sequence[Trial]) -> list[Trial]:
    ranked = sorted((t for t in trials if not t.standing.out), key=_rank, reverse=True)
    half = (len(trials) + 1) // 2
    return [t for place, t in enumerate(ranked) if place < half or t.standing.better]


def winners(trials: Sequence[Trial], topics: Mapping[str, str]) -> list[Trial]:
    """Return the single moves that pay, best first, one for each topic."""
    seen: set[str] = set()
    paying = []
    for trial in sorted(trials, key=lambda t: t.standing.score, reverse=True):
        topic = topics[trial.candidate.moves[0]]
        if trial.standing.wins and topic not in seen:
            seen.add(topic)
            paying.append(trial)
    return paying


def combinations(paying: Sequence[Trial]) -> list[tuple[str, ...]]:
    """Return the best move with the second, with the second and third, and so on."""
    names = [trial.candidate.moves[0] for trial in paying]
    return [tuple(names[:length]) for length in range(2, len(names) + 1)]


def confirm(measurer: Measurer, candidate: Candidate, deadline: float) -> Confirmation | None:
    """Return how ``candidate`` stands by fresh runs alone; None if there was no time for them.

    How many there are is decided before the first one, so that nothing is looked at in between.
    The default runs against itself beside it, block by block.
    """
    least, most = CONFIRM_BLOCKS
    same = Candidate((REPEAT,), measurer.ground.default)
    both, seeds = (candidate, same), tuple(measurer.ground.request.seed + n for n in FRESH)
    cost = measurer.block_seconds() * len(both) * len(seeds)
    count = max(least, min(most, int(measurer.left(deadline) / cost)))
    late = deadline + cost * (least + 1)  # the least is done, even if it takes longer
    trials = measurer.blocks(both, count, seeds, "confirming", late)
    if len(trials) < len(both):
        return None
    halves = [measurer.blocks((candidate,), count, (seed,), "confirming", late) for seed in seeds]
    return Confirmation(
        trial=trials[0],
        halves=tuple(half[0].standing for half in halves),
        repeat=trials[1].standing,
    )
