"""What a report says, independent of how it looks. None means unknown."""

from __future__ import annotations

from typing import Literal

from pipeline.judge.model import Record, VerifyResult
from pipeline.judge.verdict import Verdict

REPORT_VERSION: Literal[1] = 1


class StageRow(Record):
    """One stage of the pipeline and the seconds it took when it was last done."""

    stage: str
    key: str
    seconds: float


class TrainingRow(Record):
    """One training workload: its share of time, and what became of its processes."""

    name: str
    weight: float | None
    seconds: float | None
    processes: int | None
    branch_processes: int | None
    lost: int | None


class Training(Record):
    """The training receipt. ``functions_ran`` of ``functions`` have counts in the profile."""

    workloads: tuple[TrainingRow, ...]
    skipped: tuple[str, ...]
    functions: int | None
    functions_ran: int | None
    branches: int | None
    corrupt: tuple[str, ...]


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


class SummaryRow(Record):
    """One row of the short table; ``verdict`` is None where the row is for information only."""

    name: str
    unit: str
    baseline: float | None
    tuned: float | None
    ratio: float | None
    verdict: Verdict | str | None


class ReportModel(Record):
    """Everything a reader of one version needs; a renderer adds no facts."""

    schema_version: Literal[1] = REPORT_VERSION
    profile: str
    version: str
    published: bool
    reason: str
    allow_neutral: bool
    summary: tuple[SummaryRow, ...]
    verify: VerifyResult
    stages: tuple[StageRow, ...]
    training: Training | None
    layout: Layout | None
