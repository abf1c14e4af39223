"""Reading geometry.toml: every error names the file, the key and what is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from pipeline.core.errors import ProfileError
from pipeline.core.paths import Tree
from pipeline.core.processor import ANY, nearest
from pipeline.core.spelling import did_you_mean
from pipeline.geometry.code import CHOICES
from pipeline.geometry.known_files import require_known_files
from pipeline.geometry.model import ALL_CLASSES, Depth, Geometry, Record, SizeClass, Which
from pipeline.geometry.rules import require_legal, usual_class
from pipeline.geometry.tables import CLASSES, CONSTANTS, default_geometry
from pipeline.profile.load import read_as

NOT_MEASURED = "not measured"
DEFAULTS = f"allocator/base/{CLASSES} and {CONSTANTS}, the defaults"
_SMALLEST_PAGE = 65536
Words = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class _Value(Record):
    """A constant of the file: whoever changes one says why."""

    value: int
    why: Words
    worth: Words = NOT_MEASURED


class _Setting(Record):
    """A setting of the code: a word, or a number that is one."""

    value: str | int
    why: Words
    worth: Words = NOT_MEASURED


class _Row(Record):
    """A size class of the file. What is left out is as the default table's rules have it."""

    size: Annotated[int, Field(ge=1)]
    pages: int | None = None
    depth: Depth | None = None
    why: str = ""
    worth: str = ""

    def size_class(self, page_bytes: int) -> SizeClass:
        """Return the row with what it leaves out."""
        given = self.model_dump(exclude_none=True)
        return usual_class(self.size, page_bytes).model_copy(update=given)


class _Change(Record):
    """What one class, or each, has otherwise than before: what is left out stays."""

    pages: int | None = None
    depth: Depth | None = None
    why: Words
    worth: Words = NOT_MEASURED


class _Table(Record):
    """The table of size classes as a whole: it stands in place of the default one."""

    table: Annotated[tuple[_Row, ...], Field(min_length=1)]
    why: Words
    worth: Words = NOT_MEASURED


class _Search(Record):
    """What a search came to that chose nothing: words for people, by the name of each change."""

    result: Words
    worth: dict[str, Words] = Field(default_factory=dict)


class _File(Record):
    schema_version: Literal[1]
    processor: str = ANY
    search: _Search | None = None
    constants: dict[str, _Value] = Field(default_factory=dict)
    code: dict[str, _Setting] = Field(default_factory=dict)
    classes: _Table | None = None
    changes: dict[Which, _Change] = Field(default_factory=dict, alias="class")


def load_geometry(tree: Tree, profile: str, cpu: str = ANY) -> Geometry | None:
    """Return the geometry of a profile; None where all is as the default, with a file or without.

    Of the files for kinds of processors the one that fits ``cpu`` best adds to what holds for all.
    Raises ProfileError for a file that is not valid, or says what no library can be built with.
    """
    common = common_geometry(tree, profile)
    geometry = _with_kind(tree, profile, cpu, common)
    return None if geometry.digest == default_geometry(tree).digest else geometry


def common_geometry(tree: Tree, profile: str) -> Geometry:
    """Return what holds for all processors: geometry.toml, or the default."""
    require_known_files(tree, profile)
    path, default = tree.geometry(profile), default_geometry(tree)
    if not path.exists():
        return default
    found = parse_geometry(path, default)
    if found.processor != ANY:
        raise ProfileError(
            f"{path}: processor: is {found.processor!r}, but this file holds for all",
            hint=f"what is for one kind belongs to {tree.geometry(profile, found.processor).name}",
        )
    return found


def kind_for(tree: Tree, profile: str, cpu: str) -> str | None:
    """Return the kind of processor whose file fits ``cpu`` best: its own, or its vendor's."""
    names = (name for name in nearest(cpu) if tree.geometry(profile, name).exists())
    return next(names, None)


def kinds_of(tree: Tree, profile: str) -> list[str]:
    """Return the kinds of processors that have a file of their own, sorted."""
    files = tree.layout(profile).glob("geometry-*.toml")
    return sorted(path.stem.removeprefix("geometry-") for path in files)


