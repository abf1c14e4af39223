"""The figures of several samples, smoothed: gauges by their median, counters by their growth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from pipeline.learn.samples import Sample

SYSTEM_PAGES = 16
"""System pages in the 64 KiB that `purged_pages` counts."""


@dataclass(frozen=True)
class Room:
    """What the slabs of one class hold: all of it, and the part that is free in them."""

    size: int
    bytes: float
    free: float

    @property
    def free_share(self) -> float:
        """Return the part of the slabs whose blocks nobody has."""
        return share(self.free, self.bytes)


@dataclass(frozen=True)
class Figures:
    """All processes together. ``gauges`` and ``rooms`` are medians, ``counters`` sums of growth.

    ``options`` has each value that was in force in one of the samples.
    """

    processes: int
    samples: int
    gauges: dict[str, float]
    counters: dict[str, int]
    rooms: tuple[Room, ...]
    options: dict[str, frozenset[str]] = field(default_factory=dict)

    def part(self, gauge: str, whole: str) -> float:
        """Return one gauge as a share of another; 0 where either is unknown."""
        return share(self.gauges.get(gauge, 0.0), self.gauges.get(whole, 0.0))

    def grown(self, counter: str, whole: str) -> float:
        """Return the growth of one counter as a share of that of another."""
        return share(self.counters.get(counter, 0), self.counters.get(whole, 0))

    @property
    def free_in_slabs(self) -> float:
        """Return the share of all slabs that is free in them, whether handed out before or not."""
        free = self.gauges.get("slab_returned_bytes", 0.0) + self.gauges.get("slab_fresh_bytes", 0)
        return share(free, self.gauges.get("slab_bytes", 0.0))

    @property
    def at_rest(self) -> bool:
        """Whether no run of pages was taken or given between two samples of any process."""
        runs = self.counters.get("runs_taken", 0) + self.counters.get("runs_given", 0)
        return self.samples > self.processes and runs == 0

    @property
    def purge_faults(self) -> float:
        """Return the page faults that purged pages can explain, as a share of all."""
        faults = self.counters.get("minor_page_faults_total", 0)
        return min(1.0, share(SYSTEM_PAGES * self.counters.get("purged_pages", 0), faults))


def share(part: float, whole: float) -> float:
    """Return ``part`` of ``whole``; 0 where there is no whole."""
    return part / whole if whole > 0 else 0.0


def smooth(samples: Sequence[Sample]) -> Figures:
    """Return the figures of all ``samples``, which are in order of time for each process."""
    series: dict[int, list[Sample]] = {}
    for sample in samples:
        series.setdefault(sample.process, []).append(sample)
    each = list(series.values())
    return Figures(
        processes=len(each),
        samples=len(samples),
        gauges=_sum([_gauges(one) for one in each]),
        counters={name: int(n) for name, n in _sum([_growth(one) for one in each]).items()},
        rooms=_rooms(each),
        options=_options(samples),
    )


def _options(samples: Sequence[Sample]) -> dict[str, frozenset[str]]:
    names = {name for one in samples for name in one.options}
    return {
        name: frozenset(one.options[name] for one in samples if name in one.options)
        for name in sorted(names)
    }


def _sum(parts: Sequence[dict[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: sum(part.get(name, 0.0) for part in parts) for name in names}


def _gauges(series: Sequence[Sample]) -> dict[str, float]:
    names = [name for name in series[0].figures if not name.endswith("_total")]
    found = {name: [one.figures.get(name) for one in series] for name in names}
    known = {name: [v for v in values if v is not None] for name, values in found.items()}
    return {name: float(median(values)) for name, values in known.items() if values}


def _growth(series: Sequence[Sample]) -> dict[str, float]:
    """Return how far each counter rose; where it fell, another program had the number."""
    found: dict[str, float] = {}
    for before, after in pairwise([_counters(one) for one in series]):
        if all(after.get(name, 0) >= value for name, value in before.items()):
            for name, value in after.items():
                found[name] = found.get(name, 0.0) + value - before.get(name, 0)
    return found


def _counters(sample: Sample) -> dict[str, int]:
    totals = {name: value or 0 for name, value in sample.figures.items() if name.endswith("_total")}
    return {**sample.events, **totals}


def _rooms(each: Sequence[Sequence[Sample]]) -> tuple[Room, ...]:
    """Return the rooms of all classes. A class that a sample does not have had no slab then."""
    sizes = sorted({one.size for series in each for sample in series for one in sample.classes})
    found = []
    for size in sizes:
        rooms = [[_room(sample, size) for sample in series] for series in each]
        total = sum(median(r.bytes for r in series) for series in rooms)
        free = sum(median(r.free for r in series) for series in rooms)
        found.append(Room(size, total, free))
    return tuple(found)


def _room(sample: Sample, size: int) -> Room:
    own = [one for one in sample.classes if one.size == size]
    free = sum((one.returned_blocks + one.fresh_blocks) * one.size for one in own)
    return Room(size, sum(one.slabs * one.slab_bytes for one in own), free)
