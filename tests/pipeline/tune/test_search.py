"""The search in a world whose truth is known, and what is left of it when it is killed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from tune_support import World, ground, measurer, single

from pipeline.core.errors import BuildError
from pipeline.core.paths import Tree
from pipeline.geometry.load import parse_geometry
from pipeline.geometry.model import Geometry
from pipeline.geometry.tables import default_geometry
from pipeline.geometry.write import write_default
from pipeline.tune.engine import Local
from pipeline.tune.measure import File
from pipeline.tune.move import Move, apply
from pipeline.tune.report import lines, markdown, rows, worths
from pipeline.tune.search import (
    CONFIRM_BLOCKS,
    FRESH,
    Measurer,
    combinations,
    confirm,
    race,
    winners,
)
from pipeline.tune.state import Journal
from pipeline.tune.tuning import LAST, SINGLES, Outcome, Tuner

TRUTH = {
    "fast": (1.05, 1.0),
    "lean": (1.0, 0.95),
    "fast-and-fat": (1.06, 1.08),
    "slow": (0.93, 1.0),
    "slow-and-lean": (0.97, 0.9),
    "nothing": (1.0, 1.0),
    "nothing-else": (1.0, 1.0),
}
LONG = 1e9


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


def test_confirming_takes_fresh_pairs_and_looks_once(tmp_path: Path) -> None:
    world = World(TRUTH)
    measuring = measurer(world, tmp_path / "r")
    race(measuring, [single("fast")], LONG)
    before = {job.key for job in world.jobs}
    trial = confirm(measuring, single("fast"), LONG)
    fresh = [job for job in world.jobs if job.key not in before]
    assert trial is not None
    assert trial.standing.wins
    assert len(fresh) == trial.blocks == CONFIRM_BLOCKS[1]
    assert {job.seed for job in fresh} == {ground().request.seed + FRESH}


# ---- a whole tuning ------------------------------------------------------------------------------


BASE = default_geometry(Tree.here())
MOVES = {
    "fast": ("small_depth", 32),
    "lean": ("keep_pages", 16),
    "slow": ("small_depth", 8),
    "refused": ("first_batch", 32),
    "nothing": ("warm_slabs", 4),
}
KINDS = {
    "small_depth": "depth",
    "keep_pages": "pages",
    "first_batch": "batch",
    "warm_slabs": "pages",
}
WORTH = {"fast": (1.04, 1.0), "lean": (1.0, 0.96), "slow": (0.95, 1.0), "nothing": (1.0, 1.0)}


def moves() -> list[Move]:
    def move(name: str, constant: str, value: int) -> Move:
        return Move(
            name,
            f"constant:{constant}",
            f"because of {name}",
            lambda geometry: geometry.with_value(constant, value, why=f"because of {name}"),
            kind=KINDS[constant],
        )

    return [move(name, *change) for name, change in MOVES.items()]


def library(geometry: Geometry) -> File:
    """Stand in for the compiler: the library's digest tells which moves it is made of."""
    names = [name for name, (constant, value) in MOVES.items() if geometry.value(constant) == value]
    if "refused" in names:
        raise BuildError("the compiler refuses it")
    return File(Path("/candidate.so"), "+".join(names))


class Both(dict[str, tuple[float, float]]):
    """The truth about combinations: gains multiply."""

    def __missing__(self, name: str) -> tuple[float, float]:
        speed = memory = 1.0
        for part in name.split("+"):
            speed, memory = speed * WORTH[part][0], memory * WORTH[part][1]
        return speed, memory


def tuned(world: World, path: Path, budget: float = 1000.0) -> Outcome:
    tuner = Tuner(BASE, moves(), library, measurer(world, path))
    return tuner.run(budget, world.clock)


def test_what_pays_is_combined_confirmed_and_written_with_its_worth(tmp_path: Path) -> None:
    outcome = tuned(World(Both()), tmp_path / "r")
    assert outcome.confirmed is not None
    assert set(outcome.confirmed.candidate.moves) == {"fast", "lean"}
    assert outcome.geometry is not None
    assert outcome.geometry.digest == apply(BASE, moves()[:2]).digest
    depth = outcome.geometry.constant("small_depth")
    assert depth.why == "because of fast"
    assert depth.worth.startswith("measured on the training; alone: speed +")
    assert "all changes together, by fresh runs: speed +" in depth.worth
    assert outcome.refused == {"refused": "the compiler refuses it"}
    assert outcome.untried == ()
    assert "by fresh runs" in outcome.why


