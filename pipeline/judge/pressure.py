"""Which workloads press on the instruction cache: measured, not declared."""

from __future__ import annotations

from pipeline.judge.model import LibraryCounts

PRESSURE_FLOOR = 0.05
"""Misses per operation below which a workload does not press on the I-cache.

One miss in twenty operations costs under one cycle per operation when it hits L2."""


def presses(*builds: LibraryCounts) -> bool:
    """Tell whether any of the builds that were counted in a workload has misses not near zero.

    Unknown misses tell nothing of pressure.
    """
    misses = (counts.i1_misses for counts in builds)
    return any(known is not None and known.value >= PRESSURE_FLOOR for known in misses)
