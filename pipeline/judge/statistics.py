"""All statistics of the judge: pure functions of numbers, no clocks, no files.

A *pair* is one run of the baseline next to one run of the tuned library. Pairs are compared on
the log scale, where twice as fast and half as fast lie equally far from equal. Everything that
leaves this module is back on the ratio scale: tuned / baseline, 1.0 means equal.

The median of one workload has an exact interval: between the k-th lowest and the k-th highest
pair, by the binomial distribution, whatever the noise is like. A mean of medians has none; its
interval is a bootstrap.

Sources: David & Nagaraja, Order Statistics (the median's interval); Efron & Tibshirani, An
Introduction to the Bootstrap (percentile interval); Hesterberg 2015, What Teachers Should Know
About the Bootstrap (its small-sample expansion); Schuirmann 1987 (two one-sided tests);
Satterthwaite 1946 (degrees of freedom of a sum); Lan & DeMets 1983 (each look spends alpha by its
share of the budget), with Bonferroni in place of their correlations.

scipy.stats takes most of a second to load, so each function that needs it imports it: a build that
has nothing to do computes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RESAMPLES = 4999
"""Bootstrap resamples: the ends of the interval then wobble by a few per cent of its width."""

IN_A_TAIL = 25
"""Resamples beyond each end of an interval, at least: of fewer, the end would be one of chance."""

MOST_RESAMPLES = 200_000

TINY = 1e-9
"""More than rounding moves a probability, less than anything that is meant."""

BATCH = 2_000_000
"""Numbers drawn at once: 16 MB, however many pairs there are."""

ALPHA = 0.05
"""Chance of a wrong interval over all looks at one comparison."""


@dataclass(frozen=True)
class Interval:
    """An estimated ratio (tuned / baseline) with the ends of its confidence interval."""

    value: float
    low: float
    high: float
    confidence: float

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ValueError(f"interval out of order: {self.low} {self.value} {self.high}")


def log_ratios(baseline: Sequence[float], tuned: Sequence[float]) -> Array:
    """Return ln(tuned / baseline) pair by pair.

    Raises ValueError for lists of unequal length, empty lists, and values that are not positive
    and finite: a rate of zero is a failed measurement, not a slow one.
    """
    base, tune = np.asarray(baseline, dtype=float), np.asarray(tuned, dtype=float)
    if base.shape != tune.shape or base.ndim != 1 or base.size == 0:
        raise ValueError(f"need two lists of equal length, got {base.size} and {tune.size}")
    both = np.concatenate([base, tune])
    if not (np.isfinite(both).all() and (both > 0).all()):
        raise ValueError("rates must be positive and finite")
    ratios: Array = np.log(tune) - np.log(base)
    return ratios


def normalised(weights: Sequence[float]) -> Array:
    """Return the weights scaled to a sum of 1. Raises ValueError unless all are above zero."""
    given = np.asarray(weights, dtype=float)
    if given.size == 0 or not (np.isfinite(given).all() and (given > 0).all()):
        raise ValueError("weights must be positive and finite")
    scaled: Array = given / given.sum()
    return scaled


def overall_ratio(
    samples: Sequence[Array], weights: Sequence[float], confidence: float, seed: int
) -> Interval:
    """Return the weighted geometric mean, over workloads, of the median ratio within each.

    ``samples`` holds one array of log ratios per workload. The interval comes from resampling
    pairs within each workload, as often as there are pairs in it.
    """
    if len(samples) != len(weights):
        raise ValueError(f"{len(samples)} workloads but {len(weights)} weights")
    scaled = normalised(weights)

    def statistic(*drawn: Array, axis: int = -1) -> Array:
        medians = [np.median(one, axis=axis) for one in drawn]
        total: Array = np.tensordot(scaled, np.stack(medians), axes=1)
        return total

    centre = float(statistic(*samples))
    level = expanded_confidence(confidence, effective_pairs(samples, scaled))
    low, high = _percentiles(samples, statistic, level, seed)
    return Interval(
        value=math.exp(centre),
        low=math.exp(min(low, centre)),
        high=math.exp(max(high, centre)),
        confidence=confidence,
    )


def median_ratio(sample: Array, confidence: float) -> Interval:
    """Return the median ratio of one workload between two of its pairs, by the binomial.

    The ends are as close as ``confidence`` allows, and the interval says what it really has: that
    is more, or less where there are fewer than ``least_pairs(confidence)``; then it goes from the
    lowest pair to the highest.
    """
    from scipy import stats

    ordered, half = np.sort(sample), stats.binom(sample.size, 0.5)
    missing = (1 - confidence) / 2 * (1 + TINY)
    spared = int(half.ppf(missing))
    if spared > 0 and half.cdf(spared) > missing:
        spared -= 1
    return Interval(
        value=math.exp(float(np.median(sample))),
        low=math.exp(float(ordered[spared])),
        high=math.exp(float(ordered[-1 - spared])),
        confidence=1 - 2 * float(half.cdf(spared)),
    )


def least_pairs(confidence: float) -> int:
    """Return the fewest pairs whose lowest and highest hold the median so surely."""
    return math.ceil(1 - math.log2(1 - confidence) - TINY)


def noise(sample: Array) -> float:
    """Return the spread of one pair: median absolute deviation, scaled to a standard deviation."""
    from scipy import stats

    return float(stats.median_abs_deviation(sample, scale="normal"))


def ratio_of_medians(
    ours: Sequence[float], theirs: Sequence[float], confidence: float, seed: int
) -> Interval:
    """Return median(ours) / median(theirs) of runs in turn, resampled in pairs.

    What slows the machine down slows both of a pair. Widened for few pairs, as all intervals here.
    """
    pairs = (np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float))

    def statistic(one: Array, other: Array, axis: int = -1) -> Array:
        ratio: Array = np.median(one, axis=axis) / np.median(other, axis=axis)
        return ratio

    centre = float(statistic(*pairs))
    level = expanded_confidence(confidence, len(ours))
    low, high = _percentiles(pairs, statistic, level, seed, paired=True)
    return Interval(centre, min(low, centre), max(high, centre), confidence)


def _percentiles(
    samples: Sequence[Array],
    statistic: Callable[..., Array],
    level: float,
    seed: int,
    *,
    paired: bool = False,
) -> tuple[float, float]:
    if all(np.ptp(one) == 0 for one in samples):
        centre = float(statistic(*samples))
        return centre, centre
    from scipy import stats

    result = stats.bootstrap(
        tuple(samples),
        statistic,
        n_resamples=resamples(level),
        batch=max(1, BATCH // max(one.size for one in samples)),
        confidence_level=level,
        method="percentile",
        paired=paired,
        vectorized=True,
        rng=np.random.default_rng(seed),
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def resamples(level: float) -> int:
    """Return how many resamples an interval of this level takes: enough in each of its tails.

    With two pairs the level is 1 as far as a float can tell: the interval has all that was seen.
    """
    missing = max(1 - level, 2 * IN_A_TAIL / MOST_RESAMPLES)
    return max(RESAMPLES, math.ceil(2 * IN_A_TAIL / missing))


def effective_pairs(samples: Sequence[Array], scaled: Array) -> float:
    """Return how many pairs of one workload would tell the overall ratio as surely (Satterthwaite).

    Quiet workloads and equal shares add their pairs up; one that blurs the whole counts alone.
    """
    blurs = [float(np.var(one) / one.size) * w * w for one, w in zip(samples, scaled, strict=True)]
    if sum(blurs) == 0:
        return float(min(one.size for one in samples))
    parts = [blur * blur / (one.size - 1) for blur, one in zip(blurs, samples, strict=True)]
    return 1 + float(sum(blurs)) ** 2 / float(sum(parts))


def expanded_confidence(confidence: float, pairs: float) -> float:
    """Return the nominal level whose percentile interval covers ``confidence`` with few pairs.

    A percentile interval is too narrow by about sqrt((n-1)/n), and uses normal where Student's t
    belongs; Hesterberg's expansion undoes both.
    """
    if pairs < 2:
        raise ValueError("an interval needs at least two pairs")
    from scipy import stats

    quantile = stats.t.ppf((1 - confidence) / 2, pairs - 1) * math.sqrt(pairs / (pairs - 1))
    return 1 - 2 * float(stats.norm.cdf(quantile))


def confidence(share: float, comparisons: int = 1) -> float:
    """Return the confidence of one interval that may use ``share`` of ALPHA (Bonferroni).

    The shares of all looks at one comparison add up to 1. ``comparisons`` is how many intervals
    are looked at each time.
    """
    if not 0 < share <= 1:
        raise ValueError(f"a look may use more than none and at most all of alpha, not {share}")
    return 1 - ALPHA * share / comparisons


def times_as_much(interval: Interval, margin: float) -> float | None:
    """Return about how many times as much measuring would decide, if the estimate stays.

    The interval narrows with the root of the number of pairs. None when the estimate lies on a
    border, where no number of pairs is enough. Of a wide interval nobody knows where its middle
    will lie: that is much, but not None.
    """
    centre = math.log(interval.value)
    gap = min(abs(centre - math.log1p(margin)), abs(centre - math.log1p(-margin)))
    half = half_width(interval)
    if gap < half / 100 and not is_wide(interval, margin):
        return None
    return max(1.0, (half / max(gap, half / 100)) ** 2)


def is_wide(interval: Interval, margin: float) -> bool:
    """Return whether an interval reaches further than the margin to each side of its middle."""
    return half_width(interval) > margin


def half_width(interval: Interval) -> float:
    """Return half of what an interval spans, in log ratio."""
    return (math.log(interval.high) - math.log(interval.low)) / 2
