"""Training and imported samples as one profile: shares, weights, what fits and what does not."""

from __future__ import annotations

from collections import Counter

import pytest

from pipeline.fleet.sources import Source
from pipeline.fleet.weighing import weigh
from pipeline.toolchain.fdata import Edges

NAMES = {"malloc": "hak_malloc", "hak_malloc": "hak_malloc", "hak_free": "hak_free"}
TRAINING = (
    "0 [unknown] 0 1 malloc 0 0 600",
    "1 malloc 4 1 malloc 20 0 200",
    "1 hak_free 9 0 [unknown] 0 0 50",
    "1 hak_free 4 1 hak_free 30 0 150",
)


def training() -> Edges:
    edges = Edges()
    assert edges.add_lines(TRAINING, 1)
    return edges


def source(weight: float = 1, edges: tuple[str, ...] = (), **functions: int) -> Source:
    return Source(
        file="perf.data",
        sha256="0" * 64,
        weight=weight,
        event="cpu-clock:u",
        samples=sum(functions.values()),
        build_id="ab",
        functions=functions,
        edges=edges,
        edges_of="aa" if edges else "",
    )


def by_function(edges: Edges) -> Counter[str]:
    found: Counter[str] = Counter()
    for edge, count in edges.taken.items():
        found["free" if "hak_free" in edge else "malloc"] += count
    return found


def test_samples_weigh_as_much_as_the_training() -> None:
    merged, rows = weigh(training(), [source(hak_malloc=10, hak_free=90)], "aa", NAMES)
    assert merged.taken.total() == 2 * training().taken.total()
    assert [(one.share, one.by_edges) for one in rows] == [(0.5, False)]


def test_edges_of_a_function_get_its_share_of_the_samples() -> None:
    merged, _ = weigh(training(), [source(hak_malloc=10, hak_free=90)], "aa", NAMES)
    added = by_function(merged) - by_function(training())
    assert added == {"malloc": 100, "free": 900}
    # Inside a function all is multiplied alike: which way it goes is the training's.
    assert merged.taken[TRAINING[1].rsplit(" ", 2)[0]] / merged.taken[
        TRAINING[0].rsplit(" ", 2)[0]
    ] == pytest.approx(200 / 600, rel=0.01)


def test_several_files_share_by_weight() -> None:
    files = [source(3, hak_malloc=7000), source(1, hak_free=10)]
    merged, rows = weigh(training(), files, "aa", NAMES)
    added = by_function(merged) - by_function(training())
    assert added == {"malloc": 750, "free": 250}
    assert [one.share for one in rows] == [0.375, 0.125]


def test_what_the_training_never_ran_is_left_out_and_said() -> None:
    merged, rows = weigh(training(), [source(hak_malloc=75, hak_realloc=25)], "aa", NAMES)
    assert rows[0].unknown == 0.25
    assert "hak_realloc" not in merged.functions()
    assert merged.taken.total() == 2000


EDGES = ("1 hak_malloc 4 1 hak_malloc 50 1 4", "1 hak_malloc 4 1 hak_malloc 20 0 4")


def test_branches_of_the_very_library_are_taken_as_they_are() -> None:
    merged, rows = weigh(training(), [source(edges=EDGES, hak_malloc=8)], "aa", NAMES)
    assert rows[0].by_edges
    assert merged.taken["1 hak_malloc 4 1 hak_malloc 50"] == 500
    assert merged.missed["1 hak_malloc 4 1 hak_malloc 50"] == 125
    assert merged.taken.total() == 2000


def test_branches_of_another_library_count_by_function() -> None:
    merged, rows = weigh(training(), [source(edges=EDGES, hak_malloc=8)], "bb", NAMES)
    assert not rows[0].by_edges
    assert by_function(merged) - by_function(training()) == {"malloc": 1000}
    assert not any("50" in edge.split() for edge in merged.taken)


def test_samples_of_nothing_that_ran_add_nothing() -> None:
    merged, rows = weigh(training(), [source(hak_realloc=25)], "aa", NAMES)
    assert merged.taken == training().taken
    assert rows[0].unknown == 1
