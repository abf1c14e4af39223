"""Reading and writing the tables that the compiler includes: classes.def and constants.def."""

from __future__ import annotations

import re
from pathlib import Path

from pipeline.core.errors import ProfileError
from pipeline.core.paths import Tree
from pipeline.geometry.model import Constant, Geometry, SizeClass

CLASSES, CONSTANTS = "classes.def", "constants.def"
PREFIX = "HAK_"
_CLASS = re.compile(r"^HAK_CLASS\((\d+), (\d+), (\d+)\)$", re.M)
_CONSTANT = re.compile(r'^HAK_CONSTANT\((\w+), (\d+), (\d+), (\d+),\s*((?:"[^"]*"\s*)+)\)$', re.M)


def default_geometry(tree: Tree) -> Geometry:
    """Return the geometry of the tree's own tables: the one that the baseline has."""
    folder = tree.root / "allocator" / "base"
    return Geometry(
        classes=read_classes(folder / CLASSES), constants=read_constants(folder / CONSTANTS)
    )


def read_classes(path: Path) -> tuple[SizeClass, ...]:
    """Return the classes of a table; ProfileError if it has none."""
    rows = _CLASS.findall(path.read_text(encoding="utf-8"))
    if not rows:
        raise ProfileError(f"{path}: there is no line HAK_CLASS(size, pages, depth)")
    return tuple(
        SizeClass(size=int(size), pages=int(pages), depth=int(depth)) for size, pages, depth in rows
    )


def read_constants(path: Path) -> tuple[Constant, ...]:
    """Return the constants of a table; ProfileError if it has none."""
    rows = _CONSTANT.findall(path.read_text(encoding="utf-8"))
    if not rows:
        raise ProfileError(f"{path}: there is no line HAK_CONSTANT(name, value, lowest, ...)")
    return tuple(
        Constant(
            name=name.removeprefix(PREFIX).lower(),
            value=int(value),
            lowest=int(lowest),
            highest=int(highest),
            help="".join(re.findall(r'"([^"]*)"', words)),
        )
        for name, value, lowest, highest, words in rows
    )


def generate(geometry: Geometry, folder: Path) -> None:
    """Write both tables into ``folder``, which CMake takes as HAKMEM_GEOMETRY."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CLASSES).write_text(_classes_text(geometry), encoding="utf-8")
    (folder / CONSTANTS).write_text(_constants_text(geometry), encoding="utf-8")


def _classes_text(geometry: Geometry) -> str:
    lines = (f"HAK_CLASS({one.size}, {one.pages}, {one.depth})\n" for one in geometry.classes)
    return "/* Made from a geometry.toml. */\n" + "".join(lines)


def _constants_text(geometry: Geometry) -> str:
    lines = (
        f"HAK_CONSTANT({PREFIX}{one.name.upper()}, {one.value}, {one.lowest}, {one.highest}, "
        f'"{one.help}")\n'
        for one in geometry.constants
    )
    return "/* Made from a geometry.toml. */\n" + "".join(lines)
