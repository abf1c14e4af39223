"""What is shown of a quantity is a value first, and a word for people from that."""

from __future__ import annotations

import pytest
from judge_support import pairs, result_of, throughput_of

from pipeline.judge.memory_key import LEANER, judge_memory
from pipeline.judge.model import Key
from pipeline.judge.outcome import Outcome, memory_outcome, part_of, speed_outcome, speed_word
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict

KEY = result_of(throughput_of(loop=pairs(1.0))).keys.throughput
SHOWN = {
    (1.02, 1.04): Outcome.BETTER,
    (1.005, 1.04): Outcome.LITTLE_BETTER,
    (0.999, 1.001): Outcome.ALIKE,
    (0.96, 0.995): Outcome.LITTLE_WORSE,
    (0.95, 0.97): Outcome.WORSE,
    (0.96, 1.04): Outcome.UNDECIDED,
    (0.5, 1.9): Outcome.NOISE,
}


def key_of(low: float, high: float) -> Key:
    middle = (low * high) ** 0.5
    return part_of(KEY, Interval(value=middle, low=low, high=high, confidence=0.95))


@pytest.mark.parametrize(("ends", "shown"), SHOWN.items(), ids=str)
def test_an_interval_shows_one_thing(ends: tuple[float, float], shown: Outcome) -> None:
    assert speed_outcome(key_of(*ends)) is shown


def test_a_little_more_memory_is_a_little_worse() -> None:
    assert memory_outcome(key_of(1.005, 1.04)) is Outcome.LITTLE_WORSE
    assert memory_outcome(key_of(0.96, 0.995)) is Outcome.LITTLE_BETTER


@pytest.mark.parametrize(
    ("ends", "shown"),
    [((0.952, 0.979), Outcome.LITTLE_BETTER), ((0.972, 0.99), Outcome.ALIKE)],
)
def test_memory_that_does_not_rise_is_as_lean_only_inside_the_margin(
    ends: tuple[float, float], shown: Outcome
) -> None:
    ratio = Interval(value=0.975, low=ends[0], high=ends[1], confidence=0.95)
    verdict = judge_memory(ratio)
    key = KEY.model_copy(update={"verdict": verdict, "ratio": ratio, "margin": LEANER})
    assert verdict is Verdict.NEUTRAL and memory_outcome(key) is shown


def test_a_change_has_one_word_whether_or_not_it_is_beyond_the_margin() -> None:
    words = [speed_word(key_of(*ends)) for ends in SHOWN]
    assert words[0] == words[1] == "faster" and words[3] == words[4] == "slower"
    assert len(set(words)) == len(Outcome) - 2
