"""What measured numbers make of each key, and what the keys make of publishing."""

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from judge_support import (
    counting_of,
    counts,
    health_of,
    pair,
    pairs,
    program_of,
    result_of,
    run_sample,
    throughput_of,
    workload_counts,
)

from pipeline.judge.headline import brief, by_less, headline, memory_of, speed_of
from pipeline.judge.icache import icache_key
from pipeline.judge.keys import compare, in_brief, memory_key, rss_guard, throughput_key
from pipeline.judge.model import Key
from pipeline.judge.publishing import may_publish
from pipeline.judge.request import Margins
from pipeline.judge.samples import Throughput
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict
from pipeline.report.findings import findings

MARGINS = Margins()
GO, NEUTRAL, NO_GO, INCONCLUSIVE = Verdict


def interval(low: float, high: float) -> Interval:
    return Interval(value=(low + high) / 2, low=low, high=high, confidence=0.95)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.011, 1.05, GO),
        (1.01, 1.05, INCONCLUSIVE),
        (0.95, 0.989, NO_GO),
        (0.95, 0.99, INCONCLUSIVE),
        (0.991, 1.009, NEUTRAL),
        (1.002, 1.008, NEUTRAL),
        (0.985, 1.005, INCONCLUSIVE),
        (0.995, 1.015, INCONCLUSIVE),
        (0.9, 1.1, INCONCLUSIVE),
    ],
)
def test_the_interval_against_the_margins(low: float, high: float, verdict: Verdict) -> None:
    assert compare(interval(low, high), 0.01) is verdict


@pytest.mark.parametrize(
    ("ratio", "noise", "verdict", "not_worse"),
    [
        (1.05, 1, GO, True),
        (1.0, 1, NEUTRAL, True),
        (0.97, 1, NO_GO, False),
        (1.0, 15, INCONCLUSIVE, False),
        (1.015, 4, INCONCLUSIVE, True),
    ],
)
def test_throughput_verdicts(ratio: float, noise: float, verdict: Verdict, not_worse: bool) -> None:
    key = throughput_key(throughput_of(mixed=pairs(ratio, noise=noise)), MARGINS)
    assert (key.verdict, key.not_worse) == (verdict, not_worse)
    assert "10 pairs" in key.reason


@pytest.mark.parametrize("noise", [15, 400])
def test_an_inconclusive_reason_names_no_time_and_no_pairs_to_come(noise: float) -> None:
    """How long it would take is the advice's to say: two numbers contradicted each other."""
    key = throughput_key(throughput_of(mixed=pairs(1.0, noise=noise)), MARGINS)
    assert key.verdict is INCONCLUSIVE
    assert "more pairs" not in key.reason and "hour" not in key.reason


def test_one_workload_that_loses_too_much_vetoes_a_gain() -> None:
    throughput = throughput_of(a=pairs(1.3), b=pairs(1.3), big=pairs(0.93))
    key = throughput_key(throughput, MARGINS)
    assert throughput.overall.low > 1.01
    assert key.verdict is NO_GO
    assert not key.not_worse
    assert "big" in key.reason


def slower_by_the_wall_alone(threads: int) -> Key:
    """Return the key of a workload, faster by CPU time, 20 % slower by the clock on the wall."""
    tuned = run_sample(1.3e7, wall_rate=0.8e7, threads=threads)
    baseline = run_sample(1.0e7, threads=threads)
    change = {"baseline": baseline, "tuned": tuned}
    samples = [one.model_copy(update=change) for one in pairs(1.3)]
    return throughput_key(throughput_of(locked=samples), MARGINS)


def test_a_single_thread_is_not_blamed_for_its_neighbours() -> None:
    assert slower_by_the_wall_alone(threads=1).verdict is GO


def test_threads_that_sleep_cost_no_cpu_time_but_are_seen() -> None:
    key = slower_by_the_wall_alone(threads=2)
    assert key.verdict is NO_GO
    assert "locked changes by -20" in key.reason
    assert "wall time" in key.reason


