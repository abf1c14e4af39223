"""What `learn` proposes on trial: each alone, then together what pays, by fresh runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.core.errors import BuildError
from pipeline.geometry.model import Geometry
from pipeline.judge.request import JudgeRequest
from pipeline.judge.verdict import Verdict
from pipeline.learn.rules import Proposal
from pipeline.tune.move import Move, apply
from pipeline.tune.tuning import with_worth
from pipeline.versus.compare import Effort, Progress, Subject, compare
from pipeline.versus.logs import logs_of_errors
from pipeline.versus.model import VersusResult
from pipeline.versus.show import sentence
from pipeline.versus.side import SideOfTwo

Build = Callable[[Geometry], Path]
FRESH = 1_000_000
"""Added to the seed for what is judged together: other orders and stack placements."""


@dataclass(frozen=True)
class Judged:
    """A change, or several together, and the judge's result; None where it cannot be built."""

    moves: tuple[Move, ...]
    result: VersusResult | None
    refused: str = ""

    @property
    def name(self) -> str:
        """Return the names of the changes."""
        return " + ".join(move.name for move in self.moves)

    @property
    def words(self) -> str:
        """Return what the judge found, with both keys' reasons."""
        if self.result is None:
            return f"cannot be built: {self.refused}"
        found = self.result
        return f"{sentence(found)} Speed: {found.speed.reason}. Memory: {found.memory.reason}."

    @property
    def pays(self) -> bool:
        """Return whether one key is better and a loss in the other one is excluded."""
        if self.result is None or self.result.worse:
            return False
        keys = (self.result.speed, self.result.memory)
        better = any(key.verdict is Verdict.GO for key in keys)
        return better and all(key.verdict is Verdict.GO or key.not_worse for key in keys)


@dataclass(frozen=True)
class Outcome:
    """All that was judged; ``geometry`` is what may be written, None where nothing pays."""

    singles: tuple[Judged, ...]
    together: Judged | None
    geometry: Geometry | None


class Trial:
    """Judges changes of ``base`` on the workloads of a request."""

    def __init__(
        self, base: Geometry, build: Build, request: JudgeRequest, profile: str, say: Progress
    ) -> None:
        """Judge libraries that ``build`` makes; ``request`` has the budget of all comparisons."""
        self._base = base
        self._build = build
        self._request = request
        self._profile = profile
        self._say = say

    def run(self, wanted: Sequence[Proposal]) -> Outcome:
        """Judge each of ``wanted`` alone, then what pays once more, by runs of its own."""
        budget_s = self._request.time_budget_s / (len(wanted) + 1)
        request = replace(self._request, time_budget_s=budget_s)
        singles = [self._judge((one.move,), request) for one in wanted]
        paying = [one.moves[0] for one in _one_each(singles)]
        if not paying:
            return Outcome(tuple(singles), None, None)
        fresh = replace(request, seed=request.seed + FRESH)
        together = self._judge(tuple(paying), fresh)
        return Outcome(tuple(singles), together, self._chosen(together))

    def _judge(self, moves: tuple[Move, ...], request: JudgeRequest) -> Judged:
        name = " + ".join(move.name for move in moves)
        self._say(f"{name}: compiling")
        try:
            changed = self._build(apply(self._base, moves))
        except BuildError as error:
            return Judged(moves, None, error.message)
        sides = SideOfTwo("as it is", self._build(self._base), {}), SideOfTwo(name, changed, {})

        def say(text: str) -> None:
            self._say(f"{name}: {text}")

        with logs_of_errors("hakmem-learn-") as logs:
            told = replace(request, logs=logs)
            found = compare(*sides, Subject(profile=self._profile), told, Effort(), say)
        return Judged(moves, found)

    def _chosen(self, together: Judged) -> Geometry | None:
        if not together.pays:
            return None
        worth = f"judged by fresh runs, with all changes of this search: {together.words}"
        geometry = apply(self._base, together.moves)
        for move in together.moves:
            geometry = with_worth(geometry, move.reason, worth)
        return geometry


def _one_each(singles: Sequence[Judged]) -> list[Judged]:
    """Return what pays, at most one of each topic: the first by the order of the rules."""
    found: dict[str, Judged] = {}
    for one in singles:
        if one.pays:
            found.setdefault(one.moves[0].topic, one)
    return list(found.values())
