"""A list in another order: comments and groups stay where they are, and so does what is pinned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

PIN = "pinned"
"""A comment that begins so keeps the name in front of it at its place, or the group below it."""


def name_of(line: str) -> str:
    """Return the name that a line of a list has; "" for a comment or an empty line."""
    return line.partition("#")[0].strip()


def names_of(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the names of a list, in its order."""
    return tuple(name for line in lines if (name := name_of(line)))


def pinned(lines: Iterable[str]) -> frozenset[str]:
    """Return the names that a person has pinned: one by one, or a group by its heading."""
    found, group = set(), False
    for line in lines:
        name = name_of(line)
        if name and (group or _is_pin(line)):
            found.add(name)
        elif not name:
            group = bool(line.strip()) and (group or _is_pin(line))
    return frozenset(found)


def _is_pin(line: str) -> bool:
    return line.partition("#")[2].replace(":", " ").split()[:1] == [PIN]


def reordered(names: Sequence[str], wanted: Iterable[str], pins: frozenset[str]) -> tuple[str, ...]:
    """Return ``names`` in the order of ``wanted``; what that does not name comes last, as it was.

    Pinned names keep their places. What ``wanted`` names beyond is left out.
    """
    place = {name: number for number, name in enumerate(dict.fromkeys(wanted))}
    free = [name for name in names if name not in pins]
    moving = iter(sorted(free, key=lambda name: place.get(name, len(place))))
    return tuple(name if name in pins else next(moving) for name in names)


def exchanged(names: Sequence[str], one: str, other: str) -> tuple[str, ...]:
    """Return the names with two of them in each other's places."""
    swap = {one: other, other: one}
    return tuple(swap.get(name, name) for name in names)


def neighbours(names: Sequence[str], movable: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each name with the next one, of those that may move.

    Between them lie at most names that are pinned, or that the compiler has inlined.
    """
    allowed = set(movable)
    present = [name for name in names if name in allowed]
    yield from pairwise(present)


def rearranged(lines: Sequence[str], order: Sequence[str]) -> list[str]:
    """Return the lines of a list with its names in another order, each with its own comment.

    Headings and empty lines stay.
    """
    own = {name: line for line in lines if (name := name_of(line))}
    moving = (own[name] for name in order)
    return [next(moving) if name_of(line) else line for line in lines]
