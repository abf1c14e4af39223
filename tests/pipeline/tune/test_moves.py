"""Proposals: legal, with a reason in numbers, and applied in an order that fits together."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from test_models import trace_of

from pipeline.core.paths import Tree
from pipeline.geometry.load import parse_geometry
from pipeline.geometry.rules import check
from pipeline.geometry.tables import default_geometry
from pipeline.geometry.write import write_toml
from pipeline.trace.read import Kind, Trace
from pipeline.tune.evidence import Evidence, gather
from pipeline.tune.models import waste
from pipeline.tune.move import Move, apply
from pipeline.tune.moves import KINDS, proposals
from pipeline.tune.tables import slabs

BASE = default_geometry(Tree.here())


def program() -> Trace:
    """Return a program with 3,000 live blocks of 72 bytes, some of 1000, and short lives of 24."""
    rows = [(Kind.MALLOC, n, 0, 72, 0) for n in range(3000)]
    rows += [(Kind.MALLOC, 3000 + n, 0, 1000, 0) for n in range(200)]
    for n in range(500):
        rows += [(Kind.MALLOC, 3200 + n, 0, 24, 0), (Kind.FREE, 3200 + n, 24, 0, 1)]
    return trace_of(*rows)


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return gather([(program(), 1.0)], BASE, 0.25)


@pytest.fixture(scope="module")
def moves(evidence: Evidence) -> dict[str, Move]:
    return {move.name: move for move in proposals(evidence, BASE)}


def test_evidence_is_what_the_trace_says(evidence: Evidence) -> None:
    assert evidence.demand.requests == 3700
    assert evidence.used_classes == 3
    assert evidence.remote_share == 1.0
    assert evidence.trips_at(8) > evidence.trips_at(64) > 0
    by_size = {use.size: use for use in evidence.uses}
    assert by_size[80].requests == 3000
    assert by_size[32].requests == 500


def test_every_move_is_legal_and_says_why_in_numbers(moves: dict[str, Move]) -> None:
    assert len(moves) >= 12
    for move in moves.values():
        changed = move.change(BASE)
        assert check(changed) == [], move.name
        assert changed.digest != BASE.digest, move.name
        assert any(character.isdigit() for character in move.reason), move.name
        whys = {one.why for one in changed.constants} | {one.why for one in changed.classes}
        whys |= {one.why for one in changed.code} | {changed.classes_why}
        assert move.reason in whys, move.name


def test_tables_waste_less_than_the_default(moves: dict[str, Move], evidence: Evidence) -> None:
    before = waste(evidence.demand, slabs(BASE))
    tables = [move for name, move in moves.items() if name.startswith("table-")]
    assert len(tables) >= 3
    lost = []
    for move in tables:
        changed = move.change(BASE)
        after = waste(evidence.demand, slabs(changed))
        lost.append((len(changed.classes), after.peak))
        assert {one.size for one in changed.classes} >= {1 << n for n in range(4, 17)}
    assert sorted(lost) == sorted(lost, key=lambda row: -row[1]), "more classes, less waste"
    best = waste(evidence.demand, slabs(tables[0].change(BASE)))
    assert best.peak + best.ends <= before.peak + before.ends


def test_every_kind_has_its_turn_before_any_has_a_second_one(moves: dict[str, Move]) -> None:
    turns = [move.kind for move in moves.values()]
    assert sorted(turns[: len(KINDS)]) == sorted(KINDS)
    assert len(moves) > 2 * len(KINDS)


@pytest.mark.parametrize("size", [24, 1000, 20_000])
def test_a_program_of_one_size_is_offered_every_kind_too(size: int) -> None:
    rows = [(Kind.MALLOC, n, 0, size, 0) for n in range(50)]
    found = proposals(gather([(trace_of(*rows), 1.0)], BASE, 0.25), BASE)
    assert {move.kind for move in found} == set(KINDS)


def test_slabs_are_recut_within_what_is_legal(moves: dict[str, Move]) -> None:
    wide, narrow = (moves[name].change(BASE) for name in ("wide-slabs", "narrow-slabs"))
    before = {one.size: one.pages for one in BASE.classes}
    assert {one.size for one in wide.classes if one.pages > before[one.size]} == {80, 1024}
    assert all(one.pages <= before[one.size] for one in narrow.classes)
    assert all(one.pages * BASE.page_bytes >= 2 * one.size for one in narrow.classes)


def test_moves_of_all_topics_go_together_whatever_their_order(moves: dict[str, Move]) -> None:
    wanted = ["hand=1", "small_depth=64", "shallow-medium", "table-48"]
    one = apply(BASE, [moves[name] for name in wanted])
    other = apply(BASE, [moves[name] for name in reversed(wanted)])
    assert one == other
    assert check(one) == []
    assert one.value("small_depth") == 64
    assert one.value("hand") == 1


def test_a_geometry_of_moves_is_the_same_after_a_trip_through_its_file(
    moves: dict[str, Move], tmp_path: Path
) -> None:
    for name in ("table-48", "hand=1", "page_shift=17"):
        geometry = moves[name].change(BASE)
        write_toml(geometry, BASE, tmp_path / "geometry.toml")
        assert parse_geometry(tmp_path / "geometry.toml", BASE).digest == geometry.digest


def test_a_program_that_fits_the_default_gets_tables_that_change_nothing_for_it() -> None:
    sizes = np.array([one.size for one in BASE.classes if one.size <= 2048])
    rows = [(Kind.MALLOC, n, 0, int(size), 0) for n, size in enumerate(sizes)]
    found = gather([(trace_of(*rows), 1.0)], BASE, 0.25)
    assert waste(found.demand, slabs(BASE)).peak == 0
    for move in proposals(found, BASE):
        assert all(a.size < b.size for a, b in pairwise(move.change(BASE).classes))


@pytest.mark.parametrize("most", [0.125, 0.25])
def test_no_table_wastes_more_of_unseen_sizes_than_the_profile_allows(most: float) -> None:
    found = gather([(program(), 1.0)], BASE, most)
    tables = [move for move in proposals(found, BASE) if move.topic == "table"]
    assert tables
    for move in tables:
        for smaller, larger in pairwise(one.size for one in move.change(BASE).classes):
            assert larger <= 64 or (larger - smaller) / larger <= most or larger - smaller == 16
