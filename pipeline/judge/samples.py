"""Records of what timed runs have measured: single pairs, workloads, and all of them together.

``None`` means unknown, everywhere.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from pipeline.judge.request import Kind, Side
from pipeline.judge.statistics import Interval

SIDES: tuple[Side, Side] = ("baseline", "tuned")
Clock = Literal["cpu", "wall"]


class Record(BaseModel):
    """Base of all results: immutable, and strict about names when read back."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def older(before: int, now: int) -> BeforeValidator:
    """Let a record of the schema before be read: its fields make themselves those of now."""
    return BeforeValidator(lambda kept: now if kept == before else kept)


class RunSample(Record):
    """One timed process: its rate by ``clock``, its rate by wall time, its peak memory in KiB.

    ``clock`` is the CPU time of all threads, or wall time for programs that print no CPU time.
    ``threads`` is None where the program does not say. ``looked`` is how many processes ended
    unseen: what they did after the last look at them is not in the time.
    """

    ops_per_sec: float = Field(gt=0, allow_inf_nan=False)
    wall_ops_per_sec: float = Field(gt=0, allow_inf_nan=False)
    clock: Clock
    threads: int | None
    peak_rss_kib: int = Field(gt=0)
    looked: int = Field(default=0, ge=0)


class PairSample(Record):
    """One baseline run and one tuned run, next to each other in time.

    ``together``: both at once, taking turns on one CPU; else one after the other. ``place`` is
    where the code of a program of ours lay.
    """

    round: int
    first: Side
    padding: int
    together: bool
    baseline: RunSample
    tuned: RunSample
    place: int = 0


class WorkloadThroughput(Record):
    """One workload's pairs and what they say; ``allowance`` is how much it may lose (a fraction).

    ``ratio`` is tuned / baseline in operations per second of ``clock``, ``wall`` the same in wall
    time; it is None for pairs that ran together, whose wall time means nothing. ``rss`` is tuned /
    baseline in peak memory, None in records from before there was one. ``kind`` is whether it is a
    program of the machine or a loop of ours: then an operation is one run of the whole program.
    """

    name: str
    weight: float
    allowance: float
    argv: tuple[str, ...]
    env: dict[str, str]
    clock: Clock
    threads: int | None
    samples: tuple[PairSample, ...]
    ratio: Interval
    wall: Interval | None
    baseline_ops_per_sec: float
    tuned_ops_per_sec: float
    baseline_rss_kib: float
    tuned_rss_kib: float
    rss: Interval | None = None
    kind: Kind = "loop"
    noise: float = Field(description="median absolute deviation of the log ratios, scaled to 1 sd")

    @property
    def ends_unseen(self) -> bool:
        """Whether a process of a run ended between two looks at it."""
        return any(run.looked for pair in self.samples for run in (pair.baseline, pair.tuned))


class Throughput(Record):
    """All workloads; ``overall`` is the weighted geometric mean of their median ratios.

    ``programs`` and ``loops`` are the same of a part of them; None where there is none of it.
    ``programs_wall`` is that of programs by wall time; None where one of them has none, where that
    clock judges anyway, and in older records.

    ``pairs`` is how many there are over all workloads, ``looks`` how often a verdict was sought.
    ``pairs_to_decide`` and ``seconds_to_decide`` say how much it would take in all to decide, if
    the estimate stays where it is; None when no number of pairs would.
    """

    workloads: tuple[WorkloadThroughput, ...]
    overall: Interval
    programs: Interval | None = None
    programs_wall: Interval | None = None
    loops: Interval | None = None
    pairs: int
    looks: int
    stopped: str
    seconds: float
    pairs_to_decide: int | None = None
    seconds_to_decide: float | None = None

    @property
    def alone(self) -> bool:
        """Whether there is one workload: its interval is then that of all."""
        return len(self.workloads) == 1
