"""Misses over the size of the instruction cache, from the counts of the judge."""

from __future__ import annotations

from collections import defaultdict

from pipeline.evidence.model import CurvePoint
from pipeline.judge.counts import Counting, WorkloadCounts
from pipeline.judge.means import mean_count
from pipeline.judge.request import CacheGeometry

Rows = list[WorkloadCounts]


def curve_points(counting: Counting) -> tuple[CurvePoint, ...]:
    """Return the weighted misses of both builds in each cache, the smallest first.

    One cache is no curve. Of two caches of one size it is the judged one that counts.
    """
    swept = set(swept_workloads(counting))
    found: dict[CacheGeometry, Rows] = defaultdict(list)
    for one in (*counting.workloads, *counting.curve):
        if one.name in swept and one.geometry is not None:
            found[one.geometry].append(one)
    complete = {cache: rows for cache, rows in found.items() if len(rows) == len(swept)}
    complete = _one_per_size(complete)
    if len(complete) < 2:
        return ()
    return tuple(
        CurvePoint(
            geometry=cache,
            baseline=mean_count((one.weight, one.baseline.i1_misses) for one in complete[cache]),
            tuned=mean_count((one.weight, one.tuned.i1_misses) for one in complete[cache]),
        )
        for cache in sorted(complete, key=lambda cache: cache.size)
    )


def swept_workloads(counting: Counting) -> tuple[str, ...]:
    """Return the workloads that the curve is of: those counted in further caches."""
    return tuple(dict.fromkeys(one.name for one in counting.curve))


def _one_per_size(caches: dict[CacheGeometry, Rows]) -> dict[CacheGeometry, Rows]:
    """Keep the first cache of each size: those of the judged counts come first."""
    first = {cache.size: cache for cache in reversed(caches)}
    return {cache: rows for cache, rows in caches.items() if first[cache.size] == cache}
