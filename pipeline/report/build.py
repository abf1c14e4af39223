"""From the judge's result and the stages' receipts to the report model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from pipeline.judge.model import VerifyResult
from pipeline.report.model import (
    DynoStat,
    Layout,
    ReportModel,
    StageRow,
    Training,
    TrainingRow,
)
from pipeline.report.summary import summary_rows

Notes = Mapping[str, Any]


class Receipt(Protocol):
    """What a report needs of a stage's receipt; notes that are missing are shown as unknown."""

    @property
    def key(self) -> str:
        """The key of the stage's inputs."""
        ...

    @property
    def seconds(self) -> float:
        """Wall time of the stage when it was done."""
        ...

    @property
    def notes(self) -> Notes:
        """What the stage wrote down about its work."""
        ...


def report_model(
    *,
    profile: str,
    version: str,
    result: VerifyResult,
    receipts: Mapping[str, Receipt],
    allow_neutral: bool,
) -> ReportModel:
    """Return the report of one judged version; ``receipts`` are by stage, in order."""
    published, reason = result.publishable(allow_neutral)
    return ReportModel(
        profile=profile,
        version=version,
        published=published,
        reason=reason,
        allow_neutral=allow_neutral,
        summary=summary_rows(result),
        verify=result,
        stages=tuple(
            StageRow(stage=stage, key=receipt.key[:12], seconds=receipt.seconds)
            for stage, receipt in receipts.items()
        ),
        training=_training(receipts),
        layout=_layout(receipts),
    )


def _notes(receipts: Mapping[str, Receipt], stage: str) -> Notes:
    return receipts[stage].notes if stage in receipts else {}


def _training(receipts: Mapping[str, Receipt]) -> Training | None:
    if "train" not in receipts:
        return None
    train, merge = _notes(receipts, "train"), _notes(receipts, "merge")
    branches = _notes(receipts, "bolt-train")
    rows = train.get("workloads", {})
    branch_rows = branches.get("workloads", {})
    corrupt = [*merge.get("corrupt", ())]
    return Training(
        workloads=tuple(
            _training_row(name, row, branch_rows.get(name, {})) for name, row in rows.items()
        ),
        skipped=tuple(train.get("skipped", ())),
        functions=merge.get("functions"),
        functions_ran=merge.get("ran"),
        branches=branches.get("branches"),
        corrupt=tuple(str(name) for name in corrupt),
    )


def _training_row(name: str, row: Notes, branches: Notes) -> TrainingRow:
    return TrainingRow(
        name=name,
        weight=row.get("weight"),
        seconds=row.get("seconds"),
        processes=row.get("processes"),
        branch_processes=branches.get("processes"),
        lost=branches.get("lost"),
    )


def _layout(receipts: Mapping[str, Receipt]) -> Layout | None:
    """Return the order as read back from the last binary that a layout stage has made."""
    stage = next((name for name in ("bolt", "pgo") if name in receipts), None)
    if stage is None:
        return None
    notes = _notes(receipts, stage)
    order = notes.get("order", {})
    return Layout(
        stage=stage,
        placed=order.get("placed"),
        vanished_hot=tuple(order.get("vanished_hot", ())),
        vanished_cold=tuple(order.get("vanished_cold", ())),
        profile_quality=notes.get("quality"),
        dyno_stats=tuple(
            DynoStat(name=name, before=before, after=after)
            for name, (before, after) in notes.get("dyno_stats", {}).items()
        ),
    )
