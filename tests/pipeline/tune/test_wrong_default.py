"""A default that is wrong on purpose is found, by an evaluator that knows what is right.

The evaluator measures each library by how far its geometry is from the right one: a step of two
costs 3 % of speed. Proposals, race, combinations and confirmation are the real ones.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from test_models import trace_of
from tune_support import DEFAULT, World, measurer

from pipeline.core.architecture import X86_64
from pipeline.core.paths import Tree
from pipeline.core.processor import Processor
from pipeline.geometry.model import Geometry
from pipeline.geometry.tables import default_geometry
from pipeline.trace.read import Kind
from pipeline.tune.evidence import gather
from pipeline.tune.measure import File
from pipeline.tune.moves import KINDS, proposals
from pipeline.tune.tuning import Outcome, Tuner

RIGHT = default_geometry(Tree.here())
STEP = 0.03
BUDGET = 70.0
"""As many blocks as fit into --tune-budget 5m: a block is a 70th of it."""

ABLE = Processor("amd-zen3", "a test", frozenset().union(*X86_64.levels.values()), X86_64)
OLD = Processor("intel-nehalem", "a test", X86_64.levels["x86-64-v2"], X86_64)


def trace_rows() -> list[tuple[Kind, int, int, int, int]]:
    rows = [(Kind.MALLOC, n, 0, 72, 0) for n in range(300)]
    for n in range(100):
        rows += [(Kind.MALLOC, 300 + n, 0, 24, 0), (Kind.FREE, 300 + n, 24, 0, 1)]
    return rows


TRACE = trace_of(*trace_rows())


def steps(geometry: Geometry, right: Geometry) -> float:
    """Return how many steps of two all values together are from the right ones."""
    pairs = [(one.value, right.value(one.name)) for one in geometry.constants]
    aligned, wanted = (int(one.setting("align_functions").value) for one in (geometry, right))
    levels = list(X86_64.levels)
    level, best = (levels.index(one.setting("march").value) for one in (geometry, right))
    apart = sum(abs(math.log2((a + 1) / (b + 1))) for a, b in [*pairs, (aligned, wanted)])
    return apart + abs(level - best)


class Evaluator(World):
    """Knows the geometry of each library that it has built."""

    def __init__(self, wrong: Geometry, right: Geometry) -> None:
        super().__init__({})
        self.wrong, self.right = wrong, right

    def build(self, geometry: Geometry) -> File:
        gained = steps(self.wrong, self.right) - steps(geometry, self.right)
        self.truth = {**self.truth, geometry.digest: ((1 + STEP) ** gained, 1.0)}
        return File(Path("/candidate.so"), geometry.digest)


def tuned(wrong: Geometry, right: Geometry, here: Processor, path: Path) -> Outcome:
    world = Evaluator(wrong, right)
    moves = proposals(gather([(TRACE, 1.0)], wrong, 0.25), wrong, here)
    return Tuner(wrong, moves, world.build, measurer(world, path)).run(BUDGET, world.clock)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("small_depth", 2),
        ("deep_times", 1),
        ("first_batch", 2),
        ("batch_share", 1),
        ("warm_slabs", 64),
        ("keep_pages", 0),
        ("prefetch_lines", 4),
    ],
)
def test_a_wrong_constant_is_found_within_the_budget(name: str, value: int, tmp_path: Path) -> None:
    wrong, right = RIGHT.with_value(name, value), RIGHT.value(name)
    outcome = tuned(wrong, RIGHT, OLD, tmp_path / "r")
    found = outcome.geometry
    assert found is not None, outcome.why
    distances = [abs(math.log2((v + 1) / (right + 1))) for v in (value, found.value(name))]
    assert distances[1] < distances[0]
    assert "by fresh runs: speed +" in found.constant(name).worth
    others = {one.name: one.value for one in found.constants if one.name != name}
    assert others == {one.name: one.value for one in RIGHT.constants if one.name != name}


@pytest.mark.parametrize(("name", "wrong", "right"), [("align_functions", "16", "128")])
def test_a_wrong_alignment_is_found(name: str, wrong: str, right: str, tmp_path: Path) -> None:
    outcome = tuned(
        RIGHT.with_setting(name, wrong), RIGHT.with_setting(name, right), OLD, tmp_path / "r"
    )
    assert outcome.geometry is not None, outcome.why
    assert int(outcome.geometry.setting(name).value) > int(wrong)


def test_instructions_that_a_processor_has_are_found_and_others_not_tried(tmp_path: Path) -> None:
    right = RIGHT.with_setting("march", "x86-64-v3")
    found = tuned(RIGHT, right, ABLE, tmp_path / "able")
    assert found.geometry is not None, found.why
    assert found.geometry.setting("march").value == "x86-64-v3"
    assert "by fresh runs: speed +" in found.geometry.setting("march").worth
    old = tuned(RIGHT, right, OLD, tmp_path / "old")
    assert old.kinds["instruction set"] == ("march=x86-64-v2",)
    assert found.kinds["instruction set"] == ("march=x86-64-v3", "march=x86-64-v2")


def test_a_right_default_stays_and_every_kind_was_tried(tmp_path: Path) -> None:
    outcome = tuned(RIGHT, RIGHT, ABLE, tmp_path / "r")
    assert outcome.geometry is None
    measured = {trial.candidate.name for trial in outcome.trials}
    assert set(outcome.kinds) == set(KINDS)
    assert all(names[0] in measured for names in outcome.kinds.values())
    assert DEFAULT.digest not in measured
