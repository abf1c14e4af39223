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

SHOWN = 4
"""Differences that a cell names: more are too many words for it."""
NEAR = {"time": 0.03}
NEAR_MEMORY = 0.015
"""A median as near to 1 as this says nothing: of time, and of memory."""
_UNTIMED = {row.name for row in MEMORY}


@dataclass(frozen=True)
class Difference:
    """A figure of one row: the median of its ratios to ours, the lowest and the highest."""

    row: str
    what: str
    ratio: float
    low: float
    high: float

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
    """Yield where all samples lie on one side of 1, and their median is not near it.

    That happens by chance in one row of 64, where there are seven samples.
    """
    for row, by_who in samples.items():
        for what, figure in recipe.listed.items():
            values = by_who.get(who, {}).get(figure, [])
            if not values or (what == "time" and row.partition("/")[0] in _UNTIMED):
                continue
            one = Difference(row, what, median(values), min(values), max(values))
            is_far = abs(one.ratio - 1) >= NEAR.get(what, NEAR_MEMORY)
            if is_far and (one.low > 1 or one.high < 1):
                yield one


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
