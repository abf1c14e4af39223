"""The result of `pipeline versus`: what was compared, what was measured, what the judge says."""

from __future__ import annotations

from typing import Literal

from pipeline.judge.model import Environment, Guard, Key
from pipeline.judge.samples import Record, Throughput
from pipeline.judge.verdict import Verdict
from pipeline.report.times import Times


class Compared(Record):
    """One of the two sides: its library and its variables."""

    name: str
    library: str
    sha256: str
    text_bytes: int
    env: dict[str, str]


class Row(Record):
    """One workload in figures: times of both sides by the clock, peak memory in the middle."""

    workload: str
    clock: str
    a: Times
    b: Times
    a_peak_kib: float
    b_peak_kib: float


class Ran(Record):
    """All processes of one name in a run: whether they had the library, and what they used."""

    name: str
    library: bool
    seconds: float
    peak_kib: int


class VersusResult(Record):
    """B against A: A stands where a build has its baseline.

    ``ran`` are the processes of a command that is timed as a whole, in a run that does not count.
    """

    schema_version: Literal[1] = 1
    created: str
    a: Compared
    b: Compared
    command: tuple[str, ...] | None
    profile: str | None
    rows: tuple[Row, ...]
    throughput: Throughput
    speed: Key
    memory: Key
    guard: Guard
    environment: Environment
    ran: tuple[Ran, ...] = ()

    @property
    def worse(self) -> bool:
        """Whether B is shown to be worse: slower, or larger beyond the margins."""
        return Verdict.NO_GO in (self.speed.verdict, self.memory.verdict) or not self.guard.holds
