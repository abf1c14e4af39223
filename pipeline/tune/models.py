"""What a class table costs a workload, computed exactly from its trace.

Nothing is timed here: bytes wasted inside blocks, bytes at the end of slabs that no block fits
into, pages that change hands, and trips from a magazine to its slabs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.tune.demand import STEPS, Demand, Floats, Flow, Ints

SYSTEM_PAGE = 4096


@dataclass(frozen=True)
class Slab:
    """How a class is cut: blocks of ``size`` bytes in slabs of ``bytes`` bytes."""

    size: int
    bytes: int

    @property
    def capacity(self) -> int:
        """Return how many blocks a slab has."""
        return self.bytes // self.size

    @property
    def tail(self) -> int:
        """Return the bytes at the end of a slab that no block fits into."""
        return self.bytes % self.size


@dataclass(frozen=True)
class Waste:
    """Bytes: ``peak`` inside blocks at the moment of most live bytes, ``tail`` at slab ends then.

    ``ends`` are the system pages that the last blocks of the classes fill only in part, and
    ``per_request`` is the mean waste inside a block over all requests.
    """

    peak: float
    tail: float
    ends: float
    per_request: float

    @property
    def total(self) -> float:
        """Return the bytes at the peak that nobody has asked for."""
        return self.peak + self.tail + self.ends


def class_of_steps(sizes: Sequence[int]) -> Ints:
    """Return for each step the index of the class that serves it. ``sizes`` are in order."""
    return np.searchsorted(np.asarray(sizes), STEPS).astype(np.int64)


def waste(demand: Demand, slabs: Sequence[Slab]) -> Waste:
    """Return what the table ``slabs``, in order of size, wastes of the ``demand``."""
    place = class_of_steps([slab.size for slab in slabs])
    size = np.array([slab.size for slab in slabs], dtype=np.float64)
    live = _by_class(place, demand.live, len(slabs))
    count = _by_class(place, demand.count, len(slabs))
    inside = live @ size - demand.live_asked.sum()
    often = (count @ size - demand.asked.sum()) / max(demand.requests, 1.0)
    filled = live / np.array([slab.capacity for slab in slabs])
    tail = np.array([slab.tail for slab in slabs])
    used = live > 0
    return Waste(
        peak=float(inside),
        tail=float(np.floor(filled) @ tail),
        ends=float(used.sum() * SYSTEM_PAGE / 2),
        per_request=float(often),
    )


def slab_traffic(flow: Flow, slabs: Sequence[Slab]) -> Ints:
    """Return for each class how often it needs one slab more than it had, with one kept empty.

    Each is a slab that is made, and later released: page traffic. A class whose live blocks swing
    about the border of a slab does not count twice, since one empty slab stays.
    """
    place = class_of_steps([slab.size for slab in slabs])[flow.step]
    made = np.zeros(len(slabs), dtype=np.int64)
    for index, slab in enumerate(slabs):
        live = np.cumsum(flow.change[place == index])
        if len(live):
            made[index] = _rises(-(-live // slab.capacity))
    return made


def _rises(slabs: Ints) -> int:
    """Return the slabs made: rises beyond what is kept, which follows down with one to spare."""
    changed = slabs[np.flatnonzero(np.diff(slabs, prepend=0))]
    kept = made = 0
    for needed in changed.tolist():
        if needed > kept:
            made += needed - kept
            kept = needed
        elif needed < kept - 1:
            kept = needed + 1
    return made


def walks(flow: Flow, sizes: Sequence[int]) -> dict[tuple[int, int], Ints]:
    """Return by (thread, class index) the changes of that thread's magazine: +1 freed, -1 taken."""
    place = class_of_steps(sizes)[flow.step]
    key = flow.thread * len(sizes) + place
    order = np.argsort(key, kind="stable")
    keys, changes = key[order], -flow.change[order]
    if not len(keys):
        return {}
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    pieces = np.split(changes, starts[1:])
    names = [divmod(int(keys[start]), len(sizes)) for start in starts]
    return dict(zip(names, pieces, strict=True))


def trips(walk: Ints, depth: int) -> int:
    """Return how often a magazine of ``depth`` slots is refilled or emptied, by half its depth."""
    half = max(1, depth // 2)
    held = made = 0
    for change in walk.tolist():
        held += change
        if held < 0:
            held += half
            made += 1
        elif held > depth:
            held -= half
            made += 1
    return made


def trips_of(pieces: dict[tuple[int, int], Ints], depths: Sequence[int]) -> Ints:
    """Return the trips of each class over all threads, with these depths."""
    total = np.zeros(len(depths), dtype=np.int64)
    for (_, index), walk in pieces.items():
        total[index] += trips(walk, depths[index])
    return total


def _by_class(place: Ints, values: Floats, classes: int) -> Floats:
    return np.bincount(place, values, minlength=classes).astype(np.float64)