def test_a_workload_that_only_seems_to_lose_too_much_holds_a_gain_back() -> None:
    throughput = throughput_of(a=pairs(1.3), b=pairs(1.3), vague=pairs(0.94, noise=20))
    key = throughput_key(throughput, MARGINS)
    assert throughput.overall.low > 1.01
    assert key.verdict is INCONCLUSIVE
    assert not key.not_worse
    assert "the estimate for vague, -6.00 %" in key.reason
    assert key.reason.endswith(
        "is beyond -5.0 %, the most it may lose, but its interval leaves that open"
    )


def test_a_gain_of_all_that_no_part_shows_is_told_first() -> None:
    found = throughput_of(("git",), git=pairs(1.05), loop=pairs(1.05))
    wide = replace(found.overall, value=1.05, low=0.99, high=1.12)
    parts = found.model_copy(update={"programs": wide, "loops": wide})
    said = headline(result_of(parts))
    assert said.startswith("Against the baseline: all together faster (+5.")
    assert said.count("not shown to be faster or slower") == 2


def test_a_workload_alone_has_one_interval() -> None:
    throughput = throughput_of(alone=pairs(0.94, noise=90))
    key = throughput_key(throughput, MARGINS)
    assert throughput.alone
    assert key.verdict is INCONCLUSIVE
    assert not key.not_worse
    assert key.reason.count("[") == 1


def test_a_workload_may_have_an_allowance_of_its_own() -> None:
    throughput = throughput_of(a=pairs(1.3), b=pairs(1.3), big=pairs(0.93))
    patient = tuple(
        one.model_copy(update={"allowance": 0.1}) if one.name == "big" else one
        for one in throughput.workloads
    )
    key = throughput_key(throughput.model_copy(update={"workloads": patient}), MARGINS)
    assert key.verdict is GO


def test_a_small_loss_within_the_allowance_does_not_veto() -> None:
    key = throughput_key(throughput_of(a=pairs(1.3), b=pairs(0.97)), MARGINS)
    assert key.verdict is GO


@pytest.mark.parametrize(
    ("rss", "holds"),
    [((40960, 40960), True), ((40960, 44000), True), ((40960, 46000), False), ((2048, 3000), True)],
)
def test_the_memory_limit(rss: tuple[int, int], holds: bool) -> None:
    guard = rss_guard(throughput_of(mixed=pairs(1.0, rss=rss)), MARGINS)
    assert guard.holds is holds
    assert guard.ratio == pytest.approx(rss[1] / rss[0])


def test_the_guard_looks_into_every_workload() -> None:
    throughput = throughput_of(
        thin=pairs(1.0, rss=(80_000, 40_000)), fat=pairs(1.0, rss=(40_000, 60_000))
    )
    guard = rss_guard(throughput, MARGINS)
    assert guard.ratio < 1
    assert not guard.holds
    assert "fat" in guard.reason


@pytest.mark.parametrize(
    ("baseline", "tuned", "verdict"),
    [(4.0, 3.0, GO), (4.0, 3.9, NEUTRAL), (4.0, 4.5, NO_GO), (4.0, 0.0, GO), (0.0, 4.0, NO_GO)],
)
def test_icache_by_misses_inside_a_program(baseline: float, tuned: float, verdict: Verdict) -> None:
    key = icache_key([program_of("python3", baseline, tuned)], MARGINS)
    assert key.verdict is verdict
    assert key.not_worse is (verdict in (GO, NEUTRAL))
    assert "python3" in key.reason


def test_each_program_counts_alike_however_many_misses_it_has() -> None:
    large, small = program_of("gcc", 40.0, 20.0), program_of("sqlite3", 1.0, 2.0)
    key = icache_key([large, small, program_of("redis", 1.0, None)], MARGINS)
    assert key.verdict is NEUTRAL
    assert key.ratio is not None
    assert key.ratio.value == pytest.approx(1)
    assert "gcc -50.00 %, sqlite3 +100.00 %" in key.reason
    assert "redis" not in key.reason


def test_loops_made_for_it_have_no_say_in_the_icache_key() -> None:
    worse = counting_of(workload_counts("icache-pressure", counts(4.0), counts(8.0)))
    better = counting_of(workload_counts("icache-pressure", counts(4.0), counts(1.0)))
    alike = [program_of("python3", 4.0, 4.0)]
    for counting in (worse, better):
        assert result_of(counting=counting, programs=alike).keys.icache.verdict is NEUTRAL


