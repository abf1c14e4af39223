"""Scheduling, adaptive rounds, and the error rates of the whole rule on simulated machines."""

import dataclasses
import math
from collections import Counter
from collections.abc import Callable
from itertools import count as endless
from pathlib import Path

import numpy as np
import pytest
from judge_support import RunPair, in_turn, run_sample

from pipeline.judge import statistics, throughput
from pipeline.judge.keys import throughput_key
from pipeline.judge.request import BenchCommand, JudgeRequest, Margins
from pipeline.judge.samples import PairSample, RunSample, Throughput
from pipeline.judge.schedule import BLOCK, MAX_PADDING, MOST_PAIRS, Effort, PlannedPair, allot, plan
from pipeline.judge.summarise import summarise as summarise_pairs
from pipeline.judge.throughput import measure
from pipeline.judge.verdict import Verdict


def request(names: tuple[str, ...] = ("a", "b", "c"), **changes: object) -> JudgeRequest:
    base = JudgeRequest(
        baseline=Path("/a.so"),
        tuned=Path("/b.so"),
        benches=tuple(BenchCommand(name=name, argv=("/bench",)) for name in names),
        logs=Path("/logs"),
    )
    return dataclasses.replace(base, **changes)  # type: ignore[arg-type]


def simulated(
    rng: np.random.Generator, gain: float, noise: float, second_slower: float = 0.0
) -> RunPair:
    """Return a machine where tuned is ``gain`` as fast, with log-normal noise per process."""

    def run_pair(_: BenchCommand, planned: PlannedPair) -> PairSample:
        drift = 1e7 * (1 + 0.1 * math.sin(planned.round))
        rates = {
            side: drift
            * (gain if side == "tuned" else 1.0)
            * math.exp(rng.normal(0, noise) - second_slower * (side != planned.first))
            for side in planned.order
        }
        samples = {side: run_sample(rate) for side, rate in rates.items()}
        return PairSample(
            round=planned.round,
            first=planned.first,
            padding=planned.padding,
            together=False,
            baseline=samples["baseline"],
            tuned=samples["tuned"],
        )

    return run_pair


