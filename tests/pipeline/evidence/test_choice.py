"""The rule by which a build of the chain is chosen: every way it can go."""

from __future__ import annotations

import pytest

from pipeline.evidence.choice import Standing, choose
from pipeline.judge.statistics import Interval

ICACHE, SPEED = 0.05, 0.01


def speed(value: float, half: float = 0.002) -> Interval:
    return Interval(value=value, low=value - half, high=value + half, confidence=0.98)


def chain(**steps: tuple[float | None, Interval | None]) -> list[Standing]:
    return [Standing(name, misses, speed) for name, (misses, speed) in steps.items()]


def test_the_simplest_that_is_not_worse_on_both_keys_is_chosen() -> None:
    choice = choose(
        chain(
            baseline=(8.0, speed(0.9)),
            pgo=(6.0, speed(0.95)),
            lto=(5.2, speed(0.998)),
            context=(5.1, speed(1.0)),
            bolt=(5.0, None),
        ),
        ICACHE,
        SPEED,
    )
    assert choice.chosen == "lto"
    assert choice.few_misses == (False, False, True, True, True)
    assert choice.fast == (False, False, True, True, True)
    assert "lto is the simplest" in choice.reason


def test_too_little_seen_is_not_the_same_as_not_worse() -> None:
    steps = chain(baseline=(8.0, speed(0.9)), lto=(5.0, speed(1.0, 0.03)), bolt=(5.0, None))
    choice = choose(steps, ICACHE, SPEED)
    assert choice.chosen == "bolt"
    assert choice.fast == (False, False, True)
    assert "no simpler build is shown" in choice.reason


def test_more_misses_than_the_margin_rule_a_fast_build_out() -> None:
    steps = chain(baseline=(8.0, speed(0.9)), lto=(5.3, speed(1.0)), bolt=(5.0, None))
    assert choose(steps, ICACHE, SPEED).chosen == "bolt"


def test_a_simpler_build_that_is_better_than_the_full_one_is_the_measure() -> None:
    steps = chain(
        baseline=(8.0, speed(0.9)),
        pgo=(5.0, speed(1.0)),
        lto=(5.0, speed(1.05)),
        bolt=(5.0, None),
    )
    choice = choose(steps, ICACHE, SPEED)
    assert choice.chosen == "lto"
    assert choice.fast == (False, False, True, False)


def test_a_build_that_only_seems_better_is_no_measure() -> None:
    steps = chain(baseline=(8.0, speed(0.9)), lto=(5.0, speed(1.04, 0.045)), bolt=(5.0, None))
    assert choose(steps, ICACHE, SPEED).fast == (False, True, True)


def test_unknown_misses_are_never_few() -> None:
    steps = chain(baseline=(None, speed(1.0)), lto=(None, speed(1.0)), bolt=(None, None))
    choice = choose(steps, ICACHE, SPEED)
    assert choice.chosen == "bolt"
    assert choice.few_misses == (False, False, False)


def test_the_baseline_takes_no_part_and_is_named_if_it_is_as_good() -> None:
    steps = chain(baseline=(5.0, speed(1.0)), lto=(5.0, speed(1.0)), bolt=(5.0, None))
    choice = choose(steps, ICACHE, SPEED)
    assert choice.chosen == "lto"
    assert "so is the baseline" in choice.reason


def test_when_none_is_best_on_both_keys_all_steps_are_taken() -> None:
    steps = chain(baseline=(8.0, speed(0.9)), lto=(4.0, speed(0.9)), bolt=(5.0, None))
    choice = choose(steps, ICACHE, SPEED)
    assert choice.chosen == "bolt"
    assert "no build is shown to be the best in speed and in misses" in choice.reason


def test_a_chain_has_two_ends() -> None:
    with pytest.raises(ValueError, match="baseline and a full build"):
        choose(chain(bolt=(5.0, None)), ICACHE, SPEED)
