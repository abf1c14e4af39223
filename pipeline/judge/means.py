"""Means over workloads by their weights: one place, so that no two parts mean another thing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from pipeline.judge.counts import Measured


def weighted_mean(values: Iterable[tuple[float, float | None]]) -> float | None:
    """Return the mean of pairs of weight and value; None for none, or if any value is unknown."""
    rows = list(values)
    known = [(weight, value) for weight, value in rows if value is not None]
    if not rows or len(known) < len(rows):
        return None
    total = sum(weight for weight, _ in rows)
    return sum(weight / total * value for weight, value in known)


def shares(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the share of each weight in their sum, to a millionth: all scaled alike are equal."""
    total = sum(weights.values())
    return {name: round(weight / total, 6) for name, weight in weights.items()}


def mean_count(values: Iterable[tuple[float, Measured | int | None]]) -> float | None:
    """Return the mean of pairs of weight and count, as `weighted_mean` does."""
    return weighted_mean(
        (weight, count.value if isinstance(count, Measured) else count) for weight, count in values
    )


def geometric_mean(values: Iterable[tuple[float, float]]) -> float:
    """Return the geometric mean of pairs of weight and value; ValueError for none."""
    mean = weighted_mean((weight, math.log(value)) for weight, value in values)
    if mean is None:
        raise ValueError("there is no mean of nothing")
    return math.exp(mean)
