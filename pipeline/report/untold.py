"""Which findings the tables and sentences of the terminal do not tell by themselves."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.judge.outcome import Outcome, how_fast
from pipeline.judge.topic import KEYS
from pipeline.report.model import Finding, ReportModel


def untold(model: ReportModel) -> Iterator[Finding]:
    """Yield the findings that a reader of the rest would miss, in their order."""
    slower = _slower(model)
    for one in model.findings:
        if not _is_verdict(one, model) and one.what not in slower:
            yield one


def _is_verdict(finding: Finding, model: ReportModel) -> bool:
    """Return whether the summary, the first line or the reason has it."""
    return (
        finding.topic in KEYS
        or (bool(model.accepted) and finding.detail == model.accepted)
        or f"{finding.what}: {finding.detail}" in model.reason
    )


def _slower(model: ReportModel) -> set[str]:
    """Return findings about workloads whose rows say the same, with the same interval."""
    workloads = model.verify.throughput.workloads
    worse = [one for one in workloads if how_fast(one, model.verify) is Outcome.WORSE]
    return {f"{one.name} is slower" for one in worse}
