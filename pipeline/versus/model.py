"""The result of a comparison: what was compared, what was measured, what the judge says."""

from __future__ import annotations

import statistics
from typing import Literal

from pydantic import BaseModel, ConfigDict

from pipeline.judge.model import Environment, Guard, Key, RunSample, Throughput, WorkloadThroughput
from pipeline.judge.request import Side
from pipeline.judge.verdict import Verdict


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Times(_Record):
    """Seconds per operation over all runs of one side; sigma is None for a single run."""

    median: float
    mean: float
    sigma: float | None
    least: float
    most: float
    count: int


def times_of(workload: WorkloadThroughput, side: Side) -> Times:
    """Return what the runs of one side took, by the clock that judges them."""
    runs: list[RunSample] = [getattr(pair, side) for pair in workload.samples]
    seconds = [1 / run.ops_per_sec for run in runs]
    return Times(
        median=statistics.median(seconds),
        mean=statistics.fmean(seconds),
        sigma=statistics.stdev(seconds) if len(seconds) > 1 else None,
        least=min(seconds),
        most=max(seconds),
        count=len(seconds),
    )


class Compared(_Record):
    """One of the two sides: its library and its variables."""

    name: str
    library: str
    sha256: str
    text_bytes: int
    env: dict[str, str]


class Row(_Record):
    """One workload in figures: times of both sides by the clock, peak memory in the middle."""

    workload: str
    clock: str
    a: Times
    b: Times
    a_peak_kib: float
    b_peak_kib: float


class VersusResult(_Record):
    """B against A: A stands where a build has its baseline."""

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

    @property
    def worse(self) -> bool:
        """Whether B is shown to be worse: slower, or larger beyond the margins."""
        return Verdict.NO_GO in (self.speed.verdict, self.memory.verdict) or not self.guard.holds
