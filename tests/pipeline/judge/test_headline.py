"""The verdict in words: what the headline says of programs, loops and memory."""

from dataclasses import replace

import pytest
from judge_support import (
    MARGINS,
    interval,
    pair,
    pairs,
    result_of,
    throughput_of,
)

from pipeline.judge.headline import brief, headline, unclear_alone
from pipeline.judge.keys import throughput_key
from pipeline.judge.outcome import by_less, memory_of, speed_of
from pipeline.judge.verdict import Verdict

GO, NEUTRAL, NO_GO, INCONCLUSIVE = Verdict

AGAINST = "Against the baseline, the plain build of these same sources:"


def test_a_gain_of_all_that_no_part_shows_is_told_first() -> None:
    found = throughput_of(("git",), git=pairs(1.05), loop=pairs(1.05))
    wide = replace(found.overall, value=1.05, low=0.99, high=1.12)
    parts = found.model_copy(update={"programs": wide, "loops": wide})
    said = headline(result_of(parts))
    assert said.startswith(f"{AGAINST} faster (+5.")
    assert said.count(" alone has too few runs to show it: program git (+5.00 % [-1.00 %, ") == 1
    assert ", loops and replays (+5.00 % [-1.00 %, +12.00 %]);" in said
    assert brief(result_of(parts)).startswith(
        "faster (+5.0 %) over both workloads together, but each alone has too few runs to show it: "
        "program git (-1.0 to +12.0 %), loops and replays (-1.0 to +12.0 %); "
    )


def test_a_gain_of_all_names_how_many_there_are_and_a_part_that_shows_a_little() -> None:
    """ "Faster: not shown to be faster, not shown to be faster" was read as a contradiction."""
    found = throughput_of(("git",), git=pairs(1.05), a=pairs(1.05), b=pairs(1.05))
    wide = replace(found.overall, value=1.05, low=0.99, high=1.12)
    parts = found.model_copy(update={"programs": wide, "loops": wide})
    over = "faster (+5.0 %) over all 3 workloads together"
    why = ", but each kind alone has too few runs to show it: program git (-1.0 to +12.0 %), "
    assert brief(result_of(parts)).startswith(f"{over}{why}")
    low = found.model_copy(update={"programs": replace(wide, low=1.002), "loops": wide})
    little = brief(result_of(low.model_copy(update={"overall": interval(1.04, 1.06)})))
    assert " over all 3 workloads together: program git faster (by 0.2 to 12.0 %), loops" in little
    assert "too few runs" not in little


def test_so_is_a_gain_of_all_below_the_margin() -> None:
    found = throughput_of(("git",), git=pairs(1.02), loop=pairs(1.02))
    wide = replace(found.overall, value=1.016, low=0.987, high=1.05)
    small = replace(found.overall, value=1.016, low=1.006, high=1.029)
    said = headline(
        result_of(found.model_copy(update={"overall": small, "programs": wide, "loops": wide}))
    )
    assert said.startswith(f"{AGAINST} faster (+1.60 %")
    assert " over both workloads together, but each alone has too few runs to show it: " in said
    assert said.count("+1.60 % [-1.30 %, +5.00 %]") == 3  # as git, as the loop, and beside misses


def test_the_headline_is_in_words_and_names_programs() -> None:
    found = throughput_of(a=pairs(1.2, rss=(4096, 3800)), b=pairs(0.972), c=pairs(1.0))
    said = headline(result_of(found))
    assert said.startswith(f"{AGAINST} loops and replays faster (+")
    assert "; leaner (-" not in said
    assert "Faster: a +20.00 % [" in said and "]. Slower: b -2.80 % [" in said
    lean = headline(result_of(throughput_of(a=pairs(1.0, rss=(4096, 3800)))))
    assert "as fast (" in lean and "; leaner (-7.23 %" in lean
    assert "No workload is shown to differ by itself. No whole program was timed: " in lean


def test_the_figures_of_the_only_workload_are_told_once() -> None:
    """The page of a profile with one recording had the same interval six times."""
    said = headline(result_of(throughput_of(a=pairs(1.2))))
    assert " Faster: a. " in said
    assert said.count("+20.00 % [") == 1


