"""The court: the listed layout is counted once, and one dose is the same in all its judgements."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.harness import court as module
from bench.harness.court import TIMES_AS_LONG, Court
from bench.harness.dosed import rounds_for
from bench.harness.judged import LONG, ONE_DOSE, SHUFFLED
from pipeline.judge.counting.told import Told
from pipeline.judge.counts import ProgramCounts
from pipeline.judge.known import Dose
from pipeline.judge.request import BenchCommand, JudgeRequest, Side
from pipeline.judge.samples import PairSample, RunSample
from pipeline.judge.schedule import Block
from pipeline.judge.selfcheck import VARIABLE
from pipeline.judge.tasks import Task

LISTED = Path("listed.so")


@dataclass
class FakeCounter:
    """Counts twice as many misses in what is not the listed layout; ``counted`` is what it did."""

    problem: str = ""
    counted: list[str] = field(default_factory=list)

    def count(self, libraries: dict[str, Path], tasks: tuple[Task, ...]) -> tuple[Told, ...]:
        self.counted += [library.name for library in libraries.values()]
        counts = {side: self._one(library) for side, library in libraries.items()}
        return tuple(Told(task, {} if self.problem else counts, self.problem) for task in tasks)

    def _one(self, library: Path) -> ProgramCounts:
        misses = 100 if library == LISTED else 200
        return ProgramCounts(
            instructions=9, i1_misses=misses, hot_lines=1, total_instructions=9, total_i1_misses=999
        )


def opened(monkeypatch: pytest.MonkeyPatch, counter: FakeCounter) -> Court:
    monkeypatch.setattr(module, "whole_counter", lambda *_: counter)
    monkeypatch.setattr(module, "link_shuffled", lambda *_: None)
    tasks = (Task("one", "one", (), path=Path("/bin/true")),)
    bench = BenchCommand("loop", ("/bin/true",))
    request = JudgeRequest(Path("a.so"), Path("b.so"), (bench,), Path("/logs"), tasks=tasks)
    shop: Any = SimpleNamespace()
    return Court(shop, request, LISTED, Path("lib.a"))


def test_the_listed_layout_is_counted_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    counter = FakeCounter()
    court = opened(monkeypatch, counter)
    found = [court.judge(SHUFFLED, seed, tmp_path) for seed in range(3)]
    assert [one.verdict for one in found] == ["NO-GO"] * 3
    assert [one.ratio for one in found] == [2.0] * 3
    assert sorted(counter.counted) == ["listed.so", *["shuffled.so"] * 3]


def test_what_cannot_be_counted_is_not_decided(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    court = opened(monkeypatch, FakeCounter(problem="it fails"))
    assert court.judge(SHUFFLED, 1, tmp_path).verdict == "INCONCLUSIVE"


COST = {"loop": 1e-5, "compiler": 1e-7}
"""What one round adds to the time of a workload, as a fraction."""


@dataclass
class Waiting:
    """Runs in which each round of the dose takes what it costs; ``rounds`` are those asked for."""

    rounds: list[tuple[str, int]] = field(default_factory=list)

    def __call__(self, bench: BenchCommand, block: Block) -> list[PairSample]:
        rounds = int(bench.side_env["tuned"][VARIABLE])
        self.rounds.append((bench.name, rounds))
        plain, slow = self._run(bench, "baseline"), self._run(bench, "tuned")
        return [
            PairSample(round=0, first="tuned", padding=0, together=True, baseline=plain, tuned=slow)
            for _ in block
        ]

    def _run(self, bench: BenchCommand, side: Side) -> RunSample:
        speed = 1 / (1 + COST[bench.name] * int(bench.side_env[side][VARIABLE]))
        return RunSample(
            ops_per_sec=speed, wall_ops_per_sec=speed, clock="cpu", threads=1, peak_rss_kib=1000
        )


def dosed_court(monkeypatch: pytest.MonkeyPatch, runner: Waiting, rounds: int | None) -> Court:
    monkeypatch.setattr(module, "runner_of", lambda *_: runner)
    benches = tuple(BenchCommand(name, ("/bin/true",)) for name in COST)
    request = JudgeRequest(
        Path("a.so"), Path("b.so"), benches, Path("/logs"), slowed=Path("c.so"), self_check_s=1e-9
    )
    shop: Any = SimpleNamespace()
    return Court(shop, request, LISTED, Path("lib.a"), rounds)


def test_one_dose_makes_all_together_lose_two_per_cent_and_is_calibrated_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runner = Waiting()
    court = dosed_court(monkeypatch, runner, None)
    first = court.judge(ONE_DOSE, 1, tmp_path)
    assert first.ratio == pytest.approx(1 / 1.02, abs=1e-4)
    assert (first.verdict, first.right, first.rounds) == ("NO-GO", True, court.rounds)
    runner.rounds.clear()
    long = court.judge(LONG, 1, tmp_path)
    assert long.ratio == pytest.approx(first.ratio)
    assert first.pairs is not None and long.pairs == TIMES_AS_LONG * first.pairs
    assert set(runner.rounds) == {(name, court.rounds) for name in COST}


def test_a_dose_that_is_known_is_not_calibrated_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runner = Waiting()
    assert dosed_court(monkeypatch, runner, 100).judge(ONE_DOSE, 1, tmp_path).rounds == 100
    assert set(runner.rounds) == {(name, 100) for name in COST}


def test_a_workload_that_cannot_be_slowed_leaves_the_whole_loss_to_the_others() -> None:
    dose = Dose(workload="a", rounds=20, loss=0.02, probe_rounds=1000, probe_loss=1.0)
    alone = rounds_for({"a": 1.0}, {"a": dose}, 0.02)
    assert (alone, rounds_for({"a": 1.0, "b": 1.0}, {"a": dose}, 0.02)) == (20, 40)
    with pytest.raises(ValueError, match="no workload"):
        rounds_for({"a": 1.0}, {}, 0.02)