def test_each_kind_says_what_was_tried_and_what_it_was_worth(tmp_path: Path) -> None:
    found = rows(tuned(World(Both()), tmp_path / "r"))
    told = [(row.kind, row.name, row.verdict) for row in found]
    assert told[:5] == [
        ("depth", "fast", "pays"),
        ("depth", "slow", "worse"),
        ("pages", "lean", "pays"),
        ("pages", "nothing", "not shown to pay"),
        ("batch", "refused", "cannot be built: the compiler refuses it"),
    ]
    assert [kind for kind, _, _ in told[5:]] == ["together", "fresh runs"]
    assert found[-1].verdict == "holds: written"
    assert all("pairs" in row.worth for row in found if row.name != "refused")


def test_kinds_without_a_turn_are_named(tmp_path: Path) -> None:
    outcome = tuned(World(Both()), tmp_path / "r", budget=3.0)
    missed = [row.name for row in rows(outcome) if row.verdict == "no time"]
    assert "nothing" in missed
    assert "batch: nothing was measured" in lines(outcome)
    page = markdown(outcome, "mine")
    assert page.startswith("# Tuning of mine")
    assert all(f"| {name} | - | no time |" in page for name in missed)


def test_where_nothing_pays_nothing_is_written(tmp_path: Path) -> None:
    world = World(dict.fromkeys(["fast", "lean", "slow", "nothing"], (1.0, 1.0)))
    outcome = tuned(world, tmp_path / "r")
    assert outcome.geometry is None
    assert outcome.nothing_pays
    assert outcome.why == "none of the 4 changes that were measured pays"
    path = tmp_path / "geometry.toml"
    write_default(outcome.why, worths(outcome), path)
    assert parse_geometry(path, BASE).digest == BASE.digest
    search = tomllib.loads(path.read_text(encoding="utf-8"))["search"]
    assert search["result"] == outcome.why
    assert set(search["worth"]) == {"depth: fast", "pages: lean", "depth: slow", "pages: nothing"}
    assert all(
        text.endswith((": not shown to pay", ": worse")) for text in search["worth"].values()
    )


def test_while_nothing_pays_the_time_of_combinations_goes_to_more_runs_and_more_changes(
    tmp_path: Path,
) -> None:
    """Not all moves have a turn in the first part of this budget; in the end they all had."""
    world = World(dict.fromkeys(["fast", "lean", "slow", "nothing"], (1.0, 1.0)))
    outcome = tuned(world, tmp_path / "r", budget=10.0)
    assert outcome.untried == ()
    assert outcome.nothing_pays
    assert SINGLES * 10 < world.now <= LAST * 10
    assert "none of the 4 changes" in outcome.why


def test_progress_says_when_the_whole_search_ends(tmp_path: Path) -> None:
    world, told = World(Both()), list[str]()
    measuring = Measurer(
        ground(), Local(world.measure), Journal(tmp_path / "r"), told.append, world.clock
    )
    Tuner(BASE, moves(), library, measuring).run(100.0, world.clock)
    ends = [re.search(r"the search ends in (\d+) s at most", line) for line in told]
    left = [int(found[1]) for found in ends if found]
    assert left
    assert left == sorted(left, reverse=True)
    assert all(0 <= seconds <= 100 for seconds in left)


def test_what_only_seemed_to_pay_is_not_written(tmp_path: Path) -> None:
    class Fleeting(World):
        """Fast, until it is looked at again."""

        def measure(self, job):  # type: ignore[no-untyped-def]
            fresh = job.seed > FRESH
            self.truth = {n: (1.0, 1.0) if fresh or n != "fast" else (1.05, 1.0) for n in WORTH}
            return super().measure(job)

    outcome = tuned(Fleeting({}), tmp_path / "r")
    assert outcome.confirmed is not None
    assert outcome.geometry is None, outcome.why
    assert "seemed to pay and does not" in outcome.why


def test_a_budget_that_ends_early_names_what_was_not_tried(tmp_path: Path) -> None:
    outcome = tuned(World(Both()), tmp_path / "r", budget=3.4)
    assert outcome.untried == ("lean", "slow", "refused", "nothing")
    nothing = tuned(World(Both()), tmp_path / "other", budget=0)
    assert nothing.why == "nothing was measured"
    assert nothing.geometry is None
    assert not nothing.nothing_pays


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Outcome]:
    """Return how many jobs a search takes, and what comes of it."""
    world = World(Both())
    outcome = tuned(world, tmp_path_factory.mktemp("whole") / "r")
    return len(world.jobs), outcome


@pytest.mark.parametrize("share", [0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_search_that_is_killed_anywhere_goes_on_without_loss(
    tmp_path: Path, undisturbed: tuple[int, Outcome], share: float
) -> None:
    jobs, expected = undisturbed
    dies_after = int(share * jobs)
    killed = World(Both(), dies_after)
    with pytest.raises(KeyboardInterrupt):
        tuned(killed, tmp_path / "r")
    assert len(killed.jobs) == dies_after
    rest = World(Both())
    outcome = tuned(rest, tmp_path / "r")
    assert len(rest.jobs) == jobs - dies_after
    assert outcome == expected
