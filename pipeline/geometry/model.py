"""The records of a geometry: every size class and every build constant, with its reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from pipeline.core.digest import digest_value
from pipeline.core.processor import ANY
from pipeline.geometry.code import CHOICES

ALL_CLASSES: Final = "all"


def _which(word: object) -> object:
    if word == ALL_CLASSES or str(word).isdecimal():
        return word
    raise ValueError(f"must be the bytes of a size class, or {ALL_CLASSES}")


LEAST_DEPTH, MOST_DEPTH = 2, 1024


def _depth(value: object) -> object:
    if type(value) is int and LEAST_DEPTH <= value <= MOST_DEPTH:
        return value
    raise ValueError(
        f"must be a number of blocks from {LEAST_DEPTH} to {MOST_DEPTH}, which classes of up to 64 "
        f"bytes have by default; no factor is possible, also not for {ALL_CLASSES}"
    )


Depth = Annotated[int, BeforeValidator(_depth)]
"""Of files: the usual depth of a class."""

Which = Annotated[int | Literal["all"], BeforeValidator(_which)]
"""Of files: which classes an entry is about, one by its size or all of them."""


class Record(BaseModel):
    """Base of all records here: immutable, and strict about names."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SizeClass(Record):
    """One size class: ``size`` in bytes, ``pages`` of a slab, ``depth`` of a magazine in blocks.

    ``why`` it is not as in the default table and what that was measured to be ``worth``; both are
    empty where the table's own words say it.
    """

    size: int
    pages: int
    depth: int
    why: str = ""
    worth: str = ""

    @property
    def values(self) -> tuple[int, int, int]:
        """What decides about the library: everything but the words."""
        return self.size, self.pages, self.depth


class Constant(Record):
    """One build constant: HAK_SMALL_DEPTH is called small_depth here.

    ``lowest``, ``highest`` and ``help`` are those of allocator/base/constants.def.
    """

    name: str
    value: int
    lowest: int
    highest: int
    help: str
    why: str = ""
    worth: str = ""


class Setting(Record):
    """How the code is compiled in one respect: a name and a value of code.CHOICES."""

    name: str
    value: str
    why: str = ""
    worth: str = ""


PLAIN_CODE = tuple(Setting(name=name, value=one.default) for name, one in CHOICES.items())


class Geometry(Record):
    """A whole geometry: what a file leaves out is there as well, with the default's value.

    ``classes`` are in order of size. ``classes_why`` and ``classes_worth`` speak of the table as a
    whole; both are empty where it is the default one. ``processor`` is the kind that it was chosen
    for, where not for all.
    """

    classes: tuple[SizeClass, ...]
    constants: tuple[Constant, ...]
    classes_why: str = ""
    classes_worth: str = ""
    code: tuple[Setting, ...] = PLAIN_CODE
    processor: str = ANY

    def constant(self, name: str) -> Constant:
        """Return the constant ``name``, such as small_depth; KeyError if there is none."""
        for one in self.constants:
            if one.name == name:
                return one
        raise KeyError(name)

    def value(self, name: str) -> int:
        """Return the value of a constant; KeyError if there is none."""
        return self.constant(name).value

    def with_value(self, name: str, value: int, why: str = "", worth: str = "") -> Geometry:
        """Return this geometry with another value of a constant; KeyError if there is none."""
        old = self.constant(name)
        new = old.model_copy(update={"value": value, "why": why, "worth": worth})
        constants = tuple(new if one is old else one for one in self.constants)
        return self.model_copy(update={"constants": constants})

    def with_classes(
        self, classes: Iterable[SizeClass], why: str = "", worth: str = ""
    ) -> Geometry:
        """Return this geometry with another table of size classes."""
        return self.model_copy(
            update={"classes": tuple(classes), "classes_why": why, "classes_worth": worth}
        )

    def setting(self, name: str) -> Setting:
        """Return how the code is compiled in one respect; KeyError if there is none of the name."""
        for one in self.code:
            if one.name == name:
                return one
        raise KeyError(name)

    def with_setting(self, name: str, value: str, why: str = "", worth: str = "") -> Geometry:
        """Return this geometry with its code compiled otherwise; KeyError for an unknown name."""
        old = self.setting(name)
        new = Setting(name=name, value=value, why=why, worth=worth)
        return self.model_copy(
            update={"code": tuple(new if one is old else one for one in self.code)}
        )

    def for_processor(self, name: str) -> Geometry:
        """Return this geometry as one that was chosen for a kind of processor."""
        return self.model_copy(update={"processor": name})

    @property
    def digest(self) -> str:
        """The SHA-256 of what decides about the library: values, not the words about them."""
        values: dict[str, object] = {
            "classes": [one.values for one in self.classes],
            "constants": {one.name: one.value for one in self.constants},
        }
        code = {one.name: one.value for one in self.code if one.value != CHOICES[one.name].default}
        return digest_value({**values, "code": code} if code else values)

    @property
    def page_bytes(self) -> int:
        """The bytes of a page."""
        return 1 << self.value("page_shift")


class Difference(Record):
    """One thing in which a geometry differs from the default, as texts for tables.

    ``before`` or ``after`` is empty where a class is new or gone.
    """

    what: str
    before: str
    after: str
    why: str
    worth: str

    @property
    def brief(self) -> str:
        """The change in a few words, such as "class 64 (depth 1024 -> depth 512)"."""
        return f"{self.what} ({' -> '.join(filter(None, (self.before, self.after)))})"
