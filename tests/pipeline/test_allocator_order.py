"""The allocator's files depend on each other one way, as their includes and their calls say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from pipeline.core.paths import Tree

ROOT = Tree.here().root
ALLOCATOR = ROOT / "allocator"
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
HOT_MAY_INCLUDE = {"base", "hot", "thread/thread", "pages/mark", "magazine/count"}
"""malloc and free know the thread's heap, in hardened builds the marks of its blocks, and how a
malloc is counted; nothing behind them but the two doors of
doors.h."""
INCLUDE = re.compile(r'^#include "([a-z_]+)/([a-z_]+)\.h"$', re.M)
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|^#[^\n]*', re.S | re.M)
DECLARATION = re.compile(r"^[A-Za-z_][^;{}=]*\([^;{}]*\)[^;{}=]*;", re.M)
FUNCTION = re.compile(
    r"^[A-Za-z_][^;{}=]*?\b(\w+)\([^;{}]*\)[^;{}()]*\{([^\n]*\}$|\n.*?^\})", re.M | re.S
)
NAME = re.compile(r"\bhak_[a-z0-9_]+\b")
FAST = {
    "front/gate.c": ("hak_malloc", "hak_free"),
    "front/medium.c": ("hak_malloc_medium",),
}
"""The functions of the fast path that are not in hot/."""
DOORS = {"hak_refill", "hak_retire"}
FURTHER = {"hak_malloc_medium", "hak_large_malloc"}
"""malloc of more than small and of more than medium blocks: each one call further."""
HARDENED = {"hak_free_strictly", "hak_mark_refuse"}
"""Only hardened builds have these calls."""

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


@cache
def code_of(path: Path) -> str:
    """Return the text without comments, strings, directives and declarations of functions."""
    return DECLARATION.sub("", NO_CODE.sub("", path.read_text("utf-8")))


def homes_of(folder: Path) -> dict[str, str]:
    """Return which file defines each function; without names that every variant defines anew."""
    found: dict[str, set[str]] = {}
    for path in (*folder.glob("*/*.c"), *folder.glob("*/*.h")):
        for name, _ in FUNCTION.findall(code_of(path)):
            found.setdefault(name, set()).add(f"{path.parent.name}/{path.stem}")
    return {
        name: next(iter(files))
        for name, files in found.items()
        if len(files) == 1 and NAME.fullmatch(name)
    }


def calls_of(folder: Path) -> Graph:
    """Return which files have functions that each file calls or takes the address of."""
    homes, calls = homes_of(folder), dict.fromkeys(graph_of(folder), frozenset[str]())
    for path in (*folder.glob("*/*.c"), *folder.glob("*/*.h")):
        name = f"{path.parent.name}/{path.stem}"
        called = {homes[one] for one in NAME.findall(code_of(path)) if one in homes}
        calls[name] |= called - {name}
    return {name: set(others) for name, others in calls.items()}


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
    """Return each need of a file in a later folder, in words."""
    rank = {folder: place for place, folder in enumerate(ORDER)}

    def place(name: str) -> int | None:
        return rank.get(name.split("/", maxsplit=1)[0])

    return [
        f"{name} needs {other}"
        for name, others in needs.items()
        for other in sorted(others)
        if (here := place(name)) is not None and (there := place(other)) is not None
        if there > here
    ]


@pytest.fixture(scope="module")
def needs() -> Graph:
    return graph_of(ALLOCATOR)


@pytest.fixture(scope="module")
def calls() -> Graph:
    return calls_of(ALLOCATOR)


def test_no_file_includes_one_of_a_later_folder(needs: Graph) -> None:
    assert len(needs) > 50
    assert against_the_order(needs) == []


@pytest.mark.parametrize("graph", ["needs", "calls"])
def test_files_that_need_each_other_are_pairs_at_most(
    graph: str, request: pytest.FixtureRequest
) -> None:
    for circle in circles(request.getfixturevalue(graph)):
        folders = {name.split("/")[0] for name in circle}
        assert len(folders) == 1, sorted(circle)
        assert len(circle) <= LARGEST_CIRCLE, sorted(circle)


def test_no_file_calls_a_function_of_a_later_folder(calls: Graph) -> None:
    assert sum(map(len, calls.values())) > 500
    assert against_the_order(calls) == []


def test_the_hot_part_calls_two_doors_and_what_longer_blocks_need() -> None:
    homes = homes_of(ALLOCATOR)
    texts = [code_of(path) for path in (ALLOCATOR / "hot").glob("*.h")]
    for file, names in FAST.items():
        bodies = dict(FUNCTION.findall(code_of(ALLOCATOR / file)))
        texts += [bodies[name] for name in names]
    compiled = {
        name
        for path in ALLOCATOR.glob("*/*.c")
        for name, _ in FUNCTION.findall(code_of(path))
        if name in homes
    }
    called = {name for text in texts for name in NAME.findall(text)} & compiled
    assert called == DOORS | FURTHER | (HARDENED & called)
    assert {homes[door] for door in DOORS} == {"front/refill", "front/retire"}


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
    assert against_the_order(broken) == ["base/low needs slab/high"]
    assert list(circles(broken)) == [frozenset({"slab/high", "slab/other", "slab/third"})]


def test_a_call_against_the_order_would_be_found_without_an_include(tmp_path: Path) -> None:
    for name, text in {
        "base/low.c": "void hak_high(void);\nvoid hak_low(void) {\n    hak_high();\n}\n",
        "slab/high.c": "void hak_high(void) {\n    /* hak_low() */\n}\n",
        "slab/one.c": "void hak_low(void);\nvoid (*const hook)(void) = hak_low;\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    calls = calls_of(tmp_path)
    assert calls == {"base/low": {"slab/high"}, "slab/high": set(), "slab/one": {"base/low"}}
    assert against_the_order(calls) == ["base/low needs slab/high"]


NAMED_FILE = re.compile(
    r"(?<![\w./<>-])((?:[a-z_0-9]+/)+[a-z_0-9-]+\.(?:c|h|def|py|cmake|md|toml))\b"
)
SEEN_FROM = (ROOT, ALLOCATOR, ROOT / "tests", ROOT / "docs")


@pytest.mark.parametrize("folder", [ALLOCATOR, ROOT / "tests" / "allocator"], ids=lambda f: f.name)
def test_the_files_that_sources_name_are_there(folder: Path) -> None:
    """A proof sent its readers to the old name of the test that holds it."""
    sources = [path for path in sorted(folder.rglob("*")) if path.suffix in (".c", ".h", ".def")]
    named = {(path, name) for path in sources for name in NAMED_FILE.findall(path.read_text())}
    gone = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, name in sorted(named)
        if not any((place / name).exists() for place in (*SEEN_FROM, *path.parents[:2]))
    ]
    assert len(named) > 100
    assert not gone
