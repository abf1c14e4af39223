"""Means of counts over workloads, by weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.judge.counts import LibraryCounts, Measured
from pipeline.judge.means import weighted_mean

Counts = Mapping[str, LibraryCounts]
"""Counts of one build by workload."""


def weighted(
    counts: Counts, weights: Mapping[str, float], field: str, names: Sequence[str]
) -> float | None:
    """Return the mean of a field of LibraryCounts over the workloads ``names``, by weight.

    None where there is no workload, or the count is unknown in one of them.
    """
    return weighted_mean((weights[name], _value(getattr(counts[name], field))) for name in names)


def _value(count: Measured | float | None) -> float | None:
    return count.value if isinstance(count, Measured) else count
