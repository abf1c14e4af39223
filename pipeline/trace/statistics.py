"""What a trace says about a program: sizes, lives, memory over time, threads, call sites."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.trace.read import NO_OBJECT, Kind, Resolved, Trace

TIMELINE_POINTS = 240
TOP_SITES = 20
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Bin:
    """Objects whose size (bytes) or life (events) is at most ``top``, and above the bin before."""

    top: int
    count: int
    bytes: int = 0


@dataclass(frozen=True)
class Point:
    """The live objects at a time: seconds since the start, bytes as asked for, number."""

    seconds: float
    bytes: int
    objects: int


@dataclass(frozen=True)
class ThreadShare:
    """What one thread did; ``remote`` are frees of objects that another thread allocated."""

    number: int
    births: int
    frees: int
    remote: int


@dataclass(frozen=True)
class Site:
    """A call site by its hash: how many objects and bytes it asked for."""

    hash: int
    count: int
    bytes: int


@dataclass(frozen=True)
class Statistics:
    """All of it. ``lives`` counts objects that were freed, by the events between."""

    process: Resolved
    calls: dict[str, int]
    free_null: int
    sizes: tuple[Bin, ...]
    lives: tuple[Bin, ...]
    never_freed: int
    timeline: tuple[Point, ...]
    peak_bytes: int
    peak_objects: int
    threads: tuple[ThreadShare, ...]
    sites: tuple[Site, ...]

    @property
    def frees(self) -> int:
        """Objects that were freed."""
        return sum(thread.frees for thread in self.threads)

    @property
    def remote_share(self) -> float:
        """The share of frees that were made by another thread than the birth, 0 to 1."""
        return sum(thread.remote for thread in self.threads) / max(1, self.frees)


def statistics(trace: Trace) -> Statistics:
    """Return the statistics of a trace: about a second for ten million events."""
    rows = trace.rows
    kind, owner = np.asarray(rows["kind"]), np.asarray(rows["object"])
    born = np.flatnonzero(kind <= Kind.ALIGNED)
    freed = np.flatnonzero((kind == Kind.FREE) & (owner != NO_OBJECT))
    timeline, peak_bytes, peak_objects = _timeline(trace, born, freed)
    counts = np.bincount(kind, minlength=max(Kind) + 1)
    return Statistics(
        process=trace.process,
        calls={k.name.lower(): int(counts[k]) for k in Kind},
        free_null=int(counts[Kind.FREE]) - len(freed),
        sizes=_sizes(rows["size"][(kind <= Kind.ALIGNED) | (kind == Kind.REALLOC)]),
        lives=_lives(born, freed, owner[freed]),
        never_freed=len(born) - len(freed),
        timeline=timeline,
        peak_bytes=peak_bytes,
        peak_objects=peak_objects,
        threads=_threads(rows["thread"], born, freed, owner[freed]),
        sites=_sites(rows["site"][born], rows["size"][born]),
    )


def _octave(values: NDArray[np.unsignedinteger] | Ints) -> Ints:
    """Return for each value the exponent of the smallest power of two that is not below it."""
    above = np.maximum(values.astype(np.float64), 1)
    return np.ceil(np.log2(above)).astype(np.int64)


def _bins(octaves: Ints, weights: NDArray[np.float64] | None = None) -> list[Bin]:
    counts = np.bincount(octaves)
    sums = np.bincount(octaves, weights) if weights is not None else np.zeros(len(counts))
    return [Bin(1 << i, int(n), int(b)) for i, (n, b) in enumerate(zip(counts, sums, strict=True))]


def _sizes(sizes: NDArray[np.uint64]) -> tuple[Bin, ...]:
    """Return requests by size: those of the births, and the new sizes of reallocs."""
    bins = _bins(_octave(sizes), sizes.astype(np.float64))
    return tuple(b for b in bins if b.count)


def _lives(born: Ints, freed: Ints, owner: NDArray[np.uint32]) -> tuple[Bin, ...]:
    return tuple(b for b in _bins(_octave(freed - born[owner])) if b.count)


def _timeline(trace: Trace, born: Ints, freed: Ints) -> tuple[tuple[Point, ...], int, int]:
    rows = trace.rows
    if not len(rows):
        return (), 0, 0
    change = rows["size"].astype(np.int64) - rows["before"].astype(np.int64)
    step = np.zeros(len(rows), dtype=np.int64)
    step[born], step[freed] = 1, -1
    live, objects = np.cumsum(change), np.cumsum(step)
    peak = int(live.argmax())
    places = np.linspace(0, len(rows) - 1, min(TIMELINE_POINTS, len(rows))).astype(np.int64)
    places = np.union1d(places, [peak])
    points = zip(trace.seconds(places), live[places], objects[places], strict=True)
    return (
        tuple(Point(float(t), int(b), int(n)) for t, b, n in points),
        int(live.max()),
        int(objects.max()),
    )


def _threads(
    thread: NDArray[np.uint32], born: Ints, freed: Ints, owner: NDArray[np.uint32]
) -> tuple[ThreadShare, ...]:
    number = int(thread.max()) + 1 if len(thread) else 0
    by, home = thread[freed], thread[born[owner]]
    columns = (thread[born], by, by[by != home])
    births, frees, remote = (np.bincount(column, minlength=number) for column in columns)
    return tuple(
        ThreadShare(i, int(births[i]), int(frees[i]), int(remote[i])) for i in range(number)
    )


def _sites(sites: NDArray[np.uint32], sizes: NDArray[np.uint64]) -> tuple[Site, ...]:
    if not sites.any():
        return ()
    names, places = np.unique(sites, return_inverse=True)
    counts = np.bincount(places)
    sums = np.bincount(places, sizes.astype(np.float64))
    order = np.argsort(counts)[::-1][:TOP_SITES]
    return tuple(Site(int(names[i]), int(counts[i]), int(sums[i])) for i in order)