@pytest.fixture(autouse=True)
def fewer_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate thousands of judgements in seconds; 999 resamples are enough to see coverage."""
    monkeypatch.setattr(statistics, "RESAMPLES", 999)


def quiet(_: str) -> None:
    """Take a line of progress and drop it."""


def ticking() -> Callable[[], float]:
    """Return a clock on which every pair takes one second. It is read around each block."""
    seconds = endless(step=float(BLOCK))
    return lambda: float(next(seconds))


def undecided(_: BenchCommand, planned: PlannedPair) -> PairSample:
    """Run a pair on a machine where tuned is now faster by a third, now slower by as much."""
    rates = {"baseline": 1e7, "tuned": 1e7 * math.exp(0.3 if planned.round % 2 else -0.3)}
    return PairSample(
        round=planned.round,
        first=planned.first,
        padding=planned.padding,
        together=False,
        baseline=run_sample(rates["baseline"]),
        tuned=run_sample(rates["tuned"]),
    )


def uneven(rng: np.random.Generator) -> Callable[[], float]:
    """Return a clock on which blocks cost at random, and less and less: programs warm up.

    It is read before and after each block. What the first pairs cost is then always too much, and
    the budget is not used up by as many pairs as were reckoned with.
    """
    now, reads = 0.0, 0

    def read() -> float:
        nonlocal now, reads
        reads += 1
        if reads % 2 == 0:
            now += rng.lognormal(0.0, 0.6) * (0.25 + 0.75 * math.exp(-reads / 60))
        return now

    return read


def judged(machine: RunPair, budget_s: float, seed: int = 1) -> Throughput:
    asked = request(time_budget_s=budget_s, seed=seed)
    return measure(asked, in_turn(machine), quiet, clock=ticking())


def test_pairs_come_in_blocks_abba_spread_over_all_workloads() -> None:
    blocks = list(plan({"x": range(20), "y": range(4)}, seed=1))
    assert all(left.workload == right.workload for left, right in blocks)
    assert all({left.first, right.first} == {"baseline", "tuned"} for left, right in blocks)
    assert all((left.round + 1, left.round % 2) == (right.round, 0) for left, right in blocks)
    starts = Counter(left.first for left, _ in blocks if left.workload == "x")
    assert min(starts.values()) >= 2
    rounds = [left.round for left, _ in blocks if left.workload == "x"]
    assert rounds == list(range(0, 20, 2))
    places = [place for place, (left, _) in enumerate(blocks) if left.workload == "y"]
    assert 3 <= places[0] <= 7 <= places[1] - 2


def test_later_blocks_go_on_where_earlier_ones_ended() -> None:
    whole = list(plan({"x": range(20)}, seed=2))
    assert list(plan({"x": range(10)}, 2)) + list(plan({"x": range(10, 20)}, 2)) == whole


def test_pairs_are_allotted_by_blur_and_cost() -> None:
    quiet_one = Effort(pairs=10, seconds=0.1, blur=0.0001)
    noisy, dear = Effort(10, 0.1, 0.02), Effort(10, 1.6, 0.02)
    wanted = allot({"quiet": quiet_one, "noisy": noisy, "dear": dear}, 100.0)
    assert wanted["quiet"] == 10
    assert wanted["noisy"] / wanted["dear"] == pytest.approx(4, rel=0.1)
    spent = 0.1 * (wanted["noisy"] - 10) + 1.6 * (wanted["dear"] - 10)
    assert 95 < spent <= 100
    assert all(count % 2 == 0 for count in wanted.values())


def test_there_are_never_more_pairs_than_can_be_kept() -> None:
    efforts = {"x": Effort(10, 0.01, 0.1), "y": Effort(10, 0.01, 0.01)}
    assert allot(efforts, 1e9) == {"x": MOST_PAIRS, "y": MOST_PAIRS}


def test_no_pairs_are_allotted_without_money() -> None:
    assert allot({"x": Effort(10, 1.0, 0.1)}, 1.9) == {"x": 10}
    assert allot({"x": Effort(10, 1.0, 0.1)}, -5.0) == {"x": 10}


def test_padding_varies_over_a_page_and_follows_the_seed() -> None:
    first, again, other = (
        [pair.padding for block in plan({"x": range(40)}, seed) for pair in block]
        for seed in (1, 1, 2)
    )
    assert first == again != other
    assert len(set(first)) > 30
    assert 0 <= min(first) < MAX_PADDING / 4
    assert MAX_PADDING * 3 / 4 < max(first) < MAX_PADDING


def test_a_clear_gain_is_decided_at_the_first_look() -> None:
    result = judged(simulated(np.random.default_rng(1), 1.1, 0.005), 240)
    assert (result.pairs, result.looks) == (36, 1)
    assert result.stopped == "decided after 36 pairs"
    assert result.overall.value == pytest.approx(1.1, abs=0.01)


def test_pairs_are_added_until_it_is_clear() -> None:
    result = judged(simulated(np.random.default_rng(2), 1.0, 0.02), 480)
    assert 30 < result.pairs <= 480
    assert throughput_key(result, Margins()).verdict is Verdict.NEUTRAL


@pytest.mark.parametrize(("budget_s", "looks"), [(1, 1), (30, 1), (48, 2), (60, 2), (120, 3)])
def test_the_budget_is_used_up_and_not_exceeded(budget_s: float, looks: int) -> None:
    """The first 30 pairs are always run; after that, looks come at halves of the budget."""
    result = judged(simulated(np.random.default_rng(3), 1.0, 0.3), budget_s)
    assert result.pairs == pytest.approx(max(30, budget_s), abs=2)
    assert result.pairs <= max(30, budget_s)
    assert result.looks == looks
    assert result.stopped == f"not decided within {max(30, budget_s):g} s"


def test_an_undecided_judgement_says_how_much_more_it_takes() -> None:
    result = judged(simulated(np.random.default_rng(3), 1.0, 0.05), 60)
    assert result.pairs_to_decide is not None
    assert result.seconds_to_decide is not None
    assert result.pairs_to_decide > result.pairs
    # One second a pair; whole blocks of two.
    assert result.pairs_to_decide == pytest.approx(result.seconds_to_decide, abs=2)


def test_more_pairs_go_to_the_workloads_that_blur_the_whole() -> None:
    noisy = simulated(np.random.default_rng(7), 1.0, 0.2)
    still = simulated(np.random.default_rng(8), 1.0, 0.001)

    def machine(bench: BenchCommand, planned: PlannedPair) -> PairSample:
        return (noisy if bench.name == "a" else still)(bench, planned)

    result = judged(machine, 120)
    pairs = {one.name: len(one.samples) for one in result.workloads}
    assert pairs == {"a": 100, "b": 10, "c": 10}
    firsts = Counter(sample.first for sample in result.workloads[0].samples)
    assert firsts == {"baseline": 50, "tuned": 50}


def test_each_look_uses_its_share_and_the_last_one_all_that_is_left() -> None:
    machine = simulated(np.random.default_rng(4), 1.1, 0.01)
    assert judged(machine, 10).overall.confidence == pytest.approx(0.95)
    assert judged(machine, 240).overall.confidence == pytest.approx(1 - 0.05 / 8)
    last = judged(undecided, 240)
    assert last.looks == 4
    assert last.overall.confidence == pytest.approx(1 - 0.05 / 2)


def test_a_look_after_which_no_pair_fits_is_the_last_and_has_all_that_is_left() -> None:
    """The first pairs use 30 of 31 s, and a block takes 2: another look would see no more."""
    result = judged(undecided, 31)
    assert (result.pairs, result.looks) == (30, 1)
    assert result.overall.confidence == pytest.approx(0.95)


@pytest.mark.parametrize("seed", range(20))
def test_looks_come_at_the_planned_shares_whatever_the_pairs_cost(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 1/8, 1/4, 1/2 and all of the budget, and nowhere else; the last is the sharpest."""
    shares = list[float]()

    def summarise(asked: JudgeRequest, samples: object, share: float, *rest: object) -> Throughput:
        shares.append(share)
        return summary(asked, samples, share, *rest)  # type: ignore[arg-type]

    summary = summarise_pairs
    monkeypatch.setattr(throughput, "summarise", summarise)
    clock = uneven(np.random.default_rng(5000 + seed))
    result = measure(request(time_budget_s=200), in_turn(undecided), quiet, clock=clock)
    assert shares == pytest.approx([1 / 8, 1 / 8, 1 / 4, 1 / 2])
    assert result.overall.confidence == pytest.approx(1 - 0.05 / 2)
    assert result.seconds == pytest.approx(200, abs=4)


