"""Tuning a profile: moves built, raced, combined, confirmed; the outcome in plain words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.core.errors import PipelineError
from pipeline.geometry.model import Constant, Geometry, Setting, SizeClass
from pipeline.judge.keys import percent, with_interval
from pipeline.tune.measure import File
from pipeline.tune.move import Move, apply
from pipeline.tune.search import (
    BLOCKS_EACH,
    Measurer,
    combinations,
    confirm,
    race,
    winners,
)
from pipeline.tune.standing import Standing
from pipeline.tune.trial import Candidate, Confirmation, Trial

SINGLES, COMBINED, LAST = 0.6, 0.75, 0.9
"""Shares of the budget by whose end single moves and combinations have been raced; the last one is
for single moves as long as none of them pays."""

LEAST_BLOCKS = 2.0
"""So many blocks must fit into the time that is left for another wave of moves."""

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
    confirmed: Confirmation | None
    untried: tuple[str, ...]
    refused: dict[str, str]
    kinds: dict[str, tuple[str, ...]]

    @property
    def nothing_pays(self) -> bool:
        """Return whether that is the result: changes were measured, none is left to confirm."""
        open_ends = self.confirmed is None and any(trial.standing.wins for trial in self.trials)
        return bool(self.trials) and self.geometry is None and not open_ends


class Tuner:
    """One search for one profile."""

    def __init__(self, base: Geometry, moves: Sequence[Move], build: Build, measurer: Measurer):
        """Search for better geometries than ``base``, made of ``moves``."""
        self._base = base
        self._moves = {move.name: move for move in moves}
        self._build = build
        self._measurer = measurer
        firsts = {move.kind: move.name for move in reversed(moves)}
        self._firsts = frozenset(firsts.values())
        self.refused: dict[str, str] = {}

    def run(self, budget_s: float, clock: Callable[[], float] = time.monotonic) -> Outcome:
        """Search for at most about ``budget_s`` seconds and return what came of it.

        The first change of each kind is measured in any case, however short that is.
        """
        start = clock()
        self._measurer.ends = start + budget_s
        singles, paying = self._singles(start, budget_s)
        if not paying:
            tried = f"none of the {len(singles)} changes that were measured pays"
            return self._outcome(tried if singles else "nothing was measured", singles, None)
        joined = self._candidates(combinations(paying), start + COMBINED * budget_s)
        together = race(self._measurer, joined, start + COMBINED * budget_s)
        best = max([*paying, *together], key=_worth)
        fresh = confirm(self._measurer, best.candidate, start + budget_s)
        return self._outcome(_verdict(best, fresh), [*singles, *together], fresh)

    def _singles(self, start: float, budget_s: float) -> tuple[list[Trial], list[Trial]]:
        """Race the moves, each alone; return how far they came, and which of them pay.

        While none pays there is nothing to combine: that time goes to more runs, and more moves.
        """
        topics = {name: move.topic for name, move in self._moves.items()}
        waves: list[list[Candidate]] = []
        found: dict[str, Trial] = {}
        for share in (SINGLES, COMBINED, LAST):
            for trials in self._races(waves, start + share * budget_s):
                found |= {trial.candidate.name: trial for trial in trials}
            if paying := winners(list(found.values()), topics):
                return list(found.values()), paying
        return list(found.values()), []

    def _races(self, waves: list[list[Candidate]], deadline: float) -> Iterator[list[Trial]]:
        """Race the waves so far on, then new ones of moves that had no turn, while there is time.

        A race is soon over for most of its candidates, so there may be time for another one.
        """
        for wave in waves:
            yield race(self._measurer, wave, deadline)
        while not waves or self._measurer.has_time(LEAST_BLOCKS, deadline):
            gone = {c.name for wave in waves for c in wave} | set(self.refused)
            wanted = [(name,) for name in self._moves if name not in gone]
            sure = self._firsts if not waves else frozenset[str]()
            wave = self._candidates(wanted, deadline, sure)
            if not wave:
                return
            waves.append(wave)
            yield race(self._measurer, wave, deadline, sure)

    def _candidates(
        self,
        wanted: Sequence[tuple[str, ...]],
        deadline: float,
        sure: frozenset[str] = frozenset(),
    ) -> list[Candidate]:
        """Build the libraries of ``wanted``, in order, as many as can be raced by ``deadline``.

        Those in ``sure`` are built in any case.
        """
        found: list[Candidate] = []
        for names in sorted(wanted, key=lambda names: names[0] not in sure):
            timely = self._measurer.has_time(BLOCKS_EACH * (len(found) + 1), deadline)
            if found and not timely and names[0] not in sure:
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

    def _outcome(
        self, why: str, trials: Sequence[Trial], confirmed: Confirmation | None
    ) -> Outcome:
        measured = {trial.candidate.name for trial in trials}
        gone = measured | set(self.refused)
        chosen = confirmed if confirmed is not None and confirmed.holds else None
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

    def _written(self, chosen: Confirmation, trials: Sequence[Trial]) -> Geometry:
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
            geometry = with_worth(geometry, self._moves[name].reason, worth)
        return geometry


def _worth(trial: Trial) -> tuple[bool, float]:
    return trial.standing.wins, trial.standing.score


def _verdict(best: Trial, fresh: Confirmation | None) -> str:
    name = best.candidate.name
    if fresh is None:
        return f"there was no time to confirm {name}; a larger budget goes on from here"
    found = describe(fresh.standing)
    if fresh.holds:
        return f"{name}: {found} by fresh runs"
    return f"{name} seemed to pay and does not: {fresh.against} ({found})"


def describe(standing: Standing) -> str:
    """Return both keys with their intervals, as changes against the default."""
    speed, memory = standing.speed, standing.memory
    less = f"{percent(1 / memory.value)} [{percent(1 / memory.high)}, {percent(1 / memory.low)}]"
    return f"speed {with_interval(speed)}, peak memory {less}, {standing.pairs} pairs"


def with_worth(geometry: Geometry, reason: str, worth: str) -> Geometry:
    """Return the geometry with ``worth`` wherever ``reason`` is why."""
    update: dict[str, object] = {
        "constants": _each_worth(geometry.constants, reason, worth),
        "classes": _each_worth(geometry.classes, reason, worth),
        "code": _each_worth(geometry.code, reason, worth),
    }
    if geometry.classes_why == reason:
        update["classes_worth"] = worth
    return geometry.model_copy(update=update)


def _each_worth(
    rows: Iterable[Constant | SizeClass | Setting], reason: str, worth: str
) -> tuple[Any, ...]:
    update = {"worth": worth}
    return tuple(one.model_copy(update=update) if one.why == reason else one for one in rows)
