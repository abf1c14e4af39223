"""What a report says of code: the map of a library, and one row for each function."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pipeline.judge.samples import Record

Part = Literal["whole", "hot", "cold"]
Listed = Literal["hot", "cold"]


class MapFunction(Record):
    """A function, or a half of one, at its place. ``count`` is its heat, None if unknown.

    ``name`` of a cold half is its own symbol; ``parent`` is the function it belongs to.
    """

    name: str
    aliases: tuple[str, ...]
    parent: str | None
    part: Part
    section: str
    address: int = Field(ge=0)
    size: int = Field(gt=0)
    count: int | None
    listed: Listed | None


class MapSection(Record):
    """An executable section of the file."""

    name: str
    address: int
    size: int


class CodeMap(Record):
    """The code of one library by address. ``hot_end`` is the border: where listed hot code ends.

    It is None where nothing of hot.txt is in the library, or where it does not lie together.
    ``counted_by`` says what the counts are.
    """

    build: str
    counted_by: str
    sections: tuple[MapSection, ...]
    functions: tuple[MapFunction, ...]
    hot_end: int | None


class Place(Record):
    """Where a function lies."""

    address: int
    size: int
    section: str


class FunctionRow(Record):
    """One function before and after; a side is None where it is no function of its own there."""

    name: str
    part: Part
    before: Place | None
    after: Place | None
    count: int | None
    listed: Listed | None
    why: str
