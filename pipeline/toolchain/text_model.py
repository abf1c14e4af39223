"""The text map of a library: frozen records that reports can carry. None means unknown."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

# Bytes of a line of the instruction cache on every x86-64 processor.
LINE = 64


class Record(BaseModel):
    """Base of all records of a layout: immutable, and strict about names when read back."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Heat(Record):
    """What the profile counted in a function: entries, and basic blocks executed in all."""

    entries: int = Field(ge=0)
    blocks: int = Field(ge=0)


class Section(Record):
    """An executable section of the file."""

    name: str
    address: int
    size: int


class Function(Record):
    """A function, or one half of a function that was split.

    ``part`` is "cold" for the half that was moved away (its ``parent`` names the function), "hot"
    for the half that stayed, else "whole". ``heat`` counts both halves and stands at the hot one.
    It is None where no profile was given; a profile that never saw the function says zero.
    """

    name: str
    aliases: tuple[str, ...] = ()
    address: int
    size: int = Field(gt=0)
    section: str
    part: Literal["whole", "hot", "cold"] = "whole"
    parent: str | None = None
    heat: Heat | None = None

    @property
    def end(self) -> int:
        """The address behind its last byte."""
        return self.address + self.size

    @property
    def names(self) -> tuple[str, ...]:
        """Its name and all its aliases."""
        return (self.name, *self.aliases)

    @property
    def lines(self) -> int:
        """The cache lines it touches."""
        return (self.end - 1) // LINE - self.address // LINE + 1


class TextMap(Record):
    """All functions of a library by address. ``build_id`` is empty where the file has none."""

    build_id: str
    sections: tuple[Section, ...]
    functions: tuple[Function, ...]

    def find(self, name: str) -> Function | None:
        """Return the function that is called ``name`` or has it as an alias; never a cold half."""
        return next((f for f in self.functions if f.part != "cold" and name in f.names), None)