def test_progress_beyond_the_budget_says_how_many_pairs_are_still_to_come() -> None:
    said = list[str]()
    runner = in_turn(simulated(np.random.default_rng(6), 1.1, 0.01))
    measure(request(names=("a", "b"), time_budget_s=5), runner, said.append, ticking())
    assert said[0] == "pair 1, 0 s of 5: a"
    last = next(line for line in reversed(said) if line.startswith("pair"))
    assert last.startswith("pair 19 of 20, about 2 s more: ")


def test_each_workload_has_as_many_pairs_as_its_level_takes() -> None:
    """Fourteen for 16 intervals by an eighth of alpha: ten pairs can never say so much."""
    eight = request(names=tuple("abcdefgh"), time_budget_s=640)
    result = measure(
        eight, in_turn(simulated(np.random.default_rng(6), 1.1, 0.01)), quiet, ticking()
    )
    level = 1 - 0.05 / 8 / 16
    assert all(len(one.samples) == 14 for one in result.workloads)
    assert all(one.ratio.confidence >= level for one in result.workloads)


def test_a_slower_second_run_does_not_favour_a_side() -> None:
    machine = simulated(np.random.default_rng(5), 1.0, 0.002, second_slower=0.05)
    result = judged(machine, 240)
    assert result.overall.low <= 1 <= result.overall.high


def verdicts(gain: float, noise: float, trials: int) -> Counter[Verdict]:
    found: Counter[Verdict] = Counter()
    for seed in range(trials):
        machine = simulated(np.random.default_rng(1000 + seed), gain, noise)
        result = judged(machine, 120, seed=seed)
        found[throughput_key(result, Margins()).verdict] += 1
    return found


