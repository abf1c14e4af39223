"""How a build was made, as the receipts of its stages tell it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.core.receipt import Receipt
from pipeline.evidence.model import Evidence
from pipeline.report.made_model import (
    DynoStat,
    Layout,
    Overlap,
    SampleRow,
    StageRow,
    Training,
    TrainingRow,
)

Notes = Mapping[str, Any]

LAID_OUT = ("samples", "bolt")  # the last steps of the chain of builds, the last one first

BENCH = "bench/"  # where the baseline stage keeps the programs that the judge runs


def notes_of(receipts: Mapping[str, Receipt], stage: str) -> Notes:
    """Return what a stage noted; nothing where the build does not have it."""
    return receipts[stage].notes if stage in receipts else {}


def program_digests(receipts: Mapping[str, Receipt]) -> dict[str, str]:
    """Return the digests of the bench programs by name, and of the files that commands name."""
    outputs = receipts["baseline"].outputs if "baseline" in receipts else {}
    files = receipts["verify"].parts.get("commands", {}) if "verify" in receipts else {}
    bench = {
        name.removeprefix(BENCH): digest
        for name, digest in sorted(outputs.items())
        if name.startswith(BENCH)
    }
    return {**files, **bench}


def stage_rows(receipts: Mapping[str, Receipt]) -> tuple[StageRow, ...]:
    """Return the stages with their keys, and how long each took."""
    return tuple(
        StageRow(stage=stage, key=receipt.key[:12], seconds=receipt.seconds)
        for stage, receipt in receipts.items()
    )


def training_of(receipts: Mapping[str, Receipt], overlap: Overlap) -> Training | None:
    """Return what was trained, and how much of it is in the profile; None without a training."""
    if "train" not in receipts:
        return None
    train, merge = notes_of(receipts, "train"), notes_of(receipts, "merge")
    branches = notes_of(receipts, "bolt-train")
    return Training(
        workloads=_training_rows(train, branches),
        skipped=tuple(train.get("skipped", ())),
        functions=merge.get("functions"),
        functions_ran=merge.get("ran"),
        branches=branches.get("branches"),
        corrupt=tuple(map(str, merge.get("corrupt", ()))),
        samples=_samples(receipts),
        made_hot=tuple(merge.get("made_hot", ())),
        overlap=overlap,
    )


def _training_rows(train: Notes, branches: Notes) -> tuple[TrainingRow, ...]:
    rows, of_branches = (one.get("workloads", {}) for one in (train, branches))
    return tuple(_training_row(name, row, of_branches.get(name, {})) for name, row in rows.items())


def _samples(receipts: Mapping[str, Receipt]) -> tuple[SampleRow, ...]:
    """Return the imported samples that are part of the profile for BOLT."""
    fields = SampleRow.model_fields
    return tuple(
        SampleRow(**{name: row[name] for name in fields})
        for row in notes_of(receipts, "bolt-samples").get("sources", ())
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


def layout_of(receipts: Mapping[str, Receipt], evidence: Evidence | None) -> Layout | None:
    """Return the order as read back from the last binary that a layout stage has made."""
    stage = _laid_out_by(receipts, evidence)
    if stage is None:
        return None
    notes = notes_of(receipts, stage)
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


def _laid_out_by(receipts: Mapping[str, Receipt], evidence: Evidence | None) -> str | None:
    """Return the stage that made the last layout.

    None where a simpler build was chosen than that one: what BOLT says is not about it.
    """
    chosen = evidence.ablation.chosen if evidence and evidence.ablation else None
    if chosen is not None and chosen not in LAID_OUT:
        return None
    possible = (chosen,) if chosen else (*LAID_OUT, "pgo")
    return next((name for name in possible if name in receipts), None)
