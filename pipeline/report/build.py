"""From the judge's result and the stages' receipts to the report model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.core.receipt import Receipt
from pipeline.core.variant import PRODUCTION
from pipeline.evidence.curve import curve_points
from pipeline.evidence.model import CurvePoint, Evidence
from pipeline.geometry.model import Difference
from pipeline.judge.accepted import accepting
from pipeline.judge.cost import Cost
from pipeline.judge.model import VerifyResult
from pipeline.judge.publishing import answer_to, may_publish
from pipeline.report.circumstances import (
    judged_before,
    laxer,
    lenient,
    suspicious,
    told_once,
    uncommitted,
)
from pipeline.report.code import function_rows
from pipeline.report.compare import compare_versions
from pipeline.report.facts import Facts
from pipeline.report.findings import findings, in_order
from pipeline.report.history import Point
from pipeline.report.made_model import (
    DynoStat,
    Layout,
    Overlap,
    SampleRow,
    StageRow,
    Training,
    TrainingRow,
)
from pipeline.report.model import Finding, ReportModel, Source
from pipeline.report.summary import summary_rows
from pipeline.report.times import all_times

Notes = Mapping[str, Any]
LAID_OUT = ("samples", "bolt")  # the last steps of the chain of builds, the last one first
BENCH = "bench/"  # where the baseline stage keeps the programs that the judge runs


@dataclass(frozen=True)
class Inputs:
    """What a report is made from, beside the judge's result.

    ``receipts`` are by stage, in order. ``evidence`` and ``facts`` are None where nothing was
    gathered; ``previous`` where there is no version before this one that has a report. ``origin``
    says of a rebuild what it was made from; None for a build with its own training. ``geometry``
    is None where nobody has said it, and so are ``cut_for`` and ``source``. ``cost`` is what a
    variant costs against production. ``judged`` are the judgements of which a report is kept,
    ``doubts`` what makes the profile itself worth a look.
    """

    receipts: Mapping[str, Receipt]
    evidence: Evidence | None = None
    facts: Facts | None = None
    previous: ReportModel | None = None
    previous_reason: str = "no version was published before this one"
    origin: str | None = None
    geometry: tuple[Difference, ...] | None = None
    cut_for: str | None = None
    source: Source | None = None
    variant: str = PRODUCTION
    cost: Cost | None = None
    judged: Sequence[Point] = ()
    doubts: Sequence[Sequence[str]] = ()


def report_model(
    *,
    profile: str,
    version: str,
    result: VerifyResult,
    allow_neutral: bool,
    inputs: Inputs,
    allow_regression: tuple[str, ...] = (),
) -> ReportModel:
    """Return the report of one judged version."""
    published, reason = may_publish(result, allow_neutral, allow_regression)
    result = accepting(result, allow_regression)
    facts, receipts = inputs.facts, inputs.receipts
    code = facts.code if facts else None
    model = ReportModel(
        profile=profile,
        version=version,
        published=published,
        reason=reason,
        quotes=answer_to(result, allow_neutral, allow_regression).quotes,
        origin=inputs.origin,
        geometry=inputs.geometry,
        cut_for=inputs.cut_for,
        source=inputs.source,
        variant=inputs.variant,
        cost=inputs.cost,
        times=all_times(result),
        allow_neutral=allow_neutral,
        allow_regression=allow_regression,
        programs=_programs(receipts),
        findings=(),
        circumstances=(
            *lenient(result, allow_regression),
            *_circumstances(result, inputs, profile, version),
        ),
        summary=summary_rows(result),
        verify=result,
        curve=_curve(result, inputs.evidence),
        evidence=inputs.evidence,
        evidence_reason="" if inputs.evidence else "the stages that gather it did not run",
        code=code,
        code_reason=facts.reason if facts else "the libraries were not read",
        functions=function_rows(*code, facts.inlined) if code and facts else (),
        contract=facts.contract if facts else None,
        previous=None,
        previous_reason=inputs.previous_reason,
        stages=_stages(receipts),
        training=_training(receipts, facts),
        layout=_layout(receipts, inputs.evidence),
    )
    return against(model, inputs.previous) if inputs.previous else with_findings(model)


def with_findings(model: ReportModel) -> ReportModel:
    """Return the report with all that its figures, and its circumstances, make worth a look."""
    found = findings(model.verify, model.previous, model.contract)
    return model.model_copy(
        update={"findings": in_order(told_once((*found, *model.circumstances)))}
    )


def _circumstances(
    result: VerifyResult, inputs: Inputs, profile: str, version: str
) -> tuple[Finding, ...]:
    before = inputs.previous
    made = [_notes(inputs.receipts, stage) for stage in ("record", "train")]
    return (
        *suspicious({"doubts": inputs.doubts}, *made),
        *judged_before(inputs.judged, result.tuned.sha256, version),
        *(laxer(result, before.verify, before.version) if before else ()),
        *uncommitted(inputs.source, profile),
    )


def against(
    model: ReportModel, older: ReportModel, direct: VerifyResult | None = None
) -> ReportModel:
    """Return the report with another version to compare with, in place of the one it has."""
    previous = compare_versions(older, model, direct)
    return with_findings(model.model_copy(update={"previous": previous, "previous_reason": ""}))


def alone(model: ReportModel) -> ReportModel:
    """Return the report without a version to compare with: against the baseline only."""
    reason = "only the baseline was asked for"
    return with_findings(model.model_copy(update={"previous": None, "previous_reason": reason}))


def _notes(receipts: Mapping[str, Receipt], stage: str) -> Notes:
    return receipts[stage].notes if stage in receipts else {}


def _curve(result: VerifyResult, evidence: Evidence | None) -> tuple[CurvePoint, ...]:
    return (evidence.curve if evidence else ()) or curve_points(result.counting)


def _programs(receipts: Mapping[str, Receipt]) -> dict[str, str]:
    """Return the digests of the bench programs by name, and of the files that commands name."""
    outputs = receipts["baseline"].outputs if "baseline" in receipts else {}
    files = receipts["verify"].parts.get("commands", {}) if "verify" in receipts else {}
    bench = {
        name.removeprefix(BENCH): digest
        for name, digest in sorted(outputs.items())
        if name.startswith(BENCH)
    }
    return {**files, **bench}


def _stages(receipts: Mapping[str, Receipt]) -> tuple[StageRow, ...]:
    return tuple(
        StageRow(stage=stage, key=receipt.key[:12], seconds=receipt.seconds)
        for stage, receipt in receipts.items()
    )


def _training(receipts: Mapping[str, Receipt], facts: Facts | None) -> Training | None:
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
        samples=_samples(receipts),
        made_hot=tuple(merge.get("made_hot", ())),
        overlap=facts.overlap
        if facts
        else Overlap(version=None, edges=None, reason="no profiles were compared"),
    )


def _samples(receipts: Mapping[str, Receipt]) -> tuple[SampleRow, ...]:
    """Return the imported samples that are part of the profile for BOLT."""
    fields = SampleRow.model_fields
    return tuple(
        SampleRow(**{name: row[name] for name in fields})
        for row in _notes(receipts, "bolt-samples").get("sources", ())
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


def _layout(receipts: Mapping[str, Receipt], evidence: Evidence | None) -> Layout | None:
    """Return the order as read back from the last binary that a layout stage has made.

    None where a simpler build was chosen than that one: what BOLT says is not about it.
    """
    chosen = evidence.ablation.chosen if evidence and evidence.ablation else None
    if chosen is not None and chosen not in LAID_OUT:
        return None
    possible = (chosen,) if chosen else (*LAID_OUT, "pgo")
    stage = next((name for name in possible if name in receipts), None)
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