@pytest.mark.parametrize("noise", [0.003, 0.02, 0.08])
def test_the_same_build_against_itself_raises_no_alarm(noise: float) -> None:
    """A/A: whatever the noise, neither GO nor NO-GO; both together in at most 1 of 40."""
    found = verdicts(1.0, noise, 40)
    assert found[Verdict.GO] + found[Verdict.NO_GO] <= 1


def test_a_true_change_at_the_margin_is_called_a_gain_at_most_as_often_as_promised() -> None:
    """The worst case for GO is exactly +1 %: 2.5 % were promised, 4 of 60 are allowed."""
    assert verdicts(1.01, 0.01, 60)[Verdict.GO] <= 4


def moody(rng: np.random.Generator, gain: float) -> RunPair:
    """Return a machine where one process in ten runs twice as slow for all its life."""
    usual = simulated(rng, gain, 0.04)

    def run_pair(bench: BenchCommand, planned: PlannedPair) -> PairSample:
        pair = usual(bench, planned)
        slow: dict[str, RunSample] = {
            side: run_sample(getattr(pair, side).ops_per_sec * (0.5 if rng.random() < 0.1 else 1))
            for side in planned.order
        }
        return pair.model_copy(update=slow)

    return run_pair


def test_all_looks_together_are_wrong_as_seldom_as_one_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Looking again and again makes an error likelier, unless each look spends a share of alpha.

    The truth lies on the border, so that hardly anything is decided before the last look.
    """
    missed, gain, trials = set[int](), 0.99, 60

    def summarise(asked: JudgeRequest, *rest: object) -> Throughput:
        result = summary(asked, *rest)  # type: ignore[arg-type]
        if not result.overall.low <= gain <= result.overall.high:
            missed.add(asked.seed)
        return result

    summary = summarise_pairs
    monkeypatch.setattr(throughput, "summarise", summarise)
    for seed in range(trials):
        judged(moody(np.random.default_rng(3000 + seed), gain), 240, seed=seed)
    # Three standard errors above the promise of 5 %.
    assert len(missed) <= 0.05 * trials + 3 * math.sqrt(0.05 * 0.95 * trials)


def test_slowdowns_are_found() -> None:
    assert verdicts(0.97, 0.01, 30)[Verdict.NO_GO] >= 28


def test_gains_are_found() -> None:
    assert verdicts(1.04, 0.02, 30)[Verdict.GO] >= 28


@pytest.mark.parametrize(
    "make",
    [
        lambda: request(pairs=8),
        lambda: request(pairs=11),
        lambda: request(time_budget_s=0.0),
        lambda: request(self_check_s=-1.0),
        lambda: BenchCommand(name="x", argv=("/bench",), allowance=1.5),
        lambda: request(names=("a", "a")),
        lambda: request(names=()),
        lambda: BenchCommand(name="x", argv=("relative/path",)),
        lambda: BenchCommand(name="x", argv=("/bench",), weight=0.0),
        lambda: BenchCommand(name="x", argv=("/bench",), count_argv=()),
        lambda: Margins(throughput=0.0),
        lambda: Margins(rss_slack_kib=-1),
    ],
)
def test_requests_that_make_no_sense_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        make()


def test_pairs_that_take_longer_than_the_budget_have_a_forecast() -> None:
    """It went from seconds to pairs in the middle, and nobody knew for how long."""
    said: list[str] = []
    slow = endless(step=40.0)  # a block of two
    measure(
        request(("a",), time_budget_s=60.0), in_turn(undecided), said.append, lambda: next(slow)
    )
    pairs = [line for line in said if line.startswith("pair ")]
    assert pairs[:3] == [
        "pair 1, 0 s of 60: a",
        "pair 3 of 10, about 3 min more: a",
        "pair 5 of 10, about 2 min more: a",
    ]
    assert pairs[-1].endswith("about 40 s more: a")


def test_pairs_within_the_budget_tell_the_seconds_of_it() -> None:
    said: list[str] = []
    measure(request(("a",), time_budget_s=60.0), in_turn(undecided), said.append, ticking())
    pairs = [line for line in said if line.startswith("pair ")]
    assert pairs[1] == "pair 3, 2 s of 60: a"
    assert all("about" not in line for line in pairs)
