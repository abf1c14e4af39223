"""The statistics against known answers, and their error rates on synthetic data."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from pipeline.judge import statistics as st

Draw = Callable[[np.random.Generator, int], st.Array]


@pytest.fixture(autouse=True)
def fewer_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate thousands of judgements in seconds; 999 resamples are enough to see coverage."""
    monkeypatch.setattr(st, "RESAMPLES", 999)


def normal(rng: np.random.Generator, pairs: int) -> st.Array:
    return rng.normal(0.0, 0.03, pairs)


def heavy_tails(rng: np.random.Generator, pairs: int) -> st.Array:
    return rng.standard_t(3, pairs) * 0.02


def order_bias(rng: np.random.Generator, pairs: int) -> st.Array:
    """Whoever runs second is slower: with balanced order the ratios have two humps."""
    ratios: st.Array = rng.normal(0.0, 0.01, pairs) + np.tile([0.02, -0.02], pairs // 2)
    return ratios


def test_log_ratios_are_paired() -> None:
    ratios = st.log_ratios([100.0, 200.0], [200.0, 100.0])
    assert ratios == pytest.approx([math.log(2), -math.log(2)])


@pytest.mark.parametrize(
    ("baseline", "tuned"),
    [([], []), ([1.0], [1.0, 2.0]), ([0.0], [1.0]), ([1.0], [math.nan]), ([1.0], [-3.0])],
)
def test_log_ratios_refuse_what_was_not_measured(baseline: list[float], tuned: list[float]) -> None:
    with pytest.raises(ValueError, match=r"equal length|positive"):
        st.log_ratios(baseline, tuned)


def test_median_ratio_of_a_constant_speedup_is_exact() -> None:
    sample = st.log_ratios([100.0] * 10, [110.0] * 10)
    interval = st.median_ratio(sample, 0.95)
    assert (interval.low, interval.value, interval.high) == pytest.approx((1.1, 1.1, 1.1))


def test_median_ratio_ignores_one_disturbed_pair() -> None:
    tuned = [102.0 + 0.01 * number for number in range(9)] + [20.0]
    interval = st.median_ratio(st.log_ratios([100.0] * 10, tuned), 0.95)
    assert interval.value == pytest.approx(1.02, abs=0.001)


def test_overall_is_the_weighted_geometric_mean() -> None:
    samples = [st.log_ratios([1.0] * 10, [2.0] * 10), st.log_ratios([1.0] * 10, [0.5] * 10)]
    assert st.overall_ratio(samples, [1, 1], 0.95, 1).value == pytest.approx(1.0)
    assert st.overall_ratio(samples, [3, 1], 0.95, 1).value == pytest.approx(2**0.5)
    assert st.overall_ratio(samples, [30, 10], 0.95, 1).value == pytest.approx(2**0.5)


def test_overall_refuses_bad_weights() -> None:
    sample = st.log_ratios([1.0] * 10, [1.0] * 10)
    for weights in ([0.0], [-1.0], [math.nan], [1.0, 1.0]):
        with pytest.raises(ValueError, match="weight"):
            st.overall_ratio([sample], weights, 0.95, 1)


def test_swapping_the_labels_turns_the_interval_over() -> None:
    rng = np.random.default_rng(3)
    baseline, tuned = rng.lognormal(0, 0.05, 20), rng.lognormal(0.03, 0.05, 20)
    forth = st.median_ratio(st.log_ratios(list(baseline), list(tuned)), 0.95)
    back = st.median_ratio(st.log_ratios(list(tuned), list(baseline)), 0.95)
    assert back.value == pytest.approx(1 / forth.value)
    # The ends come from random resamples: alike up to a part of the interval's width.
    wobble = 0.15 * (forth.high - forth.low)
    assert back.low == pytest.approx(1 / forth.high, abs=wobble)
    assert back.high == pytest.approx(1 / forth.low, abs=wobble)


def test_random_labels_have_no_effect_on_average() -> None:
    """A real 10 % gain vanishes when each pair's labels are thrown by a coin."""
    rng = np.random.default_rng(4)
    gain = rng.normal(math.log(1.1), 0.01, 40)
    covered = 0
    for _ in range(100):
        signs = rng.choice([-1.0, 1.0], gain.size)
        interval = st.median_ratio(gain * signs, 0.95)
        covered += interval.low <= 1 <= interval.high
    assert covered >= 88


def test_the_same_seed_gives_the_same_interval() -> None:
    sample = normal(np.random.default_rng(5), 10)
    assert st.median_ratio(sample, 0.95) == st.median_ratio(sample, 0.95)


@pytest.mark.parametrize("pairs", [10, 14, 20, 200])
@pytest.mark.parametrize("wanted", [0.95, 1 - 0.05 / 8 / 16])
def test_an_interval_says_what_holds(pairs: int, wanted: float) -> None:
    """Between the k-th lowest and the k-th highest of n lies the median, by the binomial."""
    sample = np.arange(1.0, pairs + 1)
    interval = st.median_ratio(sample, wanted)
    lowest = round(math.log(interval.low))
    below = sum(math.comb(pairs, few) for few in range(lowest)) / 2**pairs
    assert math.log(interval.high) == pytest.approx(pairs + 1 - lowest)
    assert interval.confidence == pytest.approx(1 - 2 * below, abs=1e-12)
    if pairs >= st.least_pairs(wanted):
        assert interval.confidence >= wanted
        narrower = sum(math.comb(pairs, few) for few in range(lowest + 1)) / 2**pairs
        assert 1 - 2 * narrower < wanted
    else:
        assert (pairs, lowest) == (10, 1)
        assert interval.confidence == pytest.approx(1 - 2**-9)


def test_how_many_pairs_a_level_takes() -> None:
    assert st.least_pairs(1 - 2**-9) == 10
    assert st.least_pairs(1 - 2**-9 + 1e-6) == 11
    assert st.least_pairs(1 - 0.05 / 8 / 16) == 13


def test_the_tail_of_a_bootstrap_has_resamples_in_it() -> None:
    assert st.resamples(0.5) == st.RESAMPLES
    assert st.resamples(1 - 1e-3) * 1e-3 / 2 >= 20
    assert st.resamples(1.0) == st.MOST_RESAMPLES


def test_two_pairs_have_an_interval_of_all_that_was_seen() -> None:
    """Their level is 1 as far as a float can tell, as in the first block of a search."""
    quiet, loud = np.zeros(2), np.array([-0.1, 0.3])
    found = st.overall_ratio([quiet, loud], [1.0, 1.0], 0.95, seed=1)
    assert found.low == pytest.approx(math.exp(-0.05))
    assert found.high == pytest.approx(math.exp(0.15))


@pytest.mark.parametrize("pairs", [10, 20])
@pytest.mark.parametrize("draw", [normal, heavy_tails, order_bias])
@pytest.mark.parametrize("confidence", [0.95, st.confidence(1 / 3)])
def test_the_interval_covers_the_truth_as_often_as_it_says(
    pairs: int, draw: Draw, confidence: float
) -> None:
    rng, trials = np.random.default_rng(6), 400
    covered = 0
    for _ in range(trials):
        interval = st.median_ratio(draw(rng, pairs), confidence)
        covered += interval.low <= 1 <= interval.high
    # Four standard errors of a proportion below the promise: chance alone does not get there.
    slack = 4 * math.sqrt(confidence * (1 - confidence) / trials)
    assert covered / trials >= confidence - slack


@pytest.mark.parametrize("pairs", [10, 14])
def test_the_overall_interval_of_few_pairs_is_wider_than_its_percentiles(pairs: int) -> None:
    few = np.random.default_rng(pairs).normal(0, 0.01, pairs)
    low, high = st._percentiles([few], np.median, 0.95, seed=1)
    found = st.overall_ratio([few], [1.0], 0.95, seed=1)
    assert found.low < math.exp(low) and math.exp(high) < found.high


def test_the_overall_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng, trials = np.random.default_rng(8), 300
    covered = 0
    for seed in range(trials):
        samples = [normal(rng, 10) + math.log(1.02) for _ in range(5)]
        interval = st.overall_ratio(samples, [1, 2, 3, 1, 1], 0.95, seed)
        covered += interval.low <= 1.02 <= interval.high
    assert covered / trials >= 0.95 - 4 * math.sqrt(0.05 * 0.95 / trials)


def test_an_interval_shrinks_with_the_number_of_pairs() -> None:
    rng = np.random.default_rng(11)
    few, many = (st.median_ratio(normal(rng, pairs), 0.95) for pairs in (10, 160))
    assert many.high - many.low < (few.high - few.low) / 2


def test_expansion_widens_small_samples_and_leaves_large_ones() -> None:
    assert st.expanded_confidence(0.95, 10) == pytest.approx(0.9829, abs=0.0005)
    assert st.expanded_confidence(0.95, 10_000) == pytest.approx(0.95, abs=0.0005)
    with pytest.raises(ValueError, match="two pairs"):
        st.expanded_confidence(0.95, 1)


def test_effective_pairs_count_one_heavy_workload_as_one() -> None:
    rng = np.random.default_rng(12)
    samples = [rng.normal(0, 0.01, 10) for _ in range(4)]
    alike = [samples[0]] * 4
    assert st.effective_pairs(alike, st.normalised([1, 1, 1, 1])) == pytest.approx(1 + 4 * 9)
    assert st.effective_pairs(samples, st.normalised([1e6, 1, 1, 1])) == pytest.approx(10, abs=0.01)


def test_effective_pairs_count_one_noisy_workload_as_one() -> None:
    rng = np.random.default_rng(13)
    samples = [rng.normal(0, 1.0, 12), *(rng.normal(0, 0.001, 100) for _ in range(3))]
    scaled = st.normalised([1, 1, 1, 1])
    assert st.effective_pairs(samples, scaled) == pytest.approx(12, abs=0.1)
    assert st.effective_pairs([np.zeros(10), np.zeros(20)], st.normalised([1, 1])) == 10


def test_all_looks_together_err_by_alpha() -> None:
    assert st.confidence(1.0) == pytest.approx(0.95)
    spent = sum(1 - st.confidence(share) for share in (1 / 8, 1 / 8, 1 / 4, 1 / 2))
    assert spent == pytest.approx(st.ALPHA)
    assert 14 * (1 - st.confidence(0.5, 14)) == pytest.approx(st.ALPHA / 2)


@pytest.mark.parametrize("share", [0.0, -0.1, 1.01])
def test_a_look_uses_some_of_alpha_and_not_more_than_there_is(share: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        st.confidence(share)


def test_how_many_times_as_much_would_decide() -> None:
    wide = st.Interval(value=1.0, low=0.98, high=1.02, confidence=0.95)
    # Half width 2 %, wanted 1 %: four times as much.
    assert st.times_as_much(wide, 0.01) == pytest.approx(4, rel=0.03)
    border = st.Interval(value=1.01, low=1.005, high=1.015, confidence=0.95)
    assert st.times_as_much(border, 0.01) is None
    unknown = st.Interval(value=1.01, low=0.99, high=1.03, confidence=0.95)
    assert st.times_as_much(unknown, 0.01) == pytest.approx(10_000)
    clear = st.Interval(value=1.2, low=1.19, high=1.21, confidence=0.95)
    assert st.times_as_much(clear, 0.01) == 1


def test_an_interval_knows_its_order() -> None:
    with pytest.raises(ValueError, match="order"):
        st.Interval(value=1.0, low=1.1, high=1.2, confidence=0.95)