def test_a_single_program_and_a_single_loop_are_told_once() -> None:
    """A loop was "faster", and then "no loop is shown to differ"."""
    noisy = [pair(n, 1e7, 1e7 * (1.009 + 0.008 * (-1) ** n), (4096, 4096)) for n in range(24)]
    one = headline(result_of(throughput_of(("kv",), kv=noisy, loop=noisy)))
    assert "program kv faster (+" in one
    assert not any(words in one for words in ("one by one", "differ by itself", "as lean: 1 of 1"))
    two = headline(result_of(throughput_of(("kv",), kv=noisy, loop=pairs(1.0), other=pairs(1.0))))
    assert "No loop or replay is shown to differ by itself." in two


def test_a_gain_below_the_margin_is_told_as_one() -> None:
    noisy = [pair(n, 1e7, 1e7 * (1.009 + 0.008 * (-1) ** n), (4096, 4096)) for n in range(24)]
    result = result_of(throughput_of(a=noisy))
    assert result.keys.throughput.verdict is INCONCLUSIVE
    told = f"{AGAINST} loops and replays faster (+"
    assert headline(result).startswith(told)
    (single,) = result.throughput.workloads
    ends = result.throughput.overall
    by = f"(by {(ends.low - 1) * 100:.1f} to {(ends.high - 1) * 100:.1f} %)"
    assert speed_of(single, result) == f"faster {by}"
    assert brief(result).startswith(f"loops and replays faster {by}, no whole program timed")


def test_the_table_says_of_a_program_what_the_headline_says_of_the_same_interval() -> None:
    """A program was "faster" in the one, and "undecided" in the other."""
    noisy = [pair(n, 1e7, 1e7 * (1.01 + 0.006 * (-1) ** n), (4096, 4096)) for n in range(60)]
    result = result_of(throughput_of(("kv",), kv=noisy, loop=pairs(1.2)))
    assert "program kv faster (+" in headline(result)
    assert speed_of(result.throughput.workloads[0], result).startswith("faster (by 0.")


def test_a_loop_with_a_gain_below_the_margin_is_named() -> None:
    """The headline said that no loop differs, and the table below that one is faster."""
    noisy = [pair(n, 1e7, 1e7 * (1.01 + 0.006 * (-1) ** n), (4096, 4096)) for n in range(60)]
    said = headline(result_of(throughput_of(("git",), git=pairs(1.0), loop=noisy)))
    assert "Loops and replays that are faster: loop +1.00 % [" in said
    assert "is shown to differ by itself" not in said
    assert not unclear_alone(result_of(throughput_of(("git",), git=pairs(1.0), loop=noisy)))


def test_a_single_workloads_memory_has_the_words_of_its_key() -> None:
    noisy = pairs(1.0)
    result = result_of(throughput_of(a=noisy))
    (single,), key = result.throughput.workloads, result.keys.memory
    assert key is not None
    ratio = interval(0.96, 0.99)
    less = key.model_copy(update={"verdict": INCONCLUSIVE, "ratio": ratio})
    told = result.model_copy(
        update={"keys": result.keys.model_copy(update={"memory": less})},
    )
    assert memory_of(single, told) == "leaner (by 1.0 to 4.0 %)"
    assert "; leaner than the plain build (by 1.0 to 4.0 %);" in brief(told)


@pytest.mark.parametrize(
    ("verdict", "says"),
    [
        (GO, "leaner than the plain build"),
        (NEUTRAL, "as lean as the plain build"),
        (INCONCLUSIVE, "not shown to be leaner or fatter than the plain build"),
    ],
)
def test_the_headline_says_what_memory_is_compared_with(verdict: Verdict, says: str) -> None:
    result = result_of(throughput_of(a=pairs(1.0)))
    assert result.keys.memory is not None
    memory = result.keys.memory.model_copy(update={"verdict": verdict, "ratio": None})
    keys = result.keys.model_copy(update={"memory": memory})
    assert f"; {says}; I-cache" in brief(result.model_copy(update={"keys": keys}))


