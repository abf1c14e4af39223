"""From the judge's result and the stages' receipts to the report model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.core.receipt import Receipt
from pipeline.core.variant import PRODUCTION
from pipeline.evidence.curve import curve_points
from pipeline.evidence.model import Evidence
from pipeline.geometry.model import Difference
from pipeline.judge.accepted import accepting
from pipeline.judge.cost import Cost
from pipeline.judge.direct_speed import DirectSpeed
from pipeline.judge.model import VerifyResult
from pipeline.judge.publishing import answer_to, may_publish
from pipeline.report.circumstances import (
    judged_besides,
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
from pipeline.report.history_model import Point
from pipeline.report.made import layout_of, notes_of, program_digests, stage_rows, training_of
from pipeline.report.made_model import Overlap
from pipeline.report.model import Finding, ReportModel, Source
from pipeline.report.summary import summary_rows
from pipeline.report.times import all_times

NOTHING_READ = Facts(
    code=None,
    reason="the libraries were not read",
    overlap=Overlap(version=None, edges=None, reason="no profiles were compared"),
)


@dataclass(frozen=True)
class Inputs:
    """What a report is made from, beside the judge's result.

    ``receipts`` are by stage, in order. ``evidence`` and ``facts`` are None where nothing was
    gathered; ``previous`` where there is no version before this one that has a report. ``origin``
    says of a rebuild what it was made from; None for a build with its own training. ``geometry``
    is None where nobody has said it, and so are ``cut_for`` and ``source``. ``cost`` is what a
    variant costs against production, ``direct`` how fast it is against the version before, where
    that was judged directly. ``judged`` are the judgements of which a report is kept,
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
    direct: DirectSpeed | None = None
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
    accepted = accepting(result, allow_regression)
    model = ReportModel(
        profile=profile,
        version=version,
        allow_neutral=allow_neutral,
        allow_regression=allow_regression,
        **_decided(result, accepted, allow_neutral, allow_regression),
        **_measured(accepted, inputs.evidence),
        **_read(inputs.facts or NOTHING_READ),
        **_made(inputs),
        findings=(),
        circumstances=(
            *lenient(accepted, allow_regression),
            *_circumstances(accepted, inputs, profile, version),
        ),
        previous=None,
        previous_reason=inputs.previous_reason,
    )
    return against(model, inputs.previous) if inputs.previous else with_findings(model)


def _decided(
    result: VerifyResult, accepted: VerifyResult, neutral: bool, losses: tuple[str, ...]
) -> dict[str, Any]:
    published, reason = may_publish(result, neutral, losses)
    quotes = answer_to(accepted, neutral, losses).quotes
    return {"published": published, "reason": reason, "quotes": quotes}


def _measured(result: VerifyResult, evidence: Evidence | None) -> dict[str, Any]:
    return {
        "verify": result,
        "times": all_times(result),
        "summary": summary_rows(result),
        "curve": (evidence.curve if evidence else ()) or curve_points(result.counting),
        "evidence": evidence,
        "evidence_reason": "" if evidence else "the stages that gather it did not run",
    }


def _read(facts: Facts) -> dict[str, Any]:
    """Return what the libraries themselves tell."""
    return {
        "code": facts.code,
        "code_reason": facts.reason,
        "functions": function_rows(*facts.code, facts.inlined) if facts.code else (),
        "contract": facts.contract,
    }


def _made(inputs: Inputs) -> dict[str, Any]:
    """Return what the build was made from, and how."""
    receipts = inputs.receipts
    return {
        "origin": inputs.origin,
        "geometry": inputs.geometry,
        "cut_for": inputs.cut_for,
        "source": inputs.source,
        "variant": inputs.variant,
        "cost": inputs.cost,
        "direct": inputs.direct,
        "programs": program_digests(receipts),
        "stages": stage_rows(receipts),
        "training": training_of(receipts, (inputs.facts or NOTHING_READ).overlap),
        "layout": layout_of(receipts, inputs.evidence),
    }


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
    made = [notes_of(inputs.receipts, stage) for stage in ("record", "train")]
    return (
        *suspicious({"doubts": inputs.doubts}, *made),
        *judged_besides(inputs.judged, result.tuned.sha256, version, result.created),
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
