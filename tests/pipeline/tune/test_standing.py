"""What is said of a candidate by its intervals."""

from __future__ import annotations

import pytest
from tune_support import ground, run_sample

from pipeline.judge.samples import PairSample
from pipeline.judge.statistics import Interval
from pipeline.tune.standing import Standing, standing


@pytest.mark.parametrize(
    ("speed", "memory", "words", "wins"),
    [
        ((0.9993, 0.981, 1.0183), (1.0, 1.0, 1.0), "not shown", False),
        ((1.02, 1.01, 1.03), (1.0, 0.995, 1.005), "better in speed", True),
        ((1.02, 1.01, 1.03), (0.97, 0.96, 0.98), "better in speed, worse in memory", False),
        ((1.0, 0.98, 1.02), (1.03, 1.02, 1.04), "better in memory", False),
        ((0.997, 0.995, 0.999), (1.03, 1.02, 1.04), "worse in speed, better in memory", True),
        ((0.95, 0.94, 0.96), (1.0, 1.0, 1.0), "worse in speed", False),
    ],
)
def test_words_follow_the_intervals(
    speed: tuple[float, float, float], memory: tuple[float, float, float], words: str, wins: bool
) -> None:
    fast, lean = (
        Interval(value=value, low=low, high=high, confidence=0.95)
        for value, low, high in (speed, memory)
    )
    found = Standing(fast, lean, pairs=20, harm="", margin=0.01)
    assert found.words == words
    assert found.wins == wins


def test_what_keeps_a_gain_from_being_a_win_is_said() -> None:
    gain = Interval(value=1.02, low=1.01, high=1.03, confidence=0.95)
    wide = Interval(value=1.0, low=0.98, high=1.02, confidence=0.95)
    found = Standing(gain, wide, pairs=20, harm="", margin=0.01)
    assert (found.wins, found.words) == (False, "better in speed")
    assert found.risk == ", but a loss of memory beyond 1.0 % is possible"
    doubted = Standing(gain, gain, pairs=20, harm="", margin=0.01, doubt="two peaks at 9 KiB")
    assert (doubted.wins, doubted.risk) == (False, ", but two peaks at 9 KiB")
    assert Standing(gain, gain, pairs=20, harm="", margin=0.01).risk == ""


def test_a_workload_that_seems_to_take_more_memory_is_no_win_and_not_called_worse() -> None:
    """Its median is 15 % above, its runs lie between -10 and +30 %: that shows nothing."""

    def pairs(growth: list[float]) -> list[PairSample]:
        return [
            PairSample(
                round=number,
                first="baseline",
                padding=0,
                together=True,
                baseline=run_sample(1e6, 100_000),
                tuned=run_sample(1.05e6 + number, round(100_000 * (1 + grown))),
            )
            for number, grown in enumerate(growth)
        ]

    still = pairs([0.0] * 8)
    wide = standing(ground().request, {"one": still, "two": pairs([-0.1, 0.3, 0.25, 0.05] * 2)})
    sure = standing(ground().request, {"one": still, "two": pairs([0.2, 0.21, 0.22, 0.2] * 2)})
    assert "two peaks at" in sure.harm
    assert not sure.wins
    assert "two peaks at" in wide.doubt
    assert (wide.harm, wide.wins) == ("", False)
