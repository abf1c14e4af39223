"""A whole search in a world whose truth is known, and what is left of it when it is killed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from tune_support import DEFAULT, LONG, TRUTH, World, ground, measurer, run_sample, single

from pipeline.core.errors import BuildError
from pipeline.core.paths import Tree
from pipeline.geometry.load import parse_geometry
from pipeline.geometry.model import Geometry
from pipeline.geometry.tables import default_geometry
from pipeline.geometry.write import write_default
from pipeline.judge.samples import PairSample
from pipeline.tune.engine import Local
from pipeline.tune.measure import File, Job, Result
from pipeline.tune.move import Move, apply
from pipeline.tune.report import lines, markdown, rows, worths
from pipeline.tune.search import CONFIRM_BLOCKS, FRESH, Measurer, confirm, race
from pipeline.tune.state import Journal
from pipeline.tune.tuning import LAST, SINGLES, Outcome, Tuner


def test_confirming_takes_fresh_pairs_and_looks_once(tmp_path: Path) -> None:
    world = World(TRUTH)
    measuring = measurer(world, tmp_path / "r")
    race(measuring, [single("fast")], LONG)
    before = {job.key for job in world.jobs}
    trial = confirm(measuring, single("fast"), LONG)
    fresh = [job for job in world.jobs if job.key not in before]
    assert trial is not None
    assert trial.holds
    blocks = len(FRESH) * CONFIRM_BLOCKS[1]
    assert trial.trial.blocks == blocks
    assert [job.candidate.digest for job in fresh] == ["fast"] * blocks + ["default"] * blocks
    assert {job.seed for job in fresh} == {ground().request.seed + fresh for fresh in FRESH}
    assert trial.repeat.speed.value == pytest.approx(1, abs=0.005)
    assert trial.standing.pairs == trial.repeat.pairs == sum(h.pairs for h in trial.halves)


BASE = default_geometry(Tree.here())
MOVES = {
    "fast": ("small_depth", 64),
    "lean": ("keep_pages", 16),
    "slow": ("small_depth", 8),
    "refused": ("first_batch", 128),
    "nothing": ("warm_slabs", 4),
}
KINDS = {
    "small_depth": "depth",
    "keep_pages": "pages",
    "first_batch": "batch",
    "warm_slabs": "pages",
}
WORTH = {"fast": (1.04, 1.0), "lean": (1.0, 0.96), "slow": (0.95, 1.0), "nothing": (1.0, 1.0)}
OTHERS = dict.fromkeys(("lean", "slow", "nothing"), (1.0, 1.0))


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
        ("depth", "fast", "pays: better in speed"),
        ("depth", "slow", "worse in speed"),
        ("pages", "lean", "pays: better in memory"),
        ("pages", "nothing", "not shown"),
        ("batch", "refused", "cannot be built: the compiler refuses it"),
    ]
    assert [kind for kind, _, _ in told[5:]] == ["together", "fresh runs", "fresh runs"]
    assert found[-2].verdict == "holds: written"
    assert found[-1].name == "the default again"
    assert all("pairs" in row.worth for row in found if row.name != "refused")


def test_kinds_without_a_turn_are_named(tmp_path: Path) -> None:
    outcome = tuned(World(Both()), tmp_path / "r", budget=3.0)
    missed = [row.name for row in rows(outcome) if row.verdict == "no time"]
    assert missed == ["slow", "nothing"]
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
    shown = (": not shown", ": worse in speed", ": better in speed")
    assert all(text.endswith(shown) for text in search["worth"].values())


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
            fresh = job.seed > min(FRESH)
            self.truth = {n: (1.0, 1.0) if fresh or n != "fast" else (1.05, 1.0) for n in WORTH}
            return super().measure(job)

    outcome = tuned(Fleeting({}), tmp_path / "r")
    assert outcome.confirmed is not None
    assert outcome.geometry is None, outcome.why
    assert "fast seemed to pay and does not: by fresh runs it is not shown" in outcome.why


def test_a_budget_that_ends_early_names_what_was_not_tried(tmp_path: Path) -> None:
    outcome = tuned(World(Both()), tmp_path / "r", budget=3.4)
    assert outcome.untried == ("slow", "nothing")


def test_the_first_change_of_each_kind_is_tried_on_every_run(tmp_path: Path) -> None:
    world = World(Both())
    outcome = tuned(world, tmp_path / "r", budget=0)
    assert [job.name for job in world.jobs[:2]] == ["fast", "lean"]
    assert outcome.refused == {"refused": "the compiler refuses it"}
    assert outcome.untried == ("slow", "nothing")


def test_where_there_is_nothing_to_try_nothing_was_measured(tmp_path: Path) -> None:
    outcome = Tuner(BASE, [], library, measurer(World({}), tmp_path / "r")).run(9.0)
    assert outcome.why == "nothing was measured"
    assert not outcome.nothing_pays


class Drifting(World):
    """The default seems to be faster than itself, as on a machine that another program leaves."""

    def measure(self, job: Job) -> Result:
        drift = 1.03 if job.candidate.digest == DEFAULT.digest else 1.0
        return faster(super().measure(job), drift)


class Halfway(World):
    """What was faster in the first fresh runs is not in the second ones."""

    def measure(self, job: Job) -> Result:
        second = job.seed > max(FRESH) and job.candidate.digest != DEFAULT.digest
        return faster(super().measure(job), 0.96 if second else 1.03 if job.seed > 9e5 else 1.0)


def faster(result: Result, factor: float) -> Result:
    """Return a result in which the candidate's runs were faster by a factor."""

    def pair(one: PairSample) -> PairSample:
        rate = one.tuned.ops_per_sec * factor
        return one.model_copy(
            update={"tuned": run_sample(rate, one.tuned.peak_rss_kib)},
        )

    samples = {name: tuple(map(pair, pairs)) for name, pairs in result.samples.items()}
    return result.model_copy(update={"samples": samples})


def test_a_choice_below_the_noise_of_a_repeat_is_none(tmp_path: Path) -> None:
    """It is shown to be better by 2 %, but so is the default against itself, by 3 %."""
    trial = confirm(measurer(Drifting({"fast": (1.02, 1.0)}), tmp_path / "r"), single("fast"), LONG)
    assert trial is not None
    assert trial.standing.wins
    assert not trial.holds
    assert re.fullmatch(
        r"its gain in speed, \+[12]\.\d\d %, is no more than the default's over itself, up to "
        r"\+3\.\d\d %",
        trial.against,
    )
    outcome = tuned(Drifting({"fast": (1.02, 1.0), **OTHERS}), tmp_path / "whole")
    assert outcome.geometry is None
    assert "fast seemed to pay and does not: its gain in speed" in outcome.why
    assert rows(outcome)[-2].verdict.startswith("not written: its gain in speed")


def test_a_choice_that_only_one_seed_shows_is_none(tmp_path: Path) -> None:
    trial = confirm(measurer(Halfway({"odd": (1.03, 1.0)}), tmp_path / "r"), single("odd"), LONG)
    assert trial is not None
    assert not trial.holds
    assert trial.halves[0].words == "better in speed"
    assert trial.halves[1].words != "better in speed"


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
