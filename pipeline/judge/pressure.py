"""Which workloads press on the instruction cache: measured, not declared."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.judge.counts import LibraryCounts, WorkloadCounts

PRESSURE_FLOOR = 0.05
"""Misses per operation below which a workload does not press on the I-cache.

One miss in twenty operations costs under one cycle per operation when it hits L2."""


def presses(*builds: LibraryCounts) -> bool:
    """Return whether any of the builds that were counted in a workload has misses not near zero.

    Unknown misses tell nothing of pressure.
    """
    misses = (counts.i1_misses for counts in builds)
    return any(known is not None and known.value >= PRESSURE_FLOOR for known in misses)


def most_pressing(workloads: Sequence[WorkloadCounts]) -> str | None:
    """Return the workload with the most misses of both builds; None where none presses."""
    pressed = [one for one in workloads if presses(one.baseline, one.tuned)]
    return max(pressed, key=_misses).name if pressed else None


def _misses(workload: WorkloadCounts) -> float:
    both = (workload.baseline.i1_misses, workload.tuned.i1_misses)
    return sum(one.value for one in both if one is not None)
