"""What proposed changes of the lists are worth: each is tried, and what pays is kept.

How a library with other lists is made and counted is the caller's affair (``Measure``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.core.errors import DataError
from pipeline.layout.groups import Group
from pipeline.layout.propose import Change

AS_IT_IS, TOGETHER = "as-it-is", "together"


@dataclass(frozen=True)
class Counts:
    """What a library costs in whole programs: misses and hot lines, each a geometric mean.

    ``programs`` has the misses of each.
    """

    misses: float
    lines: float
    programs: Mapping[str, int]


Measure = Callable[[Mapping[str, Sequence[Change]]], Mapping[str, Counts | str]]
"""Counts the library with each of some sets of changes; a sentence where there is no count."""


@dataclass(frozen=True)
class Tried:
    """A group of changes, and what came of it: counts, or why there are none."""

    group: Group
    counts: Counts | None
    problem: str = ""

    def pays(self, before: Counts) -> bool:
        """Return whether the library has fewer misses with it; as many, where functions only leave.

        What leaves never ran: where it is listed, it breaks the contract of the layout.
        """
        if self.counts is None:
            return False
        misses = self.counts.misses
        return misses < before.misses or (self.group.leaves and misses == before.misses)


@dataclass(frozen=True)
class Worth:
    """All that was tried, most misses saved first, and which of it is ``kept``.

    ``after`` is what the library costs with all that is kept; None where nothing is.
    """

    before: Counts
    tried: tuple[Tried, ...]
    kept: tuple[Tried, ...]
    after: Counts | None

    @property
    def left(self) -> tuple[Tried, ...]:
        """What was tried and is not kept."""
        return tuple(one for one in self.tried if one not in self.kept)


def weigh(groups: Sequence[Group], measure: Measure) -> Worth:
    """Try each group alone, then together what pays; DataError if nothing can be counted.

    Where together they save less than the best alone, that one is kept alone.
    """
    sets: dict[str, Sequence[Change]] = {AS_IT_IS: ()}
    sets |= {str(number): group.changes for number, group in enumerate(groups, start=1)}
    found = measure(sets)
    before = found[AS_IT_IS]
    if isinstance(before, str):
        raise DataError(before, hint="read the log of the program that is named")
    tried = [_tried(group, found[str(n)]) for n, group in enumerate(groups, start=1)]
    tried.sort(key=lambda one: one.counts.misses if one.counts else float("inf"))
    good = [one for one in tried if one.pays(before)]
    if len(good) < 2:
        return Worth(before, tuple(tried), tuple(good), good[0].counts if good else None)
    return _together(before, tried, good, measure)


def _tried(group: Group, found: Counts | str) -> Tried:
    return Tried(group, None, found) if isinstance(found, str) else Tried(group, found)


def _together(
    before: Counts, tried: Sequence[Tried], good: Sequence[Tried], measure: Measure
) -> Worth:
    """Count all that pays at once: changes of an order do not simply add up."""
    best = good[0].counts
    every = [change for one in good for change in one.group.changes]
    all_at_once = measure({TOGETHER: every})[TOGETHER]
    if isinstance(all_at_once, Counts) and best and all_at_once.misses <= best.misses:
        return Worth(before, tuple(tried), tuple(good), all_at_once)
    return Worth(before, tuple(tried), tuple(good[:1]), best)


def told(worth: Worth) -> list[Change]:
    """Return the changes that are kept, each with its worth in its reason: for the list."""
    before = worth.before.misses
    return [
        replace(one, reason=f"{one.reason}; {change(before, tried.counts.misses)} misses")
        for tried in worth.kept
        if tried.counts
        for one in tried.group.changes
    ]


def change(before: float, after: float) -> str:
    """Return by how much a count changes, with its sign."""
    return f"{100.0 * (after / before - 1.0):+.2f} %" if before else "unknown"
