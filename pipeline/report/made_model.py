"""What a report says of the making: stages, training, and the layout that came out."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pipeline.judge.samples import Record


class StageRow(Record):
    """One stage of the pipeline and the seconds it took when it was last done."""

    stage: str
    key: str
    seconds: float


class TrainingRow(Record):
    """One training workload: its share of the work, and what became of its processes."""

    name: str
    weight: float | None
    seconds: float | None
    processes: int | None
    branch_processes: int | None
    lost: int | None


class Overlap(Record):
    """How much two merged profiles agree, in per cent of their counts (llvm-profdata overlap).

    ``edges`` is None where it could not be measured; ``reason`` says why, or what was compared.
    """

    version: str | None
    edges: float | None = Field(ge=0, le=100)
    reason: str


class SampleRow(Record):
    """Samples of a process that were a source of the profile.

    ``weight`` is the one that was given; ``share`` the file's part of all that BOLT went by, the
    training included. ``by`` tells whether branches were taken from it or time by function.
    ``unknown`` is the share of samples in functions that the training never ran, and is left out.
    """

    file: str
    event: str
    samples: int
    weight: float
    share: float = Field(ge=0, le=1)
    by: Literal["edges", "functions"]
    unknown: float


class Training(Record):
    """The training receipt. ``functions_ran`` of ``functions`` have counts in the profile.

    ``samples`` are imported ones; ``made_hot`` are functions that the compiler was told to be hot
    by them alone.
    """

    workloads: tuple[TrainingRow, ...]
    skipped: tuple[str, ...]
    functions: int | None
    functions_ran: int | None
    branches: int | None
    corrupt: tuple[str, ...]
    overlap: Overlap
    samples: tuple[SampleRow, ...] = ()
    made_hot: tuple[str, ...] = ()


class DynoStat(Record):
    """One of BOLT's estimates from the profile, before and after its layout."""

    name: str
    before: int
    after: int


class Layout(Record):
    """How the listed order came out in the binary, as read back from it by ``stage``."""

    stage: str
    placed: int | None
    vanished_hot: tuple[str, ...]
    vanished_cold: tuple[str, ...]
    profile_quality: str | None
    dyno_stats: tuple[DynoStat, ...]
