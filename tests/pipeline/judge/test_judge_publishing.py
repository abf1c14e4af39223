"""What the keys make of publishing."""

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from judge_support import (
    health_of,
    pairs,
    program_of,
    result_of,
    throughput_of,
)

from pipeline.judge.advice import advice
from pipeline.judge.publishing import answer_to, may_publish
from pipeline.judge.request import Margins
from pipeline.judge.samples import Throughput
from pipeline.judge.topic import Topic
from pipeline.judge.verdict import Verdict
from pipeline.report.findings import findings

GO, NEUTRAL, NO_GO, INCONCLUSIVE = Verdict
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


@pytest.mark.parametrize("speed", SPEEDS)
def test_misses_of_other_programs_count_as_neutral(speed: str) -> None:
    other = program_of("gcc", *BETTER).model_copy(update={"own": False})
    result = result_of(throughput_of(mixed=SPEEDS[speed]), programs=[other])
    assert result.keys.icache.verdict is GO
    answers = tuple(may_publish(result, neutral)[0] for neutral in (False, True))
    assert answers == table()[speed, "NEUTRAL"]


def test_no_verdict_is_treated_better_than_a_stronger_one() -> None:
    speeds = ("GO", "NEUTRAL", NOT_WORSE, PERHAPS_WORSE, "NO-GO")
    misses = ("GO", "NEUTRAL", "INCONCLUSIVE", "NO-GO")
    said = table()
    for neutral in (0, 1):
        rows = [[said[one, other][neutral] for other in misses] for one in speeds]
        for ordered in (*rows, *zip(*rows, strict=True)):
            assert list(ordered) == sorted(ordered, reverse=True)


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


def test_a_rise_of_memory_is_told_though_it_decides_nothing() -> None:
    """The reason once said that no key is worse."""
    alike = [program_of("python3", 4.0, 4.0)]
    fat = result_of(throughput_of(mixed=pairs(1.0, rss=(4096, 4400))), programs=alike)
    assert fat.keys.memory is not None and fat.keys.memory.verdict is NO_GO
    assert may_publish(fat, True)[1].startswith("no key is GO, none but memory is worse")
    assert advice(fat, "shop").startswith("nothing but memory became worse")
    faster = result_of(throughput_of(mixed=pairs(1.05, rss=(4096, 4400))), programs=alike)
    published, reason = may_publish(faster, False)
    assert published and "memory is NO-GO, which decides nothing: peak memory +7.42 %" in reason


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


def seeming(whole: tuple[float, float, float], *, memory: int = 4096) -> Throughput:
    """Return what was timed where one workload seems to lose too much, and all have this change."""
    rss = (4096, memory)
    vague = pairs(0.94, noise=30.0, rss=rss)
    found = throughput_of(a=pairs(1.0, rss=rss), b=pairs(1.0, rss=rss), vague=vague)
    value, low, high = whole
    return found.model_copy(
        update={"overall": replace(found.overall, value=value, low=low, high=high)}
    )


WHOLES = {
    "GO": (1.05, 1.02, 1.08),
    "NEUTRAL": (1.001, 0.998, 1.006),
    "INCONCLUSIVE, above": (1.015, 0.995, 1.035),
    "INCONCLUSIVE, below": (0.995, 0.985, 1.002),
}


@pytest.mark.parametrize("whole", WHOLES)
def test_a_workload_that_seems_to_lose_stops_a_build_whatever_the_whole_is(whole: str) -> None:
    """It stopped a whole that is faster, and let one pass that is only as fast.

    That more is shown of the whole must not make a build harder to publish.
    """
    result = result_of(seeming(WHOLES[whole]))
    key = result.keys.throughput
    assert (key.verdict, key.not_worse, result.keys.icache.verdict) == (INCONCLUSIVE, False, GO)
    for neutral in (False, True):
        published, reason = may_publish(result, neutral)
        assert not published
        assert "throughput is INCONCLUSIVE and a loss is not excluded" in reason
        assert "the estimate for vague," in reason


def test_a_workload_that_seems_to_lose_is_named_where_the_whole_is_as_fast() -> None:
    """It was published: a whole that is faster was not, so one that is not must not be either."""
    result = result_of(seeming(WHOLES["NEUTRAL"]))
    reason = may_publish(result, False)[1]
    assert "as a whole, but not for each workload; the estimate for vague, -6.00 %" in reason
    assert may_publish(result, False, ("vague",))[0]
    said = advice(result, "shop")
    assert "--allow-regression vague` accepts that" in said
    assert "--allow-neutral" not in said


def test_a_doubt_of_an_older_record_stops_a_build_whose_key_was_called_neutral() -> None:
    """The judge once called such a key NEUTRAL, and stages keep what it said."""
    result = result_of(seeming(WHOLES["NEUTRAL"]))
    kept = result.keys.throughput.model_copy(update={"verdict": NEUTRAL})
    older = result.model_copy(update={"keys": result.keys.model_copy(update={"throughput": kept})})
    published, reason = may_publish(older, True)
    assert not published
    assert "throughput is NEUTRAL and a loss is not excluded" in reason


def test_less_memory_is_no_gain_where_a_workload_seems_to_lose_too_much() -> None:
    """Throughput is as good as a whole, and yet not shown to be not worse."""
    found = seeming(WHOLES["NEUTRAL"], memory=3800)
    result = result_of(found, programs=[program_of("python3", 4.0, 4.0)])
    keys = result.keys
    assert (keys.throughput.verdict, keys.icache.verdict) == (INCONCLUSIVE, NEUTRAL)
    assert keys.memory is not None and keys.memory.verdict is GO
    assert not may_publish(result, False)[0]


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


def test_the_answer_knows_whose_reasons_it_gives() -> None:
    vague = result_of(throughput_of(mixed=VAGUE_BUT_NOT_SLOWER))
    assert answer_to(vague, False).quotes == (Topic.ICACHE,)
    sick = result_of(good(), health=health_of("failed"))
    assert Topic.HEALTH in answer_to(sick, True).quotes
    for result in (vague, sick):
        answer = answer_to(result, False)
        assert (answer.allowed, answer.reason) == may_publish(result, False)


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
