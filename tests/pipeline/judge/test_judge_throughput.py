"""Scheduling, adaptive rounds, and the error rates of the whole rule on simulated machines."""

import dataclasses
import math
from collections import Counter
from collections.abc import Callable
from itertools import count as endless
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from judge_support import run_sample

from pipeline.judge import statistics
from pipeline.judge.keys import throughput_key
from pipeline.judge.model import PairSample, Throughput
from pipeline.judge.request import BenchCommand, JudgeRequest, Margins
from pipeline.judge.schedule import MAX_PADDING, PlannedPair, plan
from pipeline.judge.throughput import Runner, measure
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
) -> Runner:
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
            **samples,
        )

    return run_pair


@pytest.fixture(autouse=True)
def fewer_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate thousands of judgements in seconds; 999 resamples are enough to see coverage."""
    monkeypatch.setattr(statistics, "RESAMPLES", 999)


def quiet(_: str) -> None:
    """Take a line of progress and drop it."""


def test_every_workload_runs_once_per_round_in_order_abba() -> None:
    planned = list(plan(["x", "y"], range(8), seed=1))
    assert [one.workload for one in planned] == ["x", "y"] * 8
    for name in ("x", "y"):
        firsts = [one.first for one in planned if one.workload == name]
        assert Counter(firsts) == {"baseline": 4, "tuned": 4}
        assert all(left != right for left, right in pairwise(firsts))


def test_later_rounds_go_on_where_earlier_ones_ended() -> None:
    whole = list(plan(["x"], range(20), seed=2))
    assert list(plan(["x"], range(10), 2)) + list(plan(["x"], range(10, 20), 2)) == whole


def test_padding_varies_over_a_page_and_follows_the_seed() -> None:
    first, again, other = (
        [one.padding for one in plan(["x"], range(40), seed)] for seed in (1, 1, 2)
    )
    assert first == again != other
    assert len(set(first)) > 30
    assert 0 <= min(first) < MAX_PADDING / 4
    assert MAX_PADDING * 3 / 4 < max(first) < MAX_PADDING


def test_a_clear_gain_is_decided_at_the_first_look() -> None:
    result = measure(request(), simulated(np.random.default_rng(1), 1.1, 0.005), quiet)
    assert (result.pairs, result.stopped) == (10, "decided after 10 pairs")
    assert result.overall.value == pytest.approx(1.1, abs=0.01)


def test_pairs_are_added_until_it_is_clear() -> None:
    result = measure(request(max_pairs=160), simulated(np.random.default_rng(2), 1.0, 0.02), quiet)
    assert result.pairs > 10
    assert throughput_key(result, Margins()).verdict is Verdict.NEUTRAL
    assert max(len(one.samples) for one in result.workloads) == result.pairs


def test_the_limit_of_pairs_ends_it() -> None:
    result = measure(request(max_pairs=20), simulated(np.random.default_rng(3), 1.0, 0.3), quiet)
    assert result.pairs == 20
    assert "limit of 20 pairs" in result.stopped
    assert result.pairs_to_decide is None or result.pairs_to_decide > 20


@pytest.mark.parametrize(
    ("budget_s", "pairs"), [(1.0, 10), (30.0, 10), (36.0, 12), (50.0, 16), (60.0, 20), (125.0, 40)]
)
def test_the_time_budget_is_used_up_and_not_exceeded(budget_s: float, pairs: int) -> None:
    """Three workloads, one second each: a round takes three seconds."""
    clock = endless(step=1.0)
    result = measure(
        request(time_budget_s=budget_s, max_pairs=40),
        simulated(np.random.default_rng(3), 1.0, 0.3),
        quiet,
        clock=lambda: float(next(clock)),
    )
    assert result.pairs == pairs
    ended = "limit of 40 pairs" if pairs == 40 else f"time budget of {budget_s:g} s"
    assert ended in result.stopped


def test_more_pairs_go_to_the_workloads_that_blur_the_whole() -> None:
    noisy = simulated(np.random.default_rng(7), 1.0, 0.2)
    still = simulated(np.random.default_rng(8), 1.0, 0.001)

    def machine(bench: BenchCommand, planned: PlannedPair) -> PairSample:
        return (noisy if bench.name == "a" else still)(bench, planned)

    result = measure(request(max_pairs=40), machine, quiet)
    pairs = {one.name: len(one.samples) for one in result.workloads}
    assert pairs == {"a": 40, "b": 10, "c": 10}
    firsts = Counter(sample.first for sample in result.workloads[0].samples)
    assert firsts == {"baseline": 20, "tuned": 20}


def test_the_confidence_is_fixed_before_the_first_run() -> None:
    one_look = measure(request(max_pairs=10), simulated(np.random.default_rng(4), 1.1, 0.01), quiet)
    three_looks = measure(
        request(max_pairs=40), simulated(np.random.default_rng(4), 1.1, 0.01), quiet
    )
    assert one_look.overall.confidence == pytest.approx(0.95)
    assert three_looks.overall.confidence == pytest.approx(1 - 0.05 / 3)


def test_a_slower_second_run_does_not_favour_a_side() -> None:
    machine = simulated(np.random.default_rng(5), 1.0, 0.002, second_slower=0.05)
    result = measure(request(max_pairs=40), machine, quiet)
    assert result.overall.low <= 1 <= result.overall.high


def verdicts(gain: float, noise: float, trials: int) -> Counter[Verdict]:
    found: Counter[Verdict] = Counter()
    for seed in range(trials):
        machine = simulated(np.random.default_rng(1000 + seed), gain, noise)
        result: Throughput = measure(request(seed=seed), machine, quiet)
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


def test_slowdowns_are_found() -> None:
    assert verdicts(0.97, 0.01, 30)[Verdict.NO_GO] >= 28


def test_gains_are_found() -> None:
    assert verdicts(1.04, 0.02, 30)[Verdict.GO] >= 28


@pytest.mark.parametrize(
    "make",
    [
        lambda: request(pairs=8),
        lambda: request(pairs=11),
        lambda: request(pairs=20, max_pairs=10),
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
