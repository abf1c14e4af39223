"""Which workloads press on the instruction cache: measured, not declared."""

from __future__ import annotations

from pipeline.judge.model import WorkloadCounts

PRESSURE_FLOOR = 0.05
"""Misses per operation below which a workload does not press on the I-cache.

One miss in twenty operations costs under one cycle per operation when it hits L2."""


def presses(workload: WorkloadCounts) -> bool:
    """Tell whether the misses of a workload are known, and not near zero on both sides."""
    baseline, tuned = workload.baseline.i1_misses, workload.tuned.i1_misses
    if baseline is None or tuned is None:
        return False
    return max(baseline.value, tuned.value) >= PRESSURE_FLOOR
