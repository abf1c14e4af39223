"""Tables with a line for each library: the rows in which it clearly differs from ours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from statistics import median
from typing import Any

from bench.harness.rows import MEMORY
from bench.harness.tables.recipe import Recipe
from pipeline.core.errors import UsageError
from pipeline.core.paths import Tree
from pipeline.experiment.entry import find_entry

MANY = 7
"""Samples from which on the lowest and the highest one do not count, and libraries from which on
their median stands for ours."""
SHOWN = 4
"""Differences that a cell names: more are too many words for it."""
NEAR = {"time": 0.1}
NEAR_MEMORY = 0.05
"""A median as near to 1 as this says nothing: of time, and of memory."""
_UNTIMED = {row.name for row in MEMORY}


@dataclass(frozen=True)
class Difference:
    """A figure of one row: the median of its ratios, and between which they lie."""

    row: str
    what: str
    ratio: float
    low: float
    high: float

    def is_beyond(self, near: float) -> bool:
        """Return whether the median is not near 1, and nothing lies within half of that."""
        is_aside = self.low > 1 + near / 2 or self.high < 1 - near / 2
        return is_aside and abs(self.ratio - 1) >= near

    def __str__(self) -> str:
        return f"`{self.row}` {self.what} {self.ratio:.2f} [{self.low:.2f}, {self.high:.2f}]"


def cells(recipe: Recipe, found: dict[str, Any]) -> list[list[str]]:
    """Return the table: a line for each library, with what costs more and what costs less."""
    samples = found["samples"]
    names = dict.fromkeys(who for by_who in samples.values() for who in by_who)
    return [
        [recipe.corner, "more", "less"],
        *([_titled(who), *_more_and_less(recipe, samples, who)] for who in names),
    ]


def differences(recipe: Recipe, samples: dict[str, Any], who: str) -> Iterator[Difference]:
    """Yield where the samples lie on one side of 1, none near it.

    From seven samples on, one at each end does not count: other work on the machine makes such.
    """
    for row, by_who in samples.items():
        for what, figure in recipe.listed.items():
            values = by_who.get(who, {}).get(figure, [])
            if not values or (what == "time" and row.partition("/")[0] in _UNTIMED):
                continue
            usual = _usual(by_who, figure, len(values))
            values = [value / base for value, base in zip(values, usual, strict=True)]
            inner = sorted(values)[1:-1] if len(values) >= MANY else values
            one = Difference(row, what, median(values), min(inner), max(inner))
            if one.is_beyond(NEAR.get(what, NEAR_MEMORY)):
                yield one


def _usual(by_who: dict[str, Any], figure: str, turns: int) -> list[float]:
    """Return the median of all libraries in each turn: hardly any differs in a given row.

    It is steadier than ours alone, whose one slow run would show in each line.
    """
    all_of = [figures[figure] for figures in by_who.values() if figure in figures]
    if len(all_of) < MANY:
        return [1.0] * turns
    return [median(turn) for turn in zip(*all_of, strict=True)]


def _more_and_less(recipe: Recipe, samples: dict[str, Any], who: str) -> tuple[str, str]:
    ones = sorted(differences(recipe, samples, who), key=lambda one: -abs(log(one.ratio)))
    more, less = ([one for one in ones if (one.ratio > 1) == is_more] for is_more in (True, False))
    return _cell(more), _cell(less)


def _cell(ones: list[Difference]) -> str:
    shown = [str(one) for one in ones[:SHOWN]]
    left = len(ones) - len(shown)
    return "; ".join([*shown, *([f"{left} more"] if left else [])])


def _titled(who: str) -> str:
    """Return a link to the trial of that name; a name that the ledger lacks stands for itself."""
    try:
        entry = find_entry(Tree.here(), who)
    except UsageError:
        return who
    return f"[{entry.content.title}](../experiments/{entry.subject}/{entry.path.name})"
