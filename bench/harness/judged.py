"""Judgements whose answer is known: a line of a file each, and a table of them all."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.table import Table

from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict

SAME, SLOWED, BORDER, ONE_DOSE, LONG, SHUFFLED = (
    "same build",
    "2 % slowdown",
    "1 % slowdown",
    "2 % loss, one dose",
    "one dose, at length",
    "shuffled layout",
)
RIGHT = {
    SAME: (Verdict.NEUTRAL, Verdict.INCONCLUSIVE),
    SLOWED: (Verdict.NO_GO,),
    BORDER: (Verdict.NEUTRAL, Verdict.INCONCLUSIVE, Verdict.NO_GO),
    ONE_DOSE: (Verdict.NO_GO,),
    LONG: (Verdict.NO_GO,),
    SHUFFLED: (Verdict.NO_GO,),
}
"""What is judged, and which verdicts are right. A loss of 1 % lies on the border of the margin, so
that a gain alone is wrong."""
TRUTH = {SAME: 1.0, SLOWED: 1 / 1.02, BORDER: 1 / 1.01}
"""Ratios that are known. What shuffling a layout costs is not, and one dose is measured."""
VERDICTS = tuple(verdict.value for verdict in Verdict)


@dataclass(frozen=True)
class Judged:
    """One judgement: ``ratio`` and the ends of its interval are tuned / baseline.

    ``rounds`` is the one dose that all workloads had; None where they had none, or one each.
    """

    kind: str
    seed: int
    verdict: str
    right: bool
    ratio: float | None
    low: float | None
    high: float | None
    pairs: int | None
    seconds: float
    load: float
    rounds: int | None = None


def judged(
    kind: str,
    seed: int,
    answer: tuple[Verdict, Interval | None, int | None],
    *,
    seconds: float,
    load: float,
    rounds: int | None = None,
) -> Judged:
    """Return the record of one judgement: its verdict, its interval, and of how many pairs."""
    verdict, ratio, pairs = answer
    return Judged(
        kind=kind,
        seed=seed,
        verdict=verdict.value,
        right=verdict in RIGHT[kind],
        ratio=ratio.value if ratio else None,
        low=ratio.low if ratio else None,
        high=ratio.high if ratio else None,
        pairs=pairs,
        seconds=round(seconds, 1),
        load=load,
        rounds=rounds,
    )


def read(file: Path) -> list[Judged]:
    """Return the judgements that ``file`` has; none when there is no file yet."""
    if not file.exists():
        return []
    return [Judged(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]


def keep(file: Path, one: Judged) -> None:
    """Add one judgement to ``file``."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(asdict(one)) + "\n")


def figures(one: Judged) -> dict[str, float]:
    """Return numbers of a judgement to be summed up; change and half width in per cent."""
    found = {"judgements": 1.0, "right": float(one.right), "load": one.load}
    found |= {verdict: float(one.verdict == verdict) for verdict in VERDICTS}
    found |= {"pairs": one.pairs} if one.pairs is not None else {}
    if one.ratio is None or one.low is None or one.high is None:
        return found
    found |= {"change": (one.ratio - 1) * 100, "half width": (one.high - one.low) * 50}
    truth = TRUTH.get(one.kind)
    missed = {} if truth is None else {"truth missed": float(not one.low <= truth <= one.high)}
    return found | missed


def missing(wanted: dict[str, int], there: list[Judged]) -> list[tuple[str, int]]:
    """Return kind and seed of the judgements that are still to be made, the kinds by turns."""
    done = {(one.kind, one.seed) for one in there}
    places = [
        (seed / number, kind, seed)
        for kind, number in wanted.items()
        for seed in range(1, number + 1)
    ]
    return [(kind, seed) for _, kind, seed in sorted(places) if (kind, seed) not in done]


def table_of(judgements: list[Judged]) -> Table:
    """Return a row per kind of judgement: how often which verdict was given, and how precisely."""
    table = Table("judgements", "right", *VERDICTS)
    for name in ("change", "least", "most", "half width", "seconds", "load"):
        table.add_column(name, justify="right")
    for kind in RIGHT:
        ones = [one for one in judgements if one.kind == kind]
        if ones:
            table.add_row(kind, *_cells(ones))
    return table


def _cells(ones: list[Judged]) -> list[str]:
    counted = [figures(one) for one in ones]
    given = [f"{sum(one[verdict] for one in counted):.0f}" for verdict in VERDICTS]
    halves = [one["half width"] for one in counted if "half width" in one]
    changes = [one["change"] for one in counted if "change" in one]
    told = (np.median(changes), min(changes), max(changes)) if changes else ()
    loads = [one.load for one in ones]
    return [
        f"{sum(one.right for one in ones)} of {len(ones)}",
        *given,
        *([f"{change:+.2f} %" for change in told] or [""] * 3),
        f"{np.median(halves):.2f} %" if halves else "",
        f"{np.median([one.seconds for one in ones]):.0f}",
        f"{min(loads):.1f} to {max(loads):.1f}",
    ]
