"""Judgements whose answer is known, by which the judge is judged."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pipeline.judge.samples import Record, Throughput
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict


class Dose(Record):
    """How much of an injected slowdown one workload gets.

    ``rounds`` is what makes its time longer by ``loss`` (a fraction), computed from the time that
    ``probe_rounds`` took, many times as much: they made it longer by ``probe_loss``.
    """

    workload: str
    rounds: int = Field(gt=0)
    loss: float
    probe_rounds: int = Field(gt=0)
    probe_loss: float


class KnownJudgement(Record):
    """A judgement whose answer is known."""

    name: str
    verdict: Verdict
    expected: tuple[Verdict, ...]
    alarming: tuple[Verdict, ...]
    reason: str

    @property
    def passed(self) -> bool:
        """Return whether the judge said what is right."""
        return self.verdict in self.expected

    @property
    def wrong(self) -> bool:
        """Return whether the judge said what cannot be."""
        return self.verdict in self.alarming


class SelfJudgement(KnownJudgement):
    """One judgement whose answer is known: ``expected`` are the verdicts that are right.

    ``alarming`` are those that show the judge to be wrong; any other only shows it to be weak.
    """

    name: Literal["same build", "known slowdown"]
    throughput: Throughput
    doses: tuple[Dose, ...] = ()

    @property
    def ratio(self) -> Interval:
        """Return the change that was found over all workloads."""
        return self.throughput.overall


class Bloat(Record):
    """How much foreign code a real program was made to run every 256th malloc.

    ``lines`` of 64 B are what makes the library's misses rise by ``rise`` (a fraction), computed
    from the rise by ``probe_lines``.
    """

    task: str
    lines: int = Field(gt=0)
    rise: float
    probe_lines: int = Field(gt=0)
    probe_rise: float


class CountedJudgement(KnownJudgement):
    """One judgement by the I-cache key whose answer is known; else as SelfJudgement."""

    name: Literal["same build, I-cache", "known bloat, I-cache"]
    ratio: Interval | None
    doses: tuple[Bloat, ...] = ()


class SelfCheck(Record):
    """The judge judged: a build against itself, and against itself with a known loss.

    By both keys; None in records from before the I-cache key was checked.
    """

    same_build: SelfJudgement
    slowdown: SelfJudgement
    same_counts: CountedJudgement | None = None
    bloat: CountedJudgement | None = None

    @property
    def judgements(self) -> tuple[SelfJudgement | CountedJudgement, ...]:
        """Return all judgements that were made."""
        counted = (one for one in (self.same_counts, self.bloat) if one is not None)
        return self.same_build, self.slowdown, *counted
