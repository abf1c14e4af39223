"""What else differs between two versions: geometry, lists, how they were judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pipeline.geometry.model import Difference
from pipeline.judge.model import VerifyResult
from pipeline.report.compare_alike import other_programs, other_workloads
from pipeline.report.compare_counts import (
    uncounted_notes,
)
from pipeline.report.model import ReportModel
from pipeline.report.relisted import in_words, relisted, reordered
from pipeline.report.text import workloads_apart


def other_geometry(older: ReportModel, newer: ReportModel) -> list[str]:
    """Return in one note what of the geometry was changed; none where it is the same or unknown."""
    if older.geometry is None or newer.geometry is None:
        return []
    before, after = ({one.what: one for one in side.geometry or ()} for side in (older, newer))
    changed = [
        f"{what} {_setting(what, before, after)} → {_setting(what, after, before)}"
        for what in dict.fromkeys((*before, *after))
        if _setting(what, before, after) != _setting(what, after, before)
    ]
    return [f"geometry, then → now: {', '.join(changed)}"] if changed else []


def _setting(what: str, mine: Mapping[str, Difference], others: Mapping[str, Difference]) -> str:
    """Return the value on one side: where it is the default there, the other side knows that."""
    return (mine[what].after if what in mine else others[what].before) or "none"


def direct_notes(older: ReportModel, newer: ReportModel, direct: VerifyResult) -> tuple[str, ...]:
    """Return what to know of a judgement of just these two."""
    return (*_built_otherwise(older, newer), *uncounted_notes((direct,)), *_busy(direct))


def _busy(direct: VerifyResult) -> Iterator[str]:
    """Say that other work ran beside: the reports of both sides tell of their own judgements."""
    around = direct.environment
    if around.busy:
        yield f"the machine was busy while both were judged ({around.loads})"


def notes_of(older: ReportModel, newer: ReportModel, *, in_order: bool) -> tuple[str, ...]:
    """Return what to know of two judgements that were made apart.

    ``in_order``: the first is meant to be the older one.
    """
    return (
        *(_backward(older, newer) if in_order else ()),
        *_judged_otherwise(older, newer),
        *_built_otherwise(older, newer),
        *_measured_otherwise(older, newer),
        *uncounted_notes((older.verify, newer.verify)),
    )


def _built_otherwise(older: ReportModel, newer: ReportModel) -> list[str]:
    moved = (*in_words(relisted(older, newer)), *reordered(older, newer))
    return [*other_geometry(older, newer), *moved]


def _backward(older: ReportModel, newer: ReportModel) -> tuple[str, ...]:
    """Return as a note that the first of two versions is the newer one; () if it is not."""
    said = f"{older.version} was judged last, so this is backward: `diff OLDER NEWER`"
    return (said,) if older.verify.created > newer.verify.created else ()


def _judged_otherwise(older: ReportModel, newer: ReportModel) -> Iterator[str]:
    before, after = older.verify, newer.verify
    if before.mode != after.mode:
        yield f"{older.version} was judged {before.mode}, this {after.mode}"
    if before.environment.cpu != after.environment.cpu:
        yield f"{older.version} was judged on another processor"


def _measured_otherwise(older: ReportModel, newer: ReportModel) -> Iterator[str]:
    if apart := workloads_apart(*other_workloads(older.verify, newer.verify)):
        yield f"judged by other workloads than {older.version}: {apart}"
    if changed := other_programs(older, newer):
        names = ", ".join(sorted(changed))
        yield f"not the same programs, so their figures are not compared: {names}"
    if older.code is None:
        yield f"{older.version} has no text map: {older.code_reason}"
