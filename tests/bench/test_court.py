"""The court of shuffled layouts: the listed layout is the same each time, and counted once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.harness import court as module
from bench.harness.court import Court
from bench.harness.judged import SHUFFLED
from pipeline.judge.counting.told import Told
from pipeline.judge.counts import ProgramCounts
from pipeline.judge.request import BenchCommand, JudgeRequest
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
