"""What programs ask an allocator for: requests by size, in the steps a class table can tell apart.

Sizes up to SMALL_MAX matter in steps of 16 bytes, up to MEDIUM_MAX in steps of 256: a class can
end at these sizes only. Larger requests take whole pages and concern no table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.trace.read import Kind, Trace

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SMALL_STEP, SMALL_MAX = 16, 2048
MEDIUM_STEP, MEDIUM_MAX = 256, 65536

STEPS: Ints = np.concatenate(
    [
        np.arange(SMALL_STEP, SMALL_MAX + 1, SMALL_STEP),
        np.arange(SMALL_MAX + MEDIUM_STEP, MEDIUM_MAX + 1, MEDIUM_STEP),
    ]
).astype(np.int64)
"""The largest size of each step, in bytes: the candidates for the size of a class."""


@dataclass(frozen=True)
class Demand:
    """Requests by step (index into STEPS), as floats because traces are weighted.

    ``count`` requests of ``asked`` bytes together were made; ``live`` of them, with ``live_asked``
    bytes, were alive when most bytes were; ``most`` is the most alive at a time of each step.
    """

    count: Floats
    asked: Floats
    live: Floats
    live_asked: Floats
    most: Floats

    @property
    def peak_bytes(self) -> float:
        """Return the bytes alive at the peak, as they were asked for."""
        return float(self.live_asked.sum())

    @property
    def requests(self) -> float:
        """Return the number of requests that a class serves."""
        return float(self.count.sum())


@dataclass(frozen=True)
class Flow:
    """The births and deaths of one trace that a class table decides about, in order.

    ``step`` is an index into STEPS; ``change`` is 1 for a birth and -1 for a death; ``thread`` is
    who did it. A realloc is a death and a birth.
    """

    step: Ints
    change: Ints
    thread: Ints
    bytes: Ints


def step_of(sizes: NDArray[np.uint64] | Ints) -> Ints:
    """Return the step of each size in bytes; len(STEPS) for sizes that no class holds."""
    return np.searchsorted(STEPS, np.maximum(sizes.astype(np.int64), 1)).astype(np.int64)


def flow(trace: Trace) -> Flow:
    """Return births and deaths of a trace, those of sizes above MEDIUM_MAX left out.

    An aligned request counts as the size that the allocator rounds it up to.
    """
    rows = trace.rows
    align = np.left_shift(np.int64(1), rows["align"].astype(np.int64))
    after, before = rows["size"].astype(np.int64), rows["before"].astype(np.int64)
    after = -(-after // align) * align
    kind = np.asarray(rows["kind"])
    born = (kind <= Kind.ALIGNED) | (kind == Kind.REALLOC)
    died = ((kind == Kind.FREE) | (kind == Kind.REALLOC)) & (rows["object"] != 0xFFFFFFFF)
    # Two places for each event: what dies with it, then what is born by it.
    place = np.repeat(np.arange(len(rows)), 2)
    sizes = np.stack([before, after], axis=1).reshape(-1)
    real = np.stack([died & (before > 0), born], axis=1).reshape(-1)
    change = np.tile(np.array([-1, 1]), len(rows))
    step = step_of(sizes)
    kept = real & (step < len(STEPS))
    threads = rows["thread"].astype(np.int64)[place]
    return Flow(step[kept], change[kept], threads[kept], sizes[kept])


def demand(trace: Trace) -> Demand:
    """Return the demand of one trace: about a second for ten million events."""
    return demand_of(flow(trace))


def demand_of(events: Flow) -> Demand:
    """Return the demand of births and deaths."""
    born = events.change > 0
    width = len(STEPS)
    signed = events.bytes * events.change
    total = np.cumsum(signed)
    upto = int(total.argmax()) + 1 if len(total) else 0
    return Demand(
        count=_sums(events.step[born], None, width),
        asked=_sums(events.step[born], events.bytes[born], width),
        live=np.maximum(_sums(events.step[:upto], events.change[:upto], width), 0),
        live_asked=np.maximum(_sums(events.step[:upto], signed[:upto], width), 0),
        most=_most(events),
    )


def merge(parts: Sequence[tuple[Demand, float]]) -> Demand:
    """Return the weighted sum of demands, each scaled to the same peak and number of requests.

    Without the scaling the longest trace would decide alone.
    """
    if not parts:
        raise ValueError("there is no demand to merge")
    total = sum(weight for _, weight in parts)
    scaled = [_scaled(one, weight / total, parts[0][0]) for one, weight in parts]
    return Demand(
        *(
            np.sum([getattr(one, name) for one in scaled], axis=0)
            for name in ("count", "asked", "live", "live_asked", "most")
        )
    )


def _scaled(one: Demand, share: float, like: Demand) -> Demand:
    often = share * like.requests / max(one.requests, 1.0)
    large = share * like.peak_bytes / max(one.peak_bytes, 1.0)
    return Demand(
        one.count * often, one.asked * often, one.live * large, one.live_asked * large,
        one.most * large,
    )  # fmt: skip


def _sums(step: Ints, values: Ints | None, width: int) -> Floats:
    return np.bincount(step, values, minlength=width).astype(np.float64)


def _most(events: Flow) -> Floats:
    """Return for each step the most alive at a time: a running sum within each step."""
    most = np.zeros(len(STEPS))
    order = np.argsort(events.step, kind="stable")
    steps, change = events.step[order], events.change[order]
    if not len(steps):
        return most
    running = np.cumsum(change)
    starts = np.flatnonzero(np.concatenate([[True], steps[1:] != steps[:-1]]))
    before = np.concatenate([[0], running[starts[1:] - 1]])
    most[steps[starts]] = np.maximum.reduceat(running, starts) - before
    return np.maximum(most, 0)
