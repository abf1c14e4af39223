"""What a report says of two versions, one against the other."""

from __future__ import annotations

from typing import Literal

from pydantic import FiniteFloat

from pipeline.judge.samples import Record
from pipeline.judge.verdict import Verdict
from pipeline.report.code_model import CodeMap, FunctionRow
from pipeline.report.text import change, workloads_apart

# "info" is a quantity that is shown and not judged; "unknown" one that could not be.
Judgement = Literal["better", "same", "unclear", "worse", "unknown", "info"]


SPEED, INSTRUCTIONS = "throughput", "instructions per op"
"""Names of two rows: of speed by one judgement of both, and of a count."""

OF_VERDICT: dict[Verdict, Judgement] = {
    Verdict.GO: "better",
    Verdict.NEUTRAL: "same",
    Verdict.NO_GO: "worse",
    Verdict.INCONCLUSIVE: "unclear",
}


class ComparedRow(Record):
    """One quantity of two versions. ``low`` and ``high`` are the ends of the ratio, if it has any.

    ``why`` says what the judgement rests on, or why there is none.
    """

    name: str
    unit: str
    before: FiniteFloat | None
    after: FiniteFloat | None
    ratio: FiniteFloat | None
    low: FiniteFloat | None = None
    high: FiniteFloat | None = None
    judgement: Judgement
    why: str

    @property
    def is_of_pairs(self) -> bool:
        """Whether the change is a median over pairs, and not that of the two columns."""
        if not self.before or self.after is None or self.ratio is None:
            return False
        return change(self.after / self.before) != change(self.ratio)


class Comparison(Record):
    """One version against another one. ``measured`` tells of a direct judgement, if there was.

    ``dropped`` are the workloads that judged the older one alone, ``added`` the newer one alone.
    """

    version: str
    created: str
    measured: bool
    rows: tuple[ComparedRow, ...]
    workloads: tuple[ComparedRow, ...]
    functions: tuple[FunctionRow, ...]
    code: CodeMap | None
    notes: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    @property
    def apart(self) -> str:
        """How the workloads differ that judged the two, in words; "" where they do not."""
        return workloads_apart(self.dropped, self.added)

    @property
    def speed_judged(self) -> Judgement | None:
        """What one judgement says of the speed of both; None where there was none."""
        return next((row.judgement for row in self.rows if row.name == SPEED), None)

    @property
    def worse_overall(self) -> tuple[ComparedRow, ...]:
        """The quantities over all workloads that got worse.

        More instructions are no loss where both were timed in one judgement, and no time is lost.
        """
        worse = [row for row in self.rows if row.judgement == "worse"]
        timed = self.speed_judged in ("same", "better")
        return tuple(row for row in worse if not (timed and row.name == INSTRUCTIONS))

    @property
    def worse(self) -> tuple[ComparedRow, ...]:
        """The quantities that got worse."""
        return tuple(row for row in (*self.rows, *self.workloads) if row.judgement == "worse")
