"""Illegal geometries are refused in a sentence here, and by the compiler as well."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from geometry_support import strange

from pipeline.core.errors import ProfileError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.paths import Tree
from pipeline.geometry import rules
from pipeline.geometry.model import Geometry
from pipeline.geometry.rules import check, deepest, heap_bytes, require_legal, usual_class
from pipeline.geometry.tables import default_geometry, generate

TREE = Tree.here()
DEFAULT = default_geometry(TREE)
COMPILERS = [name for name in ("clang-22", "gcc") if shutil.which(name)]
# What geometry.h and types.h have for a geometry, as the compiler works it out.
PRINT = """
#include "base/classes.h"
#include <stdio.h>
int main(void) {
    printf("%zu %d", HAK_HEAP_SIZE, HAK_LAST_SIZED);
    for (int cls = 1; cls < HAK_FIRST_COLD; cls++)
        printf(" %d:%d", hak_classes[cls].deepest, hak_classes[cls].capacity);
    printf("\\n%d %zu %zu %d %d %d %d %d", (int)HAK_MIN_ALIGN, HAK_SMALL_MAX, HAK_MEDIUM_MAX,
           (int)HAK_PAGES_PER_SEGMENT, (int)HAK_SLAB_MAX_BLOCKS,
           HAK_CLASSES - HAK_FIRST_COLD, hak_classes[HAK_FIRST_COLD].depth,
           (int)HAK_CLASS_LIMIT - 2 - (HAK_CLASSES - HAK_FIRST_COLD));
    return 0;
}
"""


@dataclass(frozen=True)
class Broken:
    """A change that makes the default geometry illegal, and the words that must name it."""

    said: str
    change: Callable[[Geometry], Geometry]


def with_class(index: int, **values: object) -> Callable[[Geometry], Geometry]:
    def change(geometry: Geometry) -> Geometry:
        classes = list(geometry.classes)
        classes[index] = classes[index].model_copy(update=values)
        return geometry.with_classes(classes)

    return change


def with_value(name: str, value: int) -> Callable[[Geometry], Geometry]:
    return lambda geometry: geometry.with_value(name, value)


def many(geometry: Geometry) -> Geometry:
    small = [usual_class(size) for size in range(16, 2049, 16)]
    medium = [usual_class(size) for size in range(2304, 35329, 256)]
    return geometry.with_classes([*small[:125], *medium, geometry.classes[-1]])


BROKEN = {
    "no multiple of 16": Broken("multiple of 16", with_class(2, size=40)),
    "nothing": Broken("multiple of 16", with_class(0, size=0)),
    "below zero": Broken("multiple of 16", with_class(0, size=-16)),
    "no multiple of 256": Broken("multiple of 256", with_class(41, size=2576)),
    "beyond medium": Broken("must be at most 65536", with_class(79, size=65792)),
    "no pages": Broken("it must have 1 to 32", with_class(9, pages=0)),
    "more than a segment": Broken("it must have 1 to 32", with_class(79, pages=33)),
    "too many blocks": Broken("would have 8192 blocks; it may have 4096", with_class(0, pages=2)),
    "depth 1": Broken("depth is 1; it must be from 2 to 1024", with_class(5, depth=1)),
    "depth 1025": Broken("depth is 1025", with_class(5, depth=1025)),
    "sizes that fall": Broken("class of 96 bytes after one of 128", with_class(4, size=128)),
    "a size twice": Broken("class of 32 bytes after one of 32", with_class(0, size=32)),
    "an end too early": Broken(
        "the last class must be of 65536 bytes", lambda g: g.with_classes(g.classes[:-1])
    ),
    "no class": Broken("the last class must be", lambda g: g.with_classes([])),
    "too many classes": Broken("there are 256 classes; there may be 234", many),
    "pages of 32 KiB": Broken(
        "page_shift is 15; it must be from 16 to 18", with_value("page_shift", 15)
    ),
    "large pages, small blocks": Broken(
        "8192 blocks; it may have 4096", with_value("page_shift", 17)
    ),
    "no first slots": Broken(
        "small_depth is 1; it must be from 2 to 256", with_value("small_depth", 1)
    ),
    "magazines beyond a segment": Broken(
        "must fit into a segment, 2097152", with_value("deep_bytes", 67108864)
    ),
    "no refill": Broken(
        "batch_share is 33; it must be from 1 to 32", with_value("batch_share", 33)
    ),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_illegal_geometry_is_refused_in_a_sentence(broken: Broken) -> None:
    geometry = broken.change(DEFAULT)
    assert any(broken.said in sentence for sentence in check(geometry)), check(geometry)
    with pytest.raises(ProfileError) as caught:
        require_legal(geometry, "the/file.toml")
    assert caught.value.exit_code == ExitCode.PROFILE
    assert caught.value.message.startswith("the/file.toml: ")
    assert "docs/geometry.md" in caught.value.hint


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_the_compiler_refuses_the_same(broken: Broken, tmp_path: Path) -> None:
    generate(broken.change(DEFAULT), tmp_path)
    done = compile_tables(COMPILERS[0], tmp_path, "-fsyntax-only")
    assert done.returncode != 0
    assert "static assertion failed" in done.stderr or "static_assert failed" in done.stderr


def test_every_range_of_a_constant_is_kept() -> None:
    for one in DEFAULT.constants:
        for value, legal in ((one.lowest - 1, False), (one.highest + 1, False), (one.value, True)):
            found = [s for s in check(DEFAULT.with_value(one.name, value)) if one.name in s]
            assert (found == []) is legal, (one.name, value, found)
        assert one.lowest <= one.value <= one.highest


def test_the_default_is_legal_and_follows_its_own_rules() -> None:
    assert check(DEFAULT) == []
    for one in DEFAULT.classes:
        assert usual_class(one.size).values == one.values


@pytest.mark.parametrize("compiler", COMPILERS)
def test_what_is_reckoned_here_is_what_the_compiler_reckons(compiler: str, tmp_path: Path) -> None:
    for geometry in (DEFAULT, strange(DEFAULT)):
        generate(geometry, tmp_path)
        program = tmp_path / "print"
        source = TREE.root / "allocator" / "base" / "classes.c"
        done = compile_tables(compiler, tmp_path, str(source), "-o", str(program))
        assert done.returncode == 0, done.stderr
        said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        first, second = said.splitlines()
        heap, count, *rows = first.split()
        assert int(heap) <= heap_bytes(geometry) <= int(heap) + 8192
        assert int(count) == len(geometry.classes)
        for row, one in zip(rows, geometry.classes, strict=True):
            capacity = one.pages * geometry.page_bytes // one.size
            assert row == f"{deepest(geometry, one)}:{capacity}"
        limits = [rules.MIN_ALIGN, rules.SMALL_MAX, rules.MEDIUM_MAX]
        limits += [rules.PAGES_PER_SEGMENT, rules.SLAB_MAX_BLOCKS]
        limits += [rules.COLD_CLASSES, rules.COLD_DEPTH, rules.MOST_CLASSES]
        assert second.split() == [str(limit) for limit in limits]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_blocks_are_fetched_ahead_only_where_a_geometry_asks(compiler: str, tmp_path: Path) -> None:
    counts = dict.fromkeys((0, 1, 3), 0)
    for lines, name in itertools.product(counts, ("gate.c", "medium.c")):
        generate(DEFAULT.with_value("prefetch_lines", lines), tmp_path)
        source = (TREE.root / "allocator" / "front" / name).read_text()
        done = compile_tables(
            compiler, tmp_path, "-O2", "-D_GNU_SOURCE", "-S", "-o", "-", source=source
        )
        assert done.returncode == 0, done.stderr
        counts[lines] += done.stdout.count("prefetch")
    # Two places: malloc of small sizes and of middle ones.
    assert counts == {0: 0, 1: 2, 3: 6}


def compile_tables(
    compiler: str, tables: Path, *arguments: str, source: str = PRINT
) -> subprocess.CompletedProcess[str]:
    files = {"CLASS": "classes.def", "CONSTANT": "constants.def"}
    defines = [f'-DHAK_{name}_TABLE="{tables}/{file}"' for name, file in files.items()]
    include = f"-I{TREE.root / 'allocator'}"
    return subprocess.run(
        [
            compiler,
            "-std=gnu17",
            "-Wall",
            "-Wextra",
            "-Werror",
            include,
            *defines,
            "-xc",
            "-",
            *arguments,
        ],
        input=source,
        capture_output=True,
        text=True,
        check=False,
    )
