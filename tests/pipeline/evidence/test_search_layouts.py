"""A search's work: making layouts, keeping what was counted, orders by first use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.errors import BuildError
from pipeline.judge.counting.told import Told
from pipeline.judge.counts import TouchedCounts
from pipeline.judge.tasks import Task
from pipeline.layout.candidates import Recipe
from pipeline.layout.search import Cost
from pipeline.stages.proof.counted import Counted, Known
from pipeline.stages.proof.first_use import in_order
from pipeline.stages.proof.layout_ground import same_function
from pipeline.stages.proof.search_layouts import Maker
from pipeline.toolchain.flags import Flags
from pipeline.toolchain.symbols import Function, SymbolLists

PERL = Task("perl", "perl", (), path=Path("/usr/bin/perl"))


class Counter:
    """Counts as many misses as a library has bytes; the program fails with an empty one."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def count(self, libraries: Mapping[str, Path], tasks: Sequence[Task]) -> tuple[Told, ...]:
        texts = {name: path.read_text(encoding="utf-8") for name, path in libraries.items()}
        self.asked.append(list(texts.values()))
        if not all(texts.values()):
            return (Told(tasks[0], {}, "it crashed"),)
        return (Told(tasks[0], {name: touched(len(text)) for name, text in texts.items()}),)


def touched(misses: int) -> TouchedCounts:
    return TouchedCounts(
        instructions=9,
        i1_misses=misses,
        hot_lines=4,
        total_instructions=99,
        total_i1_misses=50,
        lines=80,
        pages=7,
    )


def counted(folder: Path, **parts: object) -> tuple[Counted, Counter]:
    counter: Any = Counter()
    known = Known(folder / "searched" / "counts.json")
    return Counted(counter, (PERL,), known, {"cache": "32 KiB", **parts}), counter


def library(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_same_bytes_are_counted_once_also_by_a_later_search(tmp_path: Path) -> None:
    one, other = (library(tmp_path, name, "abc") for name in ("one", "other"))
    count, counter = counted(tmp_path)
    found = count({"one": one, "other": other})
    assert found == {"one": found["other"], "other": Cost(*(found["one"].__dict__.values()))}
    assert counter.asked == [["abc"]]
    again, counter = counted(tmp_path)
    assert again({"one": one}) == {"one": found["one"]}
    assert counter.asked == []
    other_cache, counter = counted(tmp_path, cache="64 KiB")
    other_cache({"one": one})
    assert counter.asked == [["abc"]]


def test_counts_that_cannot_be_read_are_counted_again(tmp_path: Path) -> None:
    file = tmp_path / "searched" / "counts.json"
    file.parent.mkdir()
    for text in ("{", "[]", '{"a": {"misses": 1}}'):
        file.write_text(text, encoding="utf-8")
        count, counter = counted(tmp_path)
        count({"one": library(tmp_path, "one", "abc")})
        assert counter.asked == [["abc"]]


def test_a_program_that_fails_with_one_layout_is_counted_with_the_others(tmp_path: Path) -> None:
    count, _ = counted(tmp_path)
    found = count({"good": library(tmp_path, "good", "abc"), "bad": library(tmp_path, "bad", "")})
    assert found["bad"] == "perl: it crashed"
    assert isinstance(found["good"], Cost) and found["good"].misses == pytest.approx(3)


def test_what_does_not_link_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    told: list[Flags | None] = []

    def make(name: str, lists: SymbolLists, flags: Flags | None) -> Path:
        (tmp_path / name).mkdir()
        told.append(flags)
        if lists.hot == ("odd",):
            raise BuildError("unknown option\nand more")
        return library(tmp_path / name, "lib.so", "+".join((*lists.hot, *lists.cold)))

    count, _ = counted(tmp_path)
    maker = Maker(make, count, tmp_path, ("fatal",))
    found = maker([Recipe(("odd",)), Recipe(("free",), bolt=False)])
    assert found[0] == "unknown option"
    assert isinstance(found[1], Cost) and found[1].misses == pytest.approx(len("free+fatal"))
    assert told[0] and told[1] is None
    assert [path.name for path in tmp_path.iterdir()] == ["searched"]


TRACE = """\
==12== Nulgrind, the minimal Valgrind tool
==== SB 7 (evchecks 1) [tid 1] 0x401b7e7 _dl_start+119 /lib/ld-linux.so.2+0x1b7e7
==== SB 8 (evchecks 2) [tid 1] 0x4851040 malloc /tmp/a/libhakmem.so+0x1040
==== SB 9 (evchecks 2) [tid 1] 0x4851050 malloc+16 /tmp/a/libhakmem.so+0x1050
==== SB 10 (evchecks 3) [tid 2] 0x4851090 hak_refill+4 /tmp/a/libhakmem.so+0x1090
==== SB 11 (evchecks 3) [tid 1] 0x4851040 malloc /tmp/other/libhakmem.so+0x1040
==== SB 12 (evchecks 3) [tid 1] 0x5851040 UNKNOWN_FUNCTION UNKNOWN_OBJECT+0x0
"""


def test_first_use_is_read_from_a_trace_of_blocks() -> None:
    found = in_order(TRACE.splitlines(keepends=True), Path("/tmp/a/libhakmem.so"))
    assert found == ["malloc", "hak_refill"]


def test_another_name_of_a_function_means_the_listed_one() -> None:
    functions = [Function("hak_malloc", 64, 32), Function("malloc", 64, 32), Function("f", 128, 9)]
    assert same_function(["f", "malloc", "gone"], functions) == [
        "f",
        "hak_malloc",
        "malloc",
        "gone",
    ]
