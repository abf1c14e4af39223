"""Proposed changes in groups that can be tried one by one: what runs most comes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.layout.propose import Change

MOST = 5
"""So many groups are tried at most: each is linked, and counted in each program for seconds."""


@dataclass(frozen=True)
class Group:
    """Changes that are tried together: those of one function, or all that are left."""

    changes: tuple[Change, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The functions that change their place, each once."""
        return tuple(dict.fromkeys(change.name for change in self.changes))

    @property
    def leaves(self) -> bool:
        """Whether functions leave the lists, and none comes."""
        return not any(change.comes for change in self.changes)

    @property
    def moves(self) -> tuple[str, ...]:
        """Where each function goes, and why, as a sentence each."""
        each = ([c for c in self.changes if c.name == name] for name in self.names)
        return tuple(f"{_move(changes)}: {changes[-1].reason}" for changes in each)


def grouped(changes: Sequence[Change], most: int = MOST) -> tuple[Group, ...]:
    """Return the changes as ``most`` groups at most: one of them has all that are left.

    What comes stands first, as it is proposed: hottest first. What leaves never ran, and is the
    last group.
    """
    coming = dict.fromkeys(change.name for change in changes if change.comes)
    units = [tuple(c for c in changes if c.name == name) for name in coming]
    leaving = tuple(change for change in changes if change.name not in coming)
    room = most - bool(leaving)
    if len(units) > room:
        units[room - 1 :] = [tuple(change for unit in units[room - 1 :] for change in unit)]
    return tuple(Group(unit) for unit in (*units, leaving) if unit)


def _move(changes: Sequence[Change]) -> str:
    """Return where one function goes."""
    name = changes[0].name
    coming = next((change for change in changes if change.comes), None)
    if coming is None:
        return f"{name} out of {' and '.join(change.file for change in changes)}"
    origin = "".join(f" out of {change.file}" for change in changes if not change.comes)
    place = f"behind the group of {coming.after}" if coming.after else "at the end"
    return f"{name}{origin} into {coming.file}, {place}"
