"""Two versions against each other: by what each of them has on record, or by one judgement of both.

Counts repeat nearly exactly, so those of two versions can be compared if the same programs were
counted in the same way. Speed cannot: two sessions are two machines. What can be held together are
the two gains over the baseline, if that is the same library in both; else only a direct judgement
tells, which a build makes of its speed before it becomes current.
"""

from __future__ import annotations

from pipeline.judge.model import VerifyResult
from pipeline.report.code import function_rows
from pipeline.report.compare_alike import (
    other_programs,
    other_workloads,
    same_counts,
    same_programs,
)
from pipeline.report.compare_counts import (
    CountPair,
    Rows,
    count_rows,
    workload_rows,
)
from pipeline.report.compare_keys import memory, memory_judged, speed, speed_judged
from pipeline.report.compare_notes import direct_notes, notes_of
from pipeline.report.compared_model import ComparedRow, Comparison
from pipeline.report.model import ReportModel


def compare_versions(
    older: ReportModel,
    newer: ReportModel,
    direct: VerifyResult | None = None,
    *,
    in_order: bool = True,
) -> Comparison:
    """Return ``newer`` against ``older``; ``direct`` is a judgement of just these two.

    Not ``in_order``: the first may have been judged last, and no note says so.
    """
    rows, workloads = _recorded(older, newer) if direct is None else _direct(direct)
    if direct is None and older.verify.tuned.sha256 == newer.verify.tuned.sha256:
        rows, workloads = tuple(map(_same_library, rows)), ()
    dropped, added = other_workloads(older.verify, newer.verify) if direct is None else ((), ())
    return Comparison(
        version=older.version,
        created=older.verify.created,
        measured=direct is not None,
        rows=(*rows, _code_bytes(older.verify, newer.verify)),
        workloads=workloads,
        functions=function_rows(older.code[1], newer.code[1]) if older.code and newer.code else (),
        code=older.code[1] if older.code else None,
        notes=notes_of(older, newer, in_order=in_order)
        if direct is None
        else direct_notes(older, newer, direct),
        dropped=dropped,
        added=added,
    )


def _same_library(row: ComparedRow) -> ComparedRow:
    """Return the row of a library against itself: what differs there is the measuring."""
    return row.model_copy(update={"judgement": "same", "why": "both are the same library"})


def _recorded(older: ReportModel, newer: ReportModel) -> tuple[Rows, Rows]:
    """Return what two judgements say that were made apart: in all, and by workload."""
    pairs, reason = same_counts(older, newer)
    before, after, margins = older.verify, newer.verify, newer.verify.margins
    rows = (
        speed(older, newer),
        *count_rows((before, after), pairs, reason, same_programs(before, after)),
        memory(before.throughput, after.throughput, other_programs(older, newer)),
    )
    return rows, workload_rows(pairs, margins)


def _direct(direct: VerifyResult) -> tuple[Rows, Rows]:
    """Return what one judgement says in which the older version took the baseline's place."""
    pairs = [
        CountPair(one.name, one.weight, one.baseline, one.tuned)
        for one in direct.counting.workloads
    ]
    programs = [(p.baseline, p.tuned) for p in direct.programs if p.baseline and p.tuned]
    rows = (
        speed_judged(direct),
        *count_rows((direct,), pairs, "", programs),
        memory_judged(direct),
    )
    return rows, workload_rows(pairs, direct.margins)


def _code_bytes(older: VerifyResult, newer: VerifyResult) -> ComparedRow:
    before, after = older.tuned.text_bytes, newer.tuned.text_bytes
    return ComparedRow(
        name="code",
        unit="bytes",
        before=before,
        after=after,
        ratio=after / before,
        judgement="info",
        why="size is not judged",
    )
