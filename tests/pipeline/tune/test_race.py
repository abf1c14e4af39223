"""A race between candidates in a world whose truth is known: what pays, and what has no time."""

from __future__ import annotations

from pathlib import Path

from tune_support import LONG, TRUTH, World, measurer, single

from pipeline.tune.search import combinations, race, winners


def test_a_race_finds_what_pays_and_drops_what_does_not(tmp_path: Path) -> None:
    world = World(TRUTH)
    trials = race(measurer(world, tmp_path / "r"), [single(name) for name in TRUTH], LONG)
    assert len(trials) == len(TRUTH)
    wins = {trial.candidate.name for trial in trials if trial.standing.wins}
    assert wins == {"fast", "lean"}
    blocks = {trial.candidate.name: trial.blocks for trial in trials}
    assert blocks["slow"] == blocks["slow-and-lean"] == blocks["fast-and-fat"] == 1
    assert blocks["fast"] == blocks["lean"] == 4
    assert len(world.jobs) < 4 * len(TRUTH)


def test_of_moves_about_the_same_thing_the_best_is_taken(tmp_path: Path) -> None:
    world = World({"a": (1.03, 1.0), "b": (1.06, 1.0), "c": (1.0, 0.95)})
    trials = race(measurer(world, tmp_path / "r"), [single(name) for name in "abc"], LONG)
    paying = winners(trials, {"a": "depth", "b": "depth", "c": "table"})
    assert {trial.candidate.name for trial in paying} == {"b", "c"}
    assert [set(names) for names in combinations(paying)] == [{"b", "c"}]


def test_without_time_candidates_are_left_out_and_nothing_is_begun_late(tmp_path: Path) -> None:
    world = World(TRUTH)
    trials = race(measurer(world, tmp_path / "r"), [single(name) for name in TRUTH], 3.5)
    assert len(world.jobs) == 3
    assert [trial.blocks for trial in trials] == [1, 1, 1]
