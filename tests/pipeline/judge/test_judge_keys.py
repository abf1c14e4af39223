"""What measured numbers make of each key."""

import pytest
from judge_support import (
    MARGINS,
    counting_of,
    counts,
    interval,
    pair,
    pairs,
    program_of,
    result_of,
    run_sample,
    throughput_of,
    workload_counts,
)

from pipeline.judge.icache import icache_key
from pipeline.judge.keys import compare, in_brief, throughput_key
from pipeline.judge.memory_key import memory_key, rss_guard
from pipeline.judge.model import Key
from pipeline.judge.regressions import regressions
from pipeline.judge.verdict import Verdict

GO, NEUTRAL, NO_GO, INCONCLUSIVE = Verdict


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


@pytest.mark.parametrize(("count", "verdict"), [(10, INCONCLUSIVE), (12, NO_GO)])
def test_a_workload_with_too_few_pairs_is_never_called_a_loser(
    count: int, verdict: Verdict
) -> None:
    """Ten pairs hold a median at 99.8 %; among twenty workloads by two clocks it takes 99.9 %."""
    others = {f"w{number}": pairs(1.2, count=count) for number in range(19)}
    throughput = throughput_of(**others, big=pairs(0.9, count=count))
    assert throughput.overall.low > 1.01
    assert throughput_key(throughput, MARGINS).verdict is verdict
    assert ("big" in regressions(result_of(throughput))) is (verdict is NO_GO)


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
    assert "the speed of locked changes by -20" in key.reason
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


def test_a_workload_alone_has_one_interval() -> None:
    throughput = throughput_of(alone=pairs(0.94, noise=90))
    key = throughput_key(throughput, MARGINS)
    assert throughput.alone
    assert key.verdict is INCONCLUSIVE
    assert not key.not_worse
    assert key.reason.startswith("anywhere between ") and "[" not in key.reason


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