@pytest.mark.parametrize(
    ("verdict", "low", "high", "says"),
    [
        (INCONCLUSIVE, 1.005, 1.03, "up (by 0.5 to 3.0 %)"),
        (INCONCLUSIVE, 0.97, 0.995, "down (by 0.5 to 3.0 %)"),
        (INCONCLUSIVE, 1.0004, 1.0113, "up (by up to 1.1 %)"),
        (INCONCLUSIVE, 0.98, 1.03, None),
        (INCONCLUSIVE, 1.02, 1.03, None),  # of a gain beyond the margin something else is in doubt
        (GO, 1.005, 1.03, None),
    ],
)
def test_a_change_below_the_margin_has_one_wording(
    verdict: Verdict, low: float, high: float, says: str | None
) -> None:
    key = throughput_key(throughput_of(a=pairs(1.0)), MARGINS)
    told = key.model_copy(update={"verdict": verdict, "ratio": interval(low, high)})
    assert by_less(told, above="up", below="down") == says


def test_the_headline_says_of_each_real_program_what_is_shown() -> None:
    found = throughput_of(
        ("git", "gcc", "perl"),
        git=pairs(1.05, rss=(40_000, 36_000)),
        gcc=pairs(1.0),
        perl=pairs(1.0, noise=15),
        loop=pairs(1.2),
    )
    said = headline(result_of(found))
    assert "programs faster (+1.64 % [" in said
    assert "faster: git +5.00 % [" in said
    assert "; as fast: gcc +0.00 % [" in said
    assert "; undecided: perl. " in said
    assert (
        "Memory of these programs: leaner: git -10.00 % [-10.00 %, -10.00 %]; as lean: 2 of 3."
        in said
    )
    assert ", loops and replays faster (+20.00 % [" in said
    assert "Loops and replays that are faster: loop +20.00 % [" in said
    assert (
        "counted by simulation and are not time; in this build the speed of programs changed"
        in said
    )
    assert said.endswith("%], by all causes together.")


@pytest.mark.parametrize(
    ("programs", "ratios", "says"),
    [
        ((), {"a": 1.04}, "loops and replays faster (+4.0 %), no whole program timed"),
        (("git", "gcc"), {"git": 1.02, "gcc": 1.02}, "programs faster (+2.0 %)"),
        (("git",), {"git": 1.02}, "program git faster (+2.0 %)"),
        (
            ("git", "gcc"),
            {"git": 1.0, "gcc": 1.0, "a": 1.2},
            "programs as fast (+0.0 %), loops and replays faster (+20.0 %)",
        ),
        (
            ("git",),
            {"git": 0.9, "a": 1.2},
            "program git slower (-10.0 %), loops and replays faster (+20.0 %), "
            "but a workload loses too much",
        ),
    ],
)
def test_the_short_headline_says_of_what_a_gain_is(
    programs: tuple[str, ...], ratios: dict[str, float], says: str
) -> None:
    found = throughput_of(programs, **{name: pairs(ratio) for name, ratio in ratios.items()})
    assert brief(result_of(found)).startswith(f"{says}; as lean as the plain build (+0.0 %); ")


def test_a_gain_of_replays_is_none_of_programs_that_is_not_shown() -> None:
    found = throughput_of(("git",), git=pairs(1.015, noise=12), a=pairs(1.06))
    said = brief(result_of(found))
    assert said.startswith("program git not shown to be faster or slower (-0.9 to +3.9 %)")
    assert "(+1.50 % [" in headline(result_of(found))


def test_a_part_that_noise_hides_is_called_noise() -> None:
    found = throughput_of(("git",), git=pairs(1.05), a=pairs(1.0))
    noise = found.model_copy(update={"loops": interval(0.95, 2.46)})
    said = brief(result_of(noise))
    assert said.startswith("program git faster (+5.0 %), loops and replays too noisy to tell (-5.0")
    assert "loops and replays too noisy to tell (" in headline(result_of(noise))
    told = found.model_copy(update={"loops": interval(0.95, 1.2)})
    assert "noisy" not in brief(result_of(told))
    assert "noisy" not in brief(result_of(found.model_copy(update={"loops": interval(1.1, 2.9)})))
