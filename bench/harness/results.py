"""What a comparison found: samples per run and allocator, and what follows from them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from bench.harness.allocators import Allocator
from bench.harness.runner import Sample

SCHEMA_VERSION = 1
FEWEST = 5
"""Repetitions from which on a ratio has an interval."""
LEAN_FAMILIES = ("mimalloc", "jemalloc", "snmalloc", "tcmalloc")
"""Peak memory is held against the leanest of these."""


@dataclass(frozen=True)
class Spread:
    """A few numbers about some samples of one quantity."""

    median: float
    low: float
    high: float

    @property
    def relative(self) -> float:
        """(highest - lowest) / median."""
        return (self.high - self.low) / self.median if self.median else 0.0


def spread(samples: Sequence[Sample], quantity: Callable[[Sample], float]) -> Spread:
    """Sum up one quantity of at least one sample."""
    values = [quantity(sample) for sample in samples]
    return Spread(statistics.median(values), min(values), max(values))


@dataclass
class RunResult:
    """All samples of one run, by allocator; and why an allocator has none."""

    name: str
    timed: bool
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    calls: dict[str, dict[str, int]] = field(default_factory=dict)
    """System calls for memory, by allocator and name, of one run under strace."""

    def measured(self, allocator: str) -> bool:
        """Whether there are samples of this allocator, and no failure."""
        return bool(self.samples.get(allocator)) and allocator not in self.failures

    def median(self, allocator: str, quantity: Callable[[Sample], float]) -> float | None:
        """Median of a quantity, or None where the allocator has no samples."""
        if not self.measured(allocator):
            return None
        return spread(self.samples[allocator], quantity).median

    def median_of(self, allocator: str, key: str) -> float | None:
        """Median of a number that the program printed, or None."""
        return self.median(allocator, lambda sample: sample.values.get(key, 0.0))

    def best(
        self, allocators: Sequence[str], quantity: Callable[[Sample], float]
    ) -> tuple[str, float] | None:
        """Return who has the lowest median of a quantity, and that median."""
        medians = [(self.median(name, quantity), name) for name in allocators]
        known = [(median, name) for median, name in medians if median is not None]
        if not known:
            return None
        median, name = min(known)
        return name, median

    def ratio(
        self, ours: str, peers: Sequence[str], quantity: Callable[[Sample], float]
    ) -> float | None:
        """Return our median over the best peer's; below 1 is better than all of them."""
        mine, best = self.median(ours, quantity), self.best(peers, quantity)
        return mine / best[1] if mine is not None and best is not None and best[1] else None

    def interval(
        self, ours: str, peers: Sequence[str], quantity: Callable[[Sample], float]
    ) -> tuple[float, float] | None:
        """Return the ends between which `ratio` lies with 95 % confidence.

        By bootstrap of the repetitions, each taken as a whole: what slows the machine down slows
        both. None with fewer than FEWEST repetitions.
        """
        best = self.best(peers, quantity)
        if best is None or not self.measured(ours):
            return None
        pairs = list(zip(self.samples[ours], self.samples[best[0]], strict=False))
        if len(pairs) < FEWEST:
            return None
        mine, theirs = zip(*((quantity(a), quantity(b)) for a, b in pairs), strict=True)
        return median_ratio_ends(mine, theirs)


@dataclass(frozen=True)
class Comparison:
    """The whole of it, ready for the renderers."""

    ours: str | None
    allocators: tuple[str, ...]
    results: tuple[RunResult, ...]
    environment: Mapping[str, object]
    by: Literal["wall", "cpu"] = "wall"
    """Which time the ratios are about."""
    aside: tuple[str, ...] = ()
    """Allocators that are shown, and no peers: ours with other options."""

    def time_of(self, sample: Sample) -> float:
        """Nanoseconds per operation of the time that the ratios are about."""
        return sample.ns_per_op if self.by == "wall" else sample.cpu_ns_per_op

    @property
    def peers(self) -> tuple[str, ...]:
        """Every allocator that is neither ours nor aside."""
        return tuple(name for name in self.allocators if name not in (self.ours, *self.aside))

    @property
    def lean_peers(self) -> tuple[str, ...]:
        """The peers that peak memory is held against."""
        return tuple(name for name in self.peers if name.startswith(LEAN_FAMILIES))

    def time_ratio(self, result: RunResult, name: str) -> float | None:
        """Return time of `name` over that of the best other allocator but ours, in one run."""
        others = [peer for peer in self.peers if peer != name]
        return result.ratio(name, others, self.time_of)

    def rss_ratio(self, result: RunResult, name: str) -> float | None:
        """Return peak memory of `name` over that of the leanest other lean peer, in one run."""
        others = [peer for peer in self.lean_peers if peer != name]
        return result.ratio(name, others, lambda sample: sample.peak_rss_kib)

    def time_interval(self, result: RunResult) -> tuple[float, float] | None:
        """Return the interval of our time_ratio in one run."""
        return result.interval(self.ours, self.peers, self.time_of) if self.ours else None

    def time_mean(self, name: str) -> float | None:
        """Geometric mean over the timed runs of time_ratio."""
        return geometric_mean([self.time_ratio(r, name) for r in self.results if r.timed])

    def rss_mean(self, name: str) -> float | None:
        """Geometric mean over all runs of rss_ratio."""
        return geometric_mean([self.rss_ratio(r, name) for r in self.results])


def of_allocators(
    ours: str | None,
    allocators: Sequence[Allocator],
    environment: Mapping[str, object],
    by: Literal["wall", "cpu"],
    results: Sequence[RunResult] = (),
) -> Comparison:
    """Return a comparison of these, at first with no results."""
    names = tuple(one.name for one in allocators)
    aside = tuple(one.name for one in allocators if not one.is_peer)
    return Comparison(ours, names, tuple(results), environment, by, aside)


def geometric_mean(ratios: Sequence[float | None]) -> float | None:
    """Return the geometric mean of those that are known; None if there is none."""
    known = [ratio for ratio in ratios if ratio is not None and ratio > 0]
    if not known:
        return None
    return math.exp(statistics.fmean(math.log(ratio) for ratio in known))


@cache  # the terminal, the JSON and the Markdown file all show it
def median_ratio_ends(ours: tuple[float, ...], theirs: tuple[float, ...]) -> tuple[float, float]:
    """Return the 95 % interval of median(ours) / median(theirs), by the judge's own bootstrap."""
    from pipeline.judge.statistics import ratio_of_medians

    found = ratio_of_medians(ours, theirs, 0.95, seed=1)
    return found.low, found.high
