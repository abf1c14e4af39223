"""A search for a layout with fewer misses: known orders and flags, then exchanges of neighbours.

How a layout is made and counted is the caller's affair (``Measure``), as is the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.core.errors import DataError
from pipeline.evidence.choice import FEW_MISSES
from pipeline.layout.candidates import ORDER, Candidate, Recipe
from pipeline.layout.pins import exchanged, neighbours

INTERRUPTED = "interrupted"
Measure = Callable[[Sequence[Recipe]], Sequence["Cost | str"]]
"""Counts the library of each recipe; a sentence where there is no count."""


@dataclass(frozen=True, order=True)
class Cost:
    """What a layout costs in whole programs: each a geometric mean; the first one decides.

    ``pages`` and ``lines`` are those of its text that were touched: 4 KiB and 64 bytes each.
    """

    misses: float
    pages: float
    lines: float
    programs: Mapping[str, int] = field(compare=False)


@dataclass(frozen=True)
class Tried:
    """A candidate, and its cost; or why there is none."""

    candidate: Candidate
    cost: Cost | None
    problem: str = ""


@dataclass(frozen=True)
class Exchange:
    """Two neighbours that have changed places, and what the layout costs since then."""

    first: str
    second: str
    cost: Cost


@dataclass
class Found:
    """All that a search knows so far: whole after each step, so that an interrupt loses nothing."""

    before: Cost
    hot: tuple[str, ...]
    tried: list[Tried] = field(default_factory=list)
    untried: list[Candidate] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    exchanged: int = 0
    together: Tried | None = None
    start: Tried | None = None
    ended: str = ""

    @property
    def interrupted(self) -> bool:
        """Whether somebody has ended the search."""
        return self.ended == INTERRUPTED

    def better(self, cost: Cost | None) -> bool:
        """Return whether a layout has fewer misses by more than what makes no difference."""
        return cost is not None and cost.misses < self.before.misses * (1 - FEW_MISSES)

    def best(self, kinds: Iterable[str]) -> Tried | None:
        """Return the candidate of these kinds with the fewest misses; None where none has fewer."""
        wanted = set(kinds)
        fewer = [
            one
            for one in self.tried
            if one.cost and one.candidate.kind in wanted and one.cost.misses < self.before.misses
        ]
        return min(fewer, key=lambda one: one.cost.misses if one.cost else 0.0, default=None)

    def parts(self) -> list[Candidate]:
        """Return the best candidate of each kind that can be put together with others.

        An order takes part only if it would be written by itself: flags do not need one.
        """
        kinds = dict.fromkeys(one.candidate.kind for one in self.tried if one.candidate.recipe.bolt)
        fewest = [best for kind in kinds if (best := self.best([kind]))]
        return [o.candidate for o in fewest if o.candidate.kind != ORDER or self.better(o.cost)]

    @property
    def order(self) -> tuple[tuple[str, ...], Cost]:
        """The best order of hot.txt under the flags as they are, and its cost."""
        if self.exchanges:
            return self._after_exchanges(), self.exchanges[-1].cost
        if self.start is not None and self.start.cost is not None:
            return self.start.candidate.recipe.hot, self.start.cost
        return self.hot, self.before

    def _after_exchanges(self) -> tuple[str, ...]:
        names = self.start.candidate.recipe.hot if self.start else self.hot
        for one in self.exchanges:
            names = exchanged(names, one.first, one.second)
        return names


@dataclass(frozen=True)
class Search:
    """What a search works with. ``left`` tells whether there is time for more.

    ``movable`` are the names that may change places; ``width`` is how many layouts are counted at
    once.
    """

    measure: Measure
    left: Callable[[], bool]
    say: Callable[[str], None]
    movable: frozenset[str]
    width: int = 2

    def run(self, hot: Sequence[str], candidates: Sequence[Candidate]) -> Found:
        """Try the candidates, what is best of each kind together, then exchanges of neighbours.

        An interrupt ends it with what was found so far. DataError where nothing can be counted.
        """
        self.say("counting it as it is")
        before = self.measure([Recipe(tuple(hot))])[0]
        if isinstance(before, str):
            raise DataError(before, hint="read the log of the program that is named")
        found = Found(before, tuple(hot), untried=list(candidates))
        try:
            self._candidates(found)
            self._together(found)
            self._exchanges(found)
        except KeyboardInterrupt:
            found.ended = INTERRUPTED
        return found

    def _candidates(self, found: Found) -> None:
        total = len(found.untried)
        while found.untried and self.left():
            batch = found.untried[: self.width]
            names = ", ".join(f"{one.kind} {one.name}" for one in batch)
            self.say(f"{names} ({len(found.tried) + 1} of {total})")
            costs = self.measure([one.recipe for one in batch])
            found.tried += [_tried(one, cost) for one, cost in zip(batch, costs, strict=True)]
            del found.untried[: self.width]

    def _together(self, found: Found) -> None:
        """Count the best of each kind at once: changes of a layout do not simply add up."""
        parts = found.parts()
        if len(parts) < 2 or not self.left():
            return
        recipe = next((one.recipe for one in parts if one.kind == ORDER), Recipe(found.hot))
        for one in (one for one in parts if one.kind != ORDER):
            recipe = recipe.joined(one.recipe)
        name = ", ".join(f"{one.kind} {one.name}" for one in parts)
        self.say(f"together: {name}")
        found.together = _tried(Candidate("together", name, recipe), self.measure([recipe])[0])

    def _exchanges(self, found: Found) -> None:
        """Exchange neighbours under the flags as they are, and keep each time what counts best."""
        best = found.best([ORDER])
        found.start = best if best and found.better(best.cost) else None
        while self.left() and self._round(found):
            pass
        found.ended = "" if self.left() else "the time was up"

    def _round(self, found: Found) -> bool:
        """Try each pair of neighbours once; tell whether any is kept."""
        kept = len(found.exchanges)
        total = len(self._pairs(found))
        for number in range(0, total, self.width):
            if not self.left():
                return False
            ratio = found.order[1].misses / found.before.misses
            self.say(f"exchange {number + 1} of {total}, best so far {ratio:.4f}")
            self._exchange(found, self._pairs(found)[number : number + self.width])
        return len(found.exchanges) > kept

    def _pairs(self, found: Found) -> list[tuple[str, str]]:
        return list(neighbours(found.order[0], self.movable))

    def _exchange(self, found: Found, pairs: Sequence[tuple[str, str]]) -> None:
        names, cost = found.order
        costs = self.measure([Recipe(exchanged(names, *pair)) for pair in pairs])
        found.exchanged += len(pairs)
        good = [
            Exchange(*pair, new)
            for pair, new in zip(pairs, costs, strict=True)
            if isinstance(new, Cost) and new < cost
        ]
        found.exchanges += sorted(good, key=lambda one: one.cost)[:1]


def _tried(candidate: Candidate, cost: Cost | str) -> Tried:
    return Tried(candidate, None, cost) if isinstance(cost, str) else Tried(candidate, cost)