def parse_geometry(path: Path, default: Geometry) -> Geometry:
    """Return the geometry in the file ``path``; what it leaves out is taken from ``default``.

    Raises ProfileError for a file that is not valid, or says what no library can be built with.
    It names the default tables where the fault is theirs: each file takes over what they say.
    """
    read = read_as(_File, path, page="docs/geometry.md")
    require_legal(default, DEFAULTS)
    geometry = _fill(path, read, default)
    require_legal(geometry, str(path))
    return geometry


def changed_geometry(
    default: Geometry,
    path: Path,
    constants: Mapping[str, int],
    depths: Mapping[Which, int],
    why: str,
) -> Geometry:
    """Return ``default`` with some constants and depths of classes otherwise, as ``path`` asks.

    Raises ProfileError for what is unknown, or what no library can be built with.
    """
    values = {name: _Value(value=value, why=why) for name, value in constants.items()}
    rows = {size: _Change(depth=depth, why=why) for size, depth in depths.items()}
    read = _File.model_validate({"schema_version": 1, "constants": values, "class": rows})
    geometry = _fill(path, read, default)
    require_legal(geometry, str(path))
    return geometry


def _with_kind(tree: Tree, profile: str, cpu: str, common: Geometry) -> Geometry:
    kind = kind_for(tree, profile, cpu)
    if kind is None:
        return common
    path = tree.geometry(profile, kind)
    geometry = parse_geometry(path, common)
    if geometry.processor not in (ANY, kind):
        raise ProfileError(
            f"{path}: processor: is {geometry.processor!r}; must be {kind!r}, like the file"
        )
    return geometry.for_processor(ANY if geometry.digest == common.digest else kind)


def _fill(path: Path, read: _File, default: Geometry) -> Geometry:
    geometry = default.for_processor(read.processor)
    for name, one in read.constants.items():
        _require_known(path, "constants", name, (known.name for known in default.constants))
        geometry = geometry.with_value(name, one.value, one.why, one.worth)
    for name, setting in read.code.items():
        _require_known(path, "code", name, CHOICES)
        geometry = geometry.with_setting(name, str(setting.value), setting.why, setting.worth)
    if read.classes is not None:
        geometry = _with_table(geometry, read.classes)
    return _with_changes(path, geometry, read.changes)


def _with_table(geometry: Geometry, table: _Table) -> Geometry:
    # The rules refuse an illegal page_shift later; until then nothing may be shifted by it.
    shift = geometry.constant("page_shift")
    legal = shift.lowest <= shift.value <= shift.highest
    page_bytes = geometry.page_bytes if legal else _SMALLEST_PAGE
    classes = (row.size_class(page_bytes) for row in table.table)
    return geometry.with_classes(classes, table.why, table.worth)


def _with_changes(path: Path, geometry: Geometry, changes: dict[Which, _Change]) -> Geometry:
    sizes = [one.size for one in geometry.classes]
    for size in changes:
        if size != ALL_CLASSES and size not in sizes:
            near = sorted(sorted(sizes, key=lambda one: abs(one - size))[:2])
            raise ProfileError(
                f"{path}: there is no class of {size} bytes; "
                f"the nearest ones have {' and '.join(map(str, near))}",
                hint="a row changes a class that is there; a new one needs the whole table "
                "([classes] in docs/geometry.md), or a row in allocator/base/classes.def",
            )
    classes = (one.model_copy(update=_update(changes, one.size)) for one in geometry.classes)
    return geometry.with_classes(classes, geometry.classes_why, geometry.classes_worth)


def _update(changes: dict[Which, _Change], size: int) -> dict[str, object]:
    """Return what a class changes: what the row of all says, and then its own.

    One that says "as 512" is worth what the row of 512 says.
    """
    rows = [changes[key] for key in (ALL_CLASSES, size) if key in changes]
    update = {key: said for row in rows for key, said in row.model_dump(exclude_none=True).items()}
    first = re.fullmatch(r"as (\d+)", str(update.get("why", "")))
    if first and int(first[1]) in changes:
        update["worth"] = changes[int(first[1])].worth
    return update


def _require_known(path: Path, table: str, name: str, known: Iterable[str]) -> None:
    names = sorted(known)
    if name not in names:
        word = {"constants": "constant", "code": "setting"}[table]
        raise ProfileError(
            f"{path}: {table}, {name}: unknown {word}; known: {', '.join(names)}",
            hint=did_you_mean(name, names, "docs/geometry.md lists them"),
        )
