"""Proposals: legal changes with their figures, and none where the figures suggest none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from learn_support import recorded

from pipeline.core.paths import Tree
from pipeline.geometry.rules import check
from pipeline.geometry.tables import default_geometry
from pipeline.learn.figures import Figures, Room, smooth
from pipeline.learn.rules import overridden, proposals

BASE = default_geometry(Tree.here())
CALM = Figures(1, 2, {"process_resident_bytes": 1e8, "slab_bytes": 8e7, "committed_bytes": 9e7,
                      "huge_page_advised_bytes": 9e7}, {}, ())  # fmt: skip


def names(figures: Figures) -> list[str]:
    return [one.move.name for one in proposals(figures, BASE)]


def test_recorded_programs_get_what_their_figures_say() -> None:
    found = {one.move.name: one for one in proposals(smooth(recorded()), BASE)}
    assert list(found) == ["default_purge_delay=3000", "warm_slabs=4", "default_huge_pages=2"]
    assert found["default_purge_delay=3000"].option == "HAKMEM_PURGE_DELAY=3000"
    assert found["warm_slabs=4"].option == ""
    assert "4,204 runs of pages were retired" in found["warm_slabs=4"].move.reason


def test_a_calm_program_gets_none() -> None:
    assert names(CALM) == []


@pytest.mark.parametrize(
    ("gauges", "counters", "expected"),
    [
        ({"dirty_bytes": 2e7}, {}, ["default_purge_delay=100"]),
        ({"dirty_bytes": 9e6}, {}, []),
        ({"magazine_bytes": 2e7}, {}, ["deep_bytes=131072", "shallow-magazines"]),
        ({}, {"purged_pages": 100, "minor_page_faults_total": 1000}, ["default_purge_delay=3000"]),
        ({}, {"purged_pages": 100, "minor_page_faults_total": 999}, []),
        ({}, {"purged_pages": 100, "minor_page_faults_total": 20000}, []),
        ({}, {"runs_taken": 10000, "runs_given": 1000}, ["warm_slabs=4"]),
        ({}, {"runs_taken": 999, "runs_given": 999}, []),
        ({}, {"runs_taken": 10010, "runs_given": 1000}, []),
        ({"slab_returned_bytes": 5e7}, {}, ["default_huge_pages=1"]),
        ({"huge_page_advised_bytes": 0}, {}, ["default_huge_pages=2"]),
    ],
)
def test_each_rule_begins_at_its_threshold(
    gauges: dict[str, float], counters: dict[str, int], expected: list[str]
) -> None:
    figures = replace(CALM, gauges={**CALM.gauges, **gauges}, counters=counters)
    assert names(figures) == expected
    for one in proposals(figures, BASE):
        assert check(one.move.change(BASE)) == []
        assert any(letter.isdigit() for letter in one.move.reason)


PURGED = {"purged_pages": 100, "minor_page_faults_total": 1000}


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        ({"500"}, ["default_purge_delay=3000"]),
        ({"100"}, []),
        ({"100", "500"}, []),
        (set(), ["default_purge_delay=3000"]),
    ],
)
def test_what_another_value_did_says_nothing_about_the_default(
    used: set[str], expected: list[str]
) -> None:
    """A program with a delay of 100 had the default of 500 called too short."""
    options = {"purge_delay": frozenset(used)}
    assert names(replace(CALM, counters=PURGED, options=options)) == expected


def test_huge_pages_that_were_switched_off_are_not_proposed() -> None:
    gauges = {**CALM.gauges, "huge_page_advised_bytes": 0.0}
    figures = replace(CALM, gauges=gauges, options={"huge_pages": frozenset({"1"})})
    assert names(figures) == []
    assert overridden(figures, BASE) == {"huge_pages": "1"}


def test_classes_that_are_half_empty_get_smaller_slabs() -> None:
    wide = next(one for one in BASE.classes if one.pages > 1)
    figures = replace(CALM, rooms=(Room(wide.size, 4e7, 3e7), Room(64, 4e7, 1e6)))
    (found,) = proposals(figures, BASE)
    changed = {one.size: one.pages for one in found.move.change(BASE).classes}
    assert changed[wide.size] < wide.pages
    assert sum(pages != changed[one.size] for one in BASE.classes for pages in (one.pages,)) == 1
