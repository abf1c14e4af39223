"""Only what the judge shows to pay, alone and together, may be written."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from judge_support import request_of

from pipeline.core.errors import BuildError
from pipeline.core.paths import Tree
from pipeline.geometry.model import Geometry
from pipeline.geometry.tables import default_geometry
from pipeline.judge.keys import throughput_key
from pipeline.judge.memory_key import memory_key, rss_guard
from pipeline.judge.summarise import summarise
from pipeline.learn import trial
from pipeline.learn.rules import Proposal
from pipeline.learn.trial import Outcome, Trial
from pipeline.tune.move import constant
from pipeline.versus.model import VersusResult

BASE = default_geometry(Tree.here())
LATER = Proposal(constant(BASE, "default_purge_delay", 3000, "12 % of faults"))
SOONER = Proposal(constant(BASE, "default_purge_delay", 100, "13 % wait"))
WARM = Proposal(constant(BASE, "warm_slabs", 4, "34 % retire"))


def found(ratio: float, rss: tuple[int, int] = (40960, 40960)) -> VersusResult:
    """Return a noiseless comparison in which B does ``ratio`` times as much."""
    from judge_support import pair

    request = request_of(["loop"])
    samples = {"loop": [pair(number, 1e7, 1e7 * ratio, rss) for number in range(20)]}
    told = summarise(request, samples, share=1.0, looks=1, seconds=1.0)
    return VersusResult.model_construct(
        throughput=told,
        speed=throughput_key(told, request.margins),
        memory=memory_key(told, request.seed),
        guard=rss_guard(told, request.margins),
    )


def run(
    monkeypatch: pytest.MonkeyPatch, wanted: list[Proposal], results: dict[str, VersusResult]
) -> tuple[Outcome, list[Any]]:
    """Run a trial whose comparisons come out as ``results`` say; return also what was asked."""
    asked: list[Any] = []

    def compare(_a: Any, b: Any, _subject: Any, request: Any, *_: Any) -> VersusResult:
        asked.append((b.name, request.seed, request.time_budget_s))
        return results[b.name]

    def build(geometry: Geometry) -> Path:
        if geometry.value("warm_slabs") == 4 and "refuse" in results:
            raise BuildError("too warm")
        return Path("/some/libhakmem.so")

    monkeypatch.setattr(trial, "compare", compare)
    monkeypatch.setattr(tempfile, "mkdtemp", lambda **_: "/nowhere")
    outcome = Trial(BASE, build, request_of(["loop"]), "mixed", lambda _: None).run(wanted)
    return outcome, asked


def test_what_pays_is_judged_once_more_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    both = "warm_slabs=4 + default_purge_delay=3000"
    results = {
        "warm_slabs=4": found(1.1),
        "default_purge_delay=3000": found(1.0, (40960, 20480)),
        both: found(1.1, (40960, 20480)),
    }
    outcome, asked = run(monkeypatch, [WARM, LATER], results)
    assert [name for name, *_ in asked] == ["warm_slabs=4", "default_purge_delay=3000", both]
    assert asked[2][1] != asked[0][1], "the last runs are fresh"
    assert outcome.geometry is not None
    assert outcome.geometry.value("warm_slabs") == 4
    written = outcome.geometry.constant("default_purge_delay")
    assert written.why == "12 % of faults"
    assert "B is faster than A" in written.worth


def test_what_is_as_fast_or_slower_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    results = {"warm_slabs=4": found(1.0), "default_purge_delay=3000": found(0.9, (40960, 20480))}
    outcome, asked = run(monkeypatch, [WARM, LATER], results)
    assert outcome.geometry is None
    assert outcome.together is None
    assert len(asked) == 2


def test_what_does_not_hold_by_fresh_runs_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = iter([found(1.1), found(1.0)])

    class Turns(dict[str, VersusResult]):
        def __getitem__(self, _name: str) -> VersusResult:
            return next(turns)

    outcome, asked = run(monkeypatch, [WARM], Turns())
    assert len(asked) == 2
    assert outcome.singles[0].pays
    assert outcome.geometry is None


def test_of_two_values_of_one_thing_one_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    results = {one.move.name: found(1.1) for one in (SOONER, LATER)}
    outcome, _ = run(monkeypatch, [SOONER, LATER], results)
    assert outcome.geometry is not None
    assert outcome.geometry.value("default_purge_delay") == 100


def test_what_cannot_be_built_is_told_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    results = {"refuse": found(1.0), "default_purge_delay=3000": found(1.1)}
    outcome, _ = run(monkeypatch, [WARM, LATER], results)
    assert outcome.singles[0].words == "cannot be built: too warm"
    assert outcome.geometry is not None
