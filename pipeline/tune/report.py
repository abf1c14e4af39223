"""What a search for a geometry tried, by kind, and what it was worth: as lines and as a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.tune.search import REPEAT
from pipeline.tune.trial import Trial
from pipeline.tune.tuning import Outcome, describe


@dataclass(frozen=True)
class Row:
    """One change, or several together (``kind`` is "together" then), and what came of it."""

    kind: str
    name: str
    worth: str
    verdict: str


def rows(outcome: Outcome) -> list[Row]:
    """Return all that was proposed in order of the kinds, then combinations and confirmation."""
    single = {t.candidate.moves[0]: t for t in outcome.trials if len(t.candidate.moves) == 1}
    alone = [
        _single(kind, name, single.get(name), outcome)
        for kind, names in outcome.kinds.items()
        for name in names
    ]
    joined = [
        Row("together", t.candidate.name, describe(t.standing), _verdict(t))
        for t in outcome.trials
        if len(t.candidate.moves) > 1
    ]
    return [*alone, *joined, *_confirmed(outcome)]


def _single(kind: str, name: str, trial: Trial | None, outcome: Outcome) -> Row:
    if trial is not None:
        return Row(kind, name, describe(trial.standing), _verdict(trial))
    reason = outcome.refused.get(name)
    return Row(kind, name, "", f"cannot be built: {reason}" if reason else "no time")


def _confirmed(outcome: Outcome) -> Iterator[Row]:
    fresh = outcome.confirmed
    if fresh is not None:
        found = "holds: written" if fresh.holds else f"not written: {fresh.against}"
        yield Row("fresh runs", fresh.candidate.name, describe(fresh.standing), found)
        yield Row("fresh runs", REPEAT, describe(fresh.repeat), "the noise of a repeat")


def _verdict(trial: Trial) -> str:
    """Return what the intervals show; "pays" where that is enough to be written."""
    words = trial.standing.words
    if trial.standing.wins:
        return f"pays: {words}"
    return words + (trial.standing.risk if trial.standing.better else "")


def lines(outcome: Outcome) -> list[str]:
    """Return one line for each change that was measured, and one for each kind without a turn."""
    found = rows(outcome)
    told = [f"{row.kind}: {row.name}: {row.worth}: {row.verdict}" for row in found if row.worth]
    tried = {row.kind for row in found if row.worth}
    missed = [kind for kind in outcome.kinds if kind not in tried]
    return [*told, *(f"{kind}: nothing was measured" for kind in missed)]


def worths(outcome: Outcome) -> dict[str, str]:
    """Return for each change that was measured what came of it, by its name."""
    found = [row for row in rows(outcome) if row.worth]
    named = [f"{row.kind}: {row.name}" for row in found]
    return dict(zip(named, (f"{row.worth}: {row.verdict}" for row in found), strict=True))


def markdown(outcome: Outcome, profile: str) -> str:
    """Return the page: every change with its kind, its worth on the training and the verdict."""
    table = ["| kind | change | worth on the training | |", "| --- | --- | --- | --- |"]
    table += [f"| {r.kind} | {r.name} | {r.worth or '-'} | {r.verdict} |" for r in rows(outcome)]
    return "\n".join([f"# Tuning of {profile}", "", f"Result: {outcome.why}.", "", *table]) + "\n"
