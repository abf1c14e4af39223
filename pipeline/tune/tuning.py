"""Tuning a profile: moves built, raced, combined, confirmed; the outcome in plain words."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipeline.core.errors import PipelineError
from pipeline.geometry.model import Geometry
from pipeline.judge.keys import percent, spread
from pipeline.tune.measure import File
from pipeline.tune.move import Move, apply
from pipeline.tune.search import (
    BLOCKS_EACH,
    Candidate,
    Measurer,
    Trial,
    combinations,
    confirm,
    race,
    winners,
)
from pipeline.tune.standing import Standing

SINGLES, COMBINED = 0.6, 0.75
"""Shares of the budget by whose end single moves and combinations have been raced."""

Build = Callable[[Geometry], File]


@dataclass(frozen=True)
class Outcome:
    """What came of it. ``geometry`` is None when nothing pays, and ``why`` says so.

    ``trials`` has every candidate that was measured; ``untried`` the names of moves for which
    there was no time; ``refused`` those that could not be built, with the reason. ``kinds`` has the
    names of all single moves by what they are about.
    """

    geometry: Geometry | None
    why: str
    trials: tuple[Trial, ...]
    confirmed: Trial | None
    untried: tuple[str, ...]
    refused: dict[str, str]
    kinds: dict[str, tuple[str, ...]]


class Tuner:
    """One search for one profile."""

    def __init__(self, base: Geometry, moves: Sequence[Move], build: Build, measurer: Measurer):
        """Search for better geometries than ``base``, made of ``moves``."""
        self._base = base
        self._moves = {move.name: move for move in moves}
        self._build = build
        self._measurer = measurer
        self.refused: dict[str, str] = {}

    def run(self, budget_s: float, clock: Callable[[], float] = time.monotonic) -> Outcome:
        """Search for at most about ``budget_s`` seconds and return what came of it."""
        start = clock()
        alone = self._candidates([(name,) for name in self._moves], start + SINGLES * budget_s)
        singles = race(self._measurer, alone, start + SINGLES * budget_s)
        topics = {name: move.topic for name, move in self._moves.items()}
        paying = winners(singles, topics)
        if not paying:
            tried = f"none of the {len(singles)} changes that were measured pays"
            return self._outcome(tried if singles else "nothing was measured", singles, None)
        joined = self._candidates(combinations(paying), start + COMBINED * budget_s)
        together = race(self._measurer, joined, start + COMBINED * budget_s)
        best = max([*paying, *together], key=_worth)
        fresh = confirm(self._measurer, best.candidate, start + budget_s)
        return self._outcome(_verdict(best, fresh), [*singles, *together], fresh)

    def _candidates(self, wanted: Sequence[tuple[str, ...]], deadline: float) -> list[Candidate]:
        """Build the libraries of ``wanted``, in order, as many as can be raced by ``deadline``."""
        found: list[Candidate] = []
        for names in wanted:
            race_s = BLOCKS_EACH * (len(found) + 1) * self._measurer.block_seconds()
            if found and self._measurer.left(deadline) < race_s:
                break
            try:
                library = self._build(self._geometry(names))
            except PipelineError as error:
                self.refused[" + ".join(names)] = error.message
            else:
                found.append(Candidate(names, library))
        return found

    def _geometry(self, names: Sequence[str]) -> Geometry:
        return apply(self._base, [self._moves[name] for name in names])

    def _outcome(self, why: str, trials: Sequence[Trial], confirmed: Trial | None) -> Outcome:
        measured = {trial.candidate.name for trial in trials}
        gone = measured | set(self.refused)
        chosen = confirmed if confirmed is not None and confirmed.standing.wins else None
        return Outcome(
            geometry=self._written(chosen, trials) if chosen else None,
            why=why,
            trials=tuple(trials),
            confirmed=confirmed,
            untried=tuple(name for name in self._moves if name not in gone),
            refused=dict(self.refused),
            kinds=self._kinds(),
        )

    def _kinds(self) -> dict[str, tuple[str, ...]]:
        moves = self._moves.values()
        names = dict.fromkeys(move.kind for move in moves)
        return {kind: tuple(m.name for m in moves if m.kind == kind) for kind in names}

    def _written(self, chosen: Trial, trials: Sequence[Trial]) -> Geometry:
        """Return the geometry with what each of its moves was measured to be worth."""
        geometry = self._geometry(chosen.candidate.moves)
        standings = {trial.candidate.name: trial.standing for trial in trials}
        together = describe(chosen.standing)
        for name in chosen.candidate.moves:
            worth = f"measured on the training, by fresh runs: {together}"
            if len(chosen.candidate.moves) > 1:
                worth = (
                    f"measured on the training; alone: {describe(standings[name])}; "
                    f"all changes together, by fresh runs: {together}"
                )
            geometry = _with_worth(geometry, self._moves[name].reason, worth)
        return geometry


def _worth(trial: Trial) -> tuple[bool, float]:
    return trial.standing.wins, trial.standing.score


def _verdict(best: Trial, fresh: Trial | None) -> str:
    name = best.candidate.name
    if fresh is None:
        return f"there was no time to confirm {name}; a larger budget goes on from here"
    found = describe(fresh.standing)
    if fresh.standing.wins:
        return f"{name}: {found} by fresh runs"
    return f"{name} seemed to pay and does not by fresh runs: {found}"


def describe(standing: Standing) -> str:
    """Return both keys with their intervals, as changes against the default."""
    speed, memory = standing.speed, standing.memory
    less = f"{percent(1 / memory.value)} [{percent(1 / memory.high)}, {percent(1 / memory.low)}]"
    return (
        f"speed {percent(speed.value)} {spread(speed)}, peak memory {less}, {standing.pairs} pairs"
    )


def _with_worth(geometry: Geometry, reason: str, worth: str) -> Geometry:
    """Return the geometry with ``worth`` wherever ``reason`` is why."""
    constants = tuple(
        one.model_copy(update={"worth": worth}) if one.why == reason else one
        for one in geometry.constants
    )
    classes = tuple(
        one.model_copy(update={"worth": worth}) if one.why == reason else one
        for one in geometry.classes
    )
    update: dict[str, object] = {"constants": constants, "classes": classes}
    if geometry.classes_why == reason:
        update["classes_worth"] = worth
    return geometry.model_copy(update=update)
