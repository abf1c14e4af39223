"""The allocator's files depend on each other one way, as their includes say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.core.paths import Tree

ALLOCATOR = Tree.here().root / "allocator"
ORDER = (
    *("base", "os", "stats", "policy", "limits", "pages", "slab", "magazine", "sampling", "trap"),
    *("leaks", "heap", "remote", "bin", "reclaim", "thread", "large", "report", "hot", "front"),
)
"""Each folder may include itself and those before it."""
VARIANTS = ("guard", "research")
"""They wrap the gate. What the gate knows of them is one header."""
GATE_MAY_INCLUDE = {"guard/guard"}
LARGEST_CIRCLE = 2
"""How many files, of one folder, may need each other."""
HOT_MAY_INCLUDE = {"base", "hot", "thread/thread", "pages/mark"}
"""malloc and free know the thread's heap and, in hardened builds, the marks of its blocks; nothing
behind them but the two doors of refill.h."""
INCLUDE = re.compile(r'^#include "([a-z_]+)/([a-z_]+)\.h"$', re.M)

Graph = dict[str, set[str]]


def graph_of(folder: Path) -> Graph:
    """Return what each file needs; x.c and x.h are one file, x."""
    needs: Graph = {}
    for path in sorted((*folder.glob("*/*.c"), *folder.glob("*/*.h"))):
        name = f"{path.parent.name}/{path.stem}"
        found = {f"{one}/{other}" for one, other in INCLUDE.findall(path.read_text("utf-8"))}
        needs.setdefault(name, set()).update(
            other for other in found - {name} if not other.startswith("include/")
        )
    return needs


def reachable(needs: Graph, start: str) -> set[str]:
    """Return all files that ``start`` needs, directly or not."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for other in needs.get(waiting.pop(), set()) - found:
            found.add(other)
            waiting.append(other)
    return found


def circles(needs: Graph) -> Iterator[frozenset[str]]:
    """Yield each set of files that need each other."""
    all_of = {name: reachable(needs, name) for name in needs}
    seen: set[str] = set()
    for name, others in all_of.items():
        circle = frozenset({name} | {other for other in others if name in all_of[other]})
        if len(circle) > 1 and name not in seen:
            seen |= circle
            yield circle


def against_the_order(needs: Graph) -> list[str]:
    """Return each include of a file in a later folder, in words."""
    rank = {folder: place for place, folder in enumerate(ORDER)}

    def place(name: str) -> int | None:
        return rank.get(name.split("/", maxsplit=1)[0])

    return [
        f"{name} includes {other}"
        for name, others in needs.items()
        for other in sorted(others)
        if (here := place(name)) is not None and (there := place(other)) is not None
        if there > here
    ]


@pytest.fixture(scope="module")
def needs() -> Graph:
    return graph_of(ALLOCATOR)


def test_no_file_includes_one_of_a_later_folder(needs: Graph) -> None:
    assert len(needs) > 50
    assert against_the_order(needs) == []


def test_files_that_need_each_other_are_pairs_at_most(needs: Graph) -> None:
    for circle in circles(needs):
        folders = {name.split("/")[0] for name in circle}
        assert len(folders) == 1, sorted(circle)
        assert len(circle) <= LARGEST_CIRCLE, sorted(circle)


def test_the_hot_part_knows_only_the_threads_heap(needs: Graph) -> None:
    for name, others in needs.items():
        if name.startswith("hot/"):
            assert {o for o in others if not {o, o.split("/")[0]} & HOT_MAY_INCLUDE} == set()


def test_nothing_but_the_gate_knows_the_variants(needs: Graph) -> None:
    for name, others in needs.items():
        known = {other for other in others if other.split("/")[0] in VARIANTS}
        if name.split("/", maxsplit=1)[0] not in VARIANTS:
            assert known <= (GATE_MAY_INCLUDE if name.startswith("front/") else set()), name


def test_an_include_against_the_order_and_a_circle_would_be_found(tmp_path: Path) -> None:
    for name, text in {
        "base/low.c": '#include "slab/high.h"\n',
        "slab/high.h": '#include "slab/other.h"\n',
        "slab/other.c": '#include "slab/third.h"\n',
        "slab/third.c": '#include "slab/high.h"\n',
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    broken = graph_of(tmp_path)
    assert against_the_order(broken) == ["base/low includes slab/high"]
    assert list(circles(broken)) == [frozenset({"slab/high", "slab/other", "slab/third"})]