def test_unknown_counts_are_inconclusive_and_never_harmless() -> None:
    for programs, word in (
        ((), "no real program"),
        ([program_of("gcc", 1, None)], "not installed"),
    ):
        key = icache_key(programs, MARGINS)
        assert key.verdict is INCONCLUSIVE
        assert not key.not_worse
        assert key.ratio is None
        assert word in key.reason


FAST, SAME, SLOW = pairs(1.05), pairs(1.0), pairs(0.97)
VAGUE, VAGUE_BUT_NOT_SLOWER = pairs(1.0, noise=15), pairs(1.015, noise=4)
BETTER, ALIKE, WORSE, UNKNOWN = (4.0, 3.0), (4.0, 4.0), (4.0, 5.0), (4.0, None)


NOT_WORSE = "INCONCLUSIVE, not worse"
PERHAPS_WORSE = "INCONCLUSIVE, a loss is possible"
SPEEDS = {
    "GO": FAST,
    "NEUTRAL": SAME,
    "NO-GO": SLOW,
    PERHAPS_WORSE: VAGUE,
    NOT_WORSE: VAGUE_BUT_NOT_SLOWER,
}
MISSES = {"GO": BETTER, "NEUTRAL": ALIKE, "NO-GO": WORSE, "INCONCLUSIVE": UNKNOWN}
PAGE = Path(__file__).parents[3] / "docs" / "verdicts.md"


def table() -> dict[tuple[str, str], tuple[bool, bool]]:
    """Return what docs/verdicts.md says of every combination; NO-GO of I-cache beats the rest."""
    section = PAGE.read_text(encoding="utf-8").split("## What is published")[1]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    said: dict[tuple[str, str], tuple[bool, bool]] = {}
    for row in rows[2:12]:
        speed, misses, published, with_neutral = (cell.strip() for cell in row)
        speeds = list(SPEEDS) if speed == "any" else [speed]
        wanted = list(MISSES) if misses == "any" else misses.replace(" or ", ", ").split(", ")
        for both in itertools.product(speeds, wanted):
            said[both] = (published.startswith("yes"), with_neutral.startswith("yes"))
    return said


def test_the_table_in_the_documentation_is_complete() -> None:
    assert set(table()) == set(itertools.product(SPEEDS, MISSES))


@pytest.mark.parametrize("misses", MISSES)
@pytest.mark.parametrize("speed", SPEEDS)
def test_every_combination_is_published_as_the_table_says(speed: str, misses: str) -> None:
    baseline, tuned = MISSES[misses]
    result = result_of(
        throughput_of(mixed=SPEEDS[speed]),
        programs=[program_of("python3", baseline, tuned)],
    )
    throughput, icache = result.keys.throughput, result.keys.icache
    assert throughput.verdict.value == speed.split(",", maxsplit=1)[0]
    assert icache.verdict.value == misses
    if throughput.verdict is INCONCLUSIVE:
        assert throughput.not_worse is (speed == NOT_WORSE)
    answers = tuple(may_publish(result, neutral)[0] for neutral in (False, True))
    assert answers == table()[speed, misses]


@pytest.mark.parametrize(
    ("tuned_kib", "verdict"),
    [(3800, GO), (3990, NEUTRAL), (4096, NEUTRAL), (4300, NO_GO)],
)
def test_memory_is_a_key_of_its_own(tuned_kib: int, verdict: Verdict) -> None:
    result = result_of(throughput_of(mixed=pairs(1.0, rss=(4096, tuned_kib))))
    assert result.keys.memory is not None
    assert result.keys.memory.verdict is verdict


