"""Which findings the tables and sentences of the terminal do not tell by themselves."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.judge.topic import KEYS, Topic
from pipeline.report.model import Finding, ReportModel


def untold(model: ReportModel) -> Iterator[Finding]:
    """Yield the findings that a reader of the rest would miss, in their order."""
    for one in model.findings:
        if not _is_told(one, model):
            yield one


def _is_told(finding: Finding, model: ReportModel) -> bool:
    """Return whether a row of the tables, the first line or the reason has it."""
    return (
        finding.topic in (*KEYS, Topic.WORKLOAD)
        or (bool(model.accepted) and finding.detail == model.accepted)
        or f"{finding.what}: {finding.detail}" in model.reason
    )
