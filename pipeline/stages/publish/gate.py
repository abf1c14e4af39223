"""Whether the judge lets a build pass, and what is said where it does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.errors import GateError
from pipeline.core.variant import PRODUCTION
from pipeline.release.current import current, untouched
from pipeline.release.marks import mark_of_version
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.verify import Verdict

if TYPE_CHECKING:
    from pipeline.judge.model import VerifyResult
    from pipeline.report.model import ReportModel

HTML = "report.html"


def passes(shop: Workshop, verdict: Verdict) -> tuple[bool, str]:
    """Return whether the judge lets a build pass, and why."""
    return may_pass(shop, verdict.result())


def may_pass(shop: Workshop, result: VerifyResult) -> tuple[bool, str]:
    """Return whether what the judge found lets a build pass, and why."""
    from pipeline.judge.publishing import may_publish

    return may_publish(result, shop.options.allow_neutral, shop.options.allow_regression)


def pass_gate(shop: Workshop, model: ReportModel, verdict: Verdict, report: Path) -> None:
    """Raise GateError, after the verdict table, unless the judge lets the build pass."""
    from pipeline.judge.advice import advice
    from pipeline.report.terminal import show_verdict
    from pipeline.report.what_next import against_before

    allowed, _ = passes(shop, verdict)
    if allowed:
        return
    dist = shop.tree.dist(shop.line)
    show_verdict(shop.console, model, why=bool(model.refused_for))
    why = model.refused_for or f": {model.reason}"
    if (same := _same_as_current(dist, model)) is not None:
        raise GateError(
            f"not published{why}; `current` is this very library, {same}, by another judgement",
            hint="nothing to do; where this judgement is the one to believe, "
            f"`.venv/bin/pipeline reject -p {shop.line} {same} --reason WHY` refuses it",
            log=report / HTML,
        )
    words = replace(shop.options, variant=PRODUCTION).words
    steps = (against_before(model), advice(model.verify, shop.line, words))
    raise GateError(
        f"not published{why}; {untouched(dist)}",
        hint="; ".join(filter(None, steps)),
        log=report / HTML,
    )


def _same_as_current(dist: Path, model: ReportModel) -> str | None:
    """Return the name of the current version where its library has the judged one's bytes."""
    now = current(dist)
    same = now is not None and mark_of_version(now).library == model.verify.tuned.sha256
    return now.name if now and same else None
