"""Reading geometry.toml: every error names the file, the key and what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from pipeline.core.errors import ProfileError
from pipeline.core.paths import Tree
from pipeline.geometry.model import Geometry, Record, Route, SizeClass
from pipeline.geometry.rules import require_legal, usual_class
from pipeline.geometry.tables import default_geometry
from pipeline.profile.load import read_as

NOT_MEASURED = "not measured"
_SMALLEST_PAGE = 65536
Words = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class _Value(Record):
    """A constant of the file: whoever changes one says why."""

    value: int
    why: Words
    worth: Words = NOT_MEASURED


class _Row(Record):
    """A size class of the file. What is left out is as the default table's rules have it."""

    size: Annotated[int, Field(ge=1)]
    pages: int | None = None
    depth: int | None = None
    route: Route | None = None
    why: str = ""
    worth: str = ""

    def size_class(self, page_bytes: int) -> SizeClass:
        """Return the row with what it leaves out."""
        given = self.model_dump(exclude_none=True)
        return usual_class(self.size, page_bytes).model_copy(update=given)


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
    search: _Search | None = None
    constants: dict[str, _Value] = Field(default_factory=dict)
    classes: _Table | None = None


def load_geometry(tree: Tree, profile: str) -> Geometry | None:
    """Return the geometry of a profile; None where all is as the default, with a file or without.

    Raises ProfileError for a file that is not valid, or says what no library can be built with.
    """
    path, default = tree.geometry(profile), default_geometry(tree)
    geometry = parse_geometry(path, default) if path.exists() else default
    return None if geometry.digest == default.digest else geometry


def parse_geometry(path: Path, default: Geometry) -> Geometry:
    """Return the geometry in the file ``path``; what it leaves out is taken from ``default``.

    Raises ProfileError for a file that is not valid, or says what no library can be built with.
    """
    read = read_as(_File, path, page="docs/geometry.md")
    geometry = _fill(path, read, default)
    require_legal(geometry, str(path))
    return geometry


def _fill(path: Path, read: _File, default: Geometry) -> Geometry:
    geometry = default
    for name, one in read.constants.items():
        _require_known(path, name, (known.name for known in default.constants))
        geometry = geometry.with_value(name, one.value, one.why, one.worth)
    if read.classes is None:
        return geometry
    # An illegal page_shift is told by the rules; here it must only not be shifted by.
    shift = geometry.constant("page_shift")
    legal = shift.lowest <= shift.value <= shift.highest
    page_bytes = geometry.page_bytes if legal else _SMALLEST_PAGE
    classes = (row.size_class(page_bytes) for row in read.classes.table)
    return geometry.with_classes(classes, read.classes.why, read.classes.worth)


def _require_known(path: Path, name: str, known: Iterable[str]) -> None:
    names = sorted(known)
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        raise ProfileError(
            f"{path}: constants, {name}: unknown constant; there is: {', '.join(names)}",
            hint=f"did you mean {close[0]}?" if close else "docs/geometry.md lists them",
        )