def test_memory_that_blurs_is_not_decided() -> None:
    blurred = [pair(n, 1e7, 1e7, (4096, 4096 + 400 * (-1) ** (n // 2))) for n in range(12)]
    result = result_of(throughput_of(mixed=blurred))
    assert result.keys.memory is not None
    assert result.keys.memory.verdict is INCONCLUSIVE


def test_less_memory_is_worth_publishing_where_speed_is_not_worse() -> None:
    alike = [program_of("python3", 4.0, 4.0)]
    lean = result_of(throughput_of(mixed=pairs(1.0, rss=(4096, 3800))), programs=alike)
    published, reason = may_publish(lean, False)
    assert published
    assert reason.startswith("memory is GO: peak memory -7.23 %")
    assert not may_publish(result_of(throughput_of(mixed=pairs(1.0)), programs=alike), False)[0]
    vague = result_of(throughput_of(mixed=pairs(1.0, noise=15, rss=(4096, 3800))), programs=alike)
    assert not vague.keys.throughput.not_worse
    assert not may_publish(vague, False)[0]


def test_the_headline_is_in_words_and_names_programs() -> None:
    found = throughput_of(a=pairs(1.2, rss=(4096, 3800)), b=pairs(0.972), c=pairs(1.0))
    said = headline(result_of(found))
    assert said.startswith("Against the baseline: loops and replays faster (+")
    assert "; leaner (-" not in said
    assert "Faster: a +20.00 %. Slower: b -2.80 %. No whole program was timed: " in said
    lean = headline(result_of(throughput_of(a=pairs(1.0, rss=(4096, 3800)))))
    assert "as fast (" in lean and "; leaner (-7.23 %" in lean
    assert "No workload is shown to differ by itself. No whole program was timed: " in lean


def test_a_gain_below_the_margin_is_told_as_one() -> None:
    noisy = [pair(n, 1e7, 1e7 * (1.009 + 0.008 * (-1) ** n), (4096, 4096)) for n in range(24)]
    result = result_of(throughput_of(a=noisy))
    assert result.keys.throughput.verdict is INCONCLUSIVE
    told = "Against the baseline: loops and replays faster, perhaps by less than 1 % (+"
    assert headline(result).startswith(told)
    (single,) = result.throughput.workloads
    assert speed_of(single, result) == "faster, perhaps by less than 1 %"


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
    assert memory_of(single, told) == "leaner, perhaps by less than 3 %"
    assert "; leaner than the plain build, perhaps by less than 3 % (" in brief(told)


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
        (INCONCLUSIVE, 1.005, 1.03, "up, perhaps by less than 1 %"),
        (INCONCLUSIVE, 0.97, 0.995, "down, perhaps by less than 1 %"),
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
    assert "programs faster, perhaps by less than 1 % (+1.64 % [" in said
    assert "faster: git +5.00 % [" in said
    assert "; as fast: gcc +0.00 % [" in said
    assert "; undecided: perl. " in said
    assert (
        "Memory of these programs: leaner: git -10.00 % [-10.00 %, -10.00 %]; as lean: 2 of 3."
        in said
    )
    assert ", loops and replays faster (+20.00 % [" in said
    assert "Loops and replays that are faster: loop +20.00 %." in said
    assert (
        "counted by simulation and are no time; in this build the speed of programs changed" in said
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


def test_real_programs_that_lose_together_are_not_published_for_a_gain_of_loops() -> None:
    found = throughput_of(("git", "gcc"), git=pairs(0.995), gcc=pairs(0.995), loop=pairs(1.2))
    assert found.overall.low > 1.01
    published, reason = may_publish(result_of(found), True)
    assert not published
    assert "speed of real programs is shown to be lower: -0.50 %" in reason
    assert may_publish(result_of(found), True, ("real-programs",))[0]


def test_a_loss_inside_the_margin_is_not_published_unless_it_is_accepted() -> None:
    """All of the interval below zero is slower, also where it is not as slow as the margin."""
    slower = throughput_of(mixed=pairs(0.996, noise=0.5))
    assert slower.overall.high < 1
    result = result_of(slower)
    assert (result.keys.throughput.verdict, result.keys.icache.verdict) == (NEUTRAL, GO)
    published, reason = may_publish(result, True)
    assert not published
    assert "throughput is shown to be lower: -0.40 %" in reason
    assert "--allow-regression throughput would accept this" in reason
    published, reason = may_publish(result, False, ("throughput",))
    assert published
    assert "--allow-regression throughput accepts that throughput is shown to be lower" in reason


def test_a_workload_that_seems_to_lose_is_named_where_the_whole_is_as_fast() -> None:
    found = throughput_of(a=pairs(1.0), b=pairs(1.0), vague=pairs(0.94, noise=30.0))
    even = found.model_copy(
        update={"overall": replace(found.overall, value=1.001, low=0.998, high=1.006)}
    )
    result = result_of(even)
    assert result.keys.throughput.verdict is NEUTRAL
    published, reason = may_publish(result, False)
    assert published
    assert "throughput is NEUTRAL as a whole" in reason
    assert "the estimate for vague," in reason


def test_wider_margins_than_usual_are_told_with_the_verdict() -> None:
    found = throughput_of(mixed=pairs(1.1))
    wide = result_of(found).model_copy(update={"margins": Margins(throughput=0.05, workload=0.6)})
    published, reason = may_publish(wide, False)
    assert published
    assert reason.endswith(
        "by wider margins than usual: throughput 5.0 % instead of 1.0 %, "
        "what one workload may lose 60.0 % instead of 5.0 %"
    )
    assert "margins" not in may_publish(result_of(found), False)[1]
    said = [one.what for one in findings(wide, None, None)]
    assert "the profile judges by wider margins than usual" in said


def test_one_workload_that_loses_more_than_the_margin_stops_a_gain_elsewhere() -> None:
    found = throughput_of(a=pairs(1.2), b=pairs(0.972), c=pairs(1.2))
    result = result_of(found)
    assert result.keys.throughput.verdict is GO
    published, reason = may_publish(result, True)
    assert not published
    assert "b is shown to lose more than 1.0 %: -2.80 %" in reason
    assert not may_publish(result, True, ("a", "throughput"))[0]
    assert may_publish(result, True, ("b",))[0]


def test_a_regression_that_is_accepted_lifts_no_no_go() -> None:
    result = result_of(throughput_of(a=pairs(1.2), b=pairs(0.90), c=pairs(1.2)))
    assert result.keys.throughput.verdict is NO_GO
    assert not may_publish(result, True, ("b", "throughput"))[0]


def good() -> Throughput:
    return throughput_of(mixed=pairs(1.05))


def test_a_published_reason_does_not_hide_the_other_key() -> None:
    vague = throughput_of(mixed=VAGUE_BUT_NOT_SLOWER)
    published, reason = may_publish(result_of(vague), False)
    assert published
    assert reason.startswith("I-cache is GO")
    assert reason.endswith("throughput is INCONCLUSIVE, but a loss beyond its margin is excluded")


def test_a_failed_health_check_beats_every_gain() -> None:
    published, reason = may_publish(result_of(good(), health=health_of("failed")), True)
    assert not published
    assert "python" in reason


def test_a_broken_memory_limit_beats_every_gain() -> None:
    fat = throughput_of(mixed=pairs(1.05, rss=(40_000, 80_000)))
    published, reason = may_publish(result_of(fat), True)
    assert not published
    assert "80000 KiB" in reason


def test_the_reason_of_a_published_build_names_its_gains() -> None:
    published, reason = may_publish(result_of(good()), False)
    assert published
    assert "throughput is GO" in reason
    assert "I-cache is GO" in reason


def test_key_and_limit_tell_the_same_change_of_memory() -> None:
    """By pairs: the medians of both sides may say something else."""
    peaks = [(1000, 900), (4000, 3960), (9000, 9900), (2000, 1980), (8000, 7920)] * 4
    samples = [one for rss in peaks for one in pairs(1.0, 1, rss=rss)]
    throughput = throughput_of(mixed=samples)
    key = memory_key(throughput, seed=1)
    assert key.ratio is not None
    assert rss_guard(throughput, MARGINS).ratio == pytest.approx(key.ratio.value)
    assert key.ratio.value == pytest.approx(0.99)


def test_no_change_is_a_zero_below_zero() -> None:
    assert [in_brief(ratio) for ratio in (0.9998, 1.0, 1.0212, 0.9)] == [
        "+0.0 %",
        "+0.0 %",
        "+2.1 %",
        "-10.0 %",
    ]
