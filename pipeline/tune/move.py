"""A move: a small named change of a geometry, with its reason; and how geometries are changed.

A move is a guess that costs nothing to state. Whether it pays is measured (search.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipeline.geometry.model import Geometry, SizeClass
from pipeline.geometry.rules import (
    PAGES_PER_SEGMENT,
    SLAB_MAX_BLOCKS,
    usual_class,
    usual_pages,
)

Change = Callable[[Geometry], Geometry]
Which = Callable[[SizeClass], bool]
Recut = Callable[[SizeClass], dict[str, object]]

TOPICS = ("pages", "table", "slabs", "depth", "constant", "code")
"""The order in which moves are applied: a table is made before single classes are changed."""


@dataclass(frozen=True)
class Move:
    """A change with its reason. Of several moves with one ``topic`` at most one is taken.

    ``kind`` is what the change is about, one of moves.KINDS; proposals() fills it in.
    """

    name: str
    topic: str
    reason: str
    change: Change
    kind: str = ""


def apply(geometry: Geometry, moves: Sequence[Move]) -> Geometry:
    """Return the geometry with all ``moves``, in the order in which they fit together."""
    for move in sorted(moves, key=lambda move: TOPICS.index(move.topic.split(":")[0])):
        geometry = move.change(geometry)
    return geometry


def constant(base: Geometry, name: str, value: int, reason: str) -> Move:
    """Return the move that sets a constant to the legal value next to ``value``."""
    one = base.constant(name)
    value = max(one.lowest, min(one.highest, value))
    return Move(
        f"{name}={value}",
        f"constant:{name}",
        reason,
        lambda geometry: geometry.with_value(name, value, why=reason),
    )


def code(base: Geometry, name: str, value: str, reason: str) -> Move:
    """Return the move that compiles the code otherwise."""
    return Move(
        f"{name}={value}",
        f"code:{base.setting(name).name}",
        reason,
        lambda geometry: geometry.with_setting(name, value, why=reason),
    )


def table(sizes: Sequence[int], reason: str) -> Move:
    """Return the move to another table, of classes that are cut by the usual rules."""

    def change(geometry: Geometry) -> Geometry:
        page = geometry.page_bytes
        return geometry.with_classes((usual_class(size, page) for size in sizes), why=reason)

    return Move(f"table-{len(sizes)}", "table", reason, change)


def pages(shift: int, reason: str) -> Move:
    """Return the move to pages of 2^shift bytes: classes too small for them are served by others.

    A slab has at most SLAB_MAX_BLOCKS blocks, hence the smallest class of a page size.
    """

    def change(geometry: Geometry) -> Geometry:
        wider = geometry.with_value("page_shift", shift, why=reason)
        least, page = wider.page_bytes // SLAB_MAX_BLOCKS, wider.page_bytes
        classes = [_recut(one, page) for one in wider.classes if one.size >= least]
        return wider.with_classes(classes, why=geometry.classes_why or reason)

    return Move(f"page_shift={shift}", "pages", reason, change)


def _recut(one: SizeClass, page_bytes: int) -> SizeClass:
    return one.model_copy(update={"pages": usual_pages(one.size, page_bytes)})


def slabs(name: str, which: Which, factor: float, reason: str) -> Move:
    """Return the move to slabs ``factor`` times as large, as far as that is legal."""

    def change(geometry: Geometry) -> Geometry:
        page = geometry.page_bytes

        def recut(one: SizeClass) -> dict[str, object]:
            most = min(PAGES_PER_SEGMENT, SLAB_MAX_BLOCKS * one.size // page)
            least = -(-2 * one.size // page)
            return {"pages": max(least, min(most, round(one.pages * factor)))}

        return _with(geometry, which, recut, reason)

    return Move(name, "slabs", reason, change)


def depths(name: str, which: Which, factor: float, reason: str) -> Move:
    """Return the move that makes the magazines of some classes ``factor`` times as deep."""

    def recut(one: SizeClass) -> dict[str, object]:
        return {"depth": max(2, min(1024, round(one.depth * factor)))}

    return Move(name, "depth", reason, lambda g: _with(g, which, recut, reason))


def _with(geometry: Geometry, which: Which, recut: Recut, reason: str) -> Geometry:
    """Return the geometry with some classes recut.

    The first reason belongs to the whole table; if that has one already, it goes to the classes.
    """
    own = reason if geometry.classes_why else ""
    return geometry.with_classes(
        (_changed(one, recut(one), own) if which(one) else one for one in geometry.classes),
        why=geometry.classes_why or reason,
        worth=geometry.classes_worth,
    )


def _changed(one: SizeClass, update: dict[str, object], why: str) -> SizeClass:
    new = one.model_copy(update=update)
    return one if new.values == one.values else new.model_copy(update={"why": why})
