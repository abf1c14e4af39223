"""Which rows the tables of a report have, and in what order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipeline.judge.counts import LibraryCounts, WorkloadCounts
from pipeline.judge.pressure import PRESSURE_FLOOR
from pipeline.judge.samples import WorkloadThroughput
from pipeline.report import text
from pipeline.report.code_model import FunctionRow
from pipeline.report.compared_model import ComparedRow, Comparison
from pipeline.report.model import ReportModel

_MORE_COUNTS = (
    ("branches", "branches"),
    ("branch_misses", "branch misses"),
    ("cycles", "cycles"),
    ("instructions_per_cycle", "instructions per cycle"),
    ("itlb_misses", "iTLB misses"),
    ("l1d_misses", "L1D misses"),
    ("dtlb_misses", "dTLB misses"),
)


def slowest_first(model: ReportModel) -> list[WorkloadThroughput]:
    """Return the workloads, real programs before loops, of each kind the worst ratio first."""

    def place(one: WorkloadThroughput) -> tuple[bool, float]:
        return one.kind != "program", one.ratio.value

    return sorted(model.verify.throughput.workloads, key=place)


def worst_counts_first(workloads: tuple[WorkloadCounts, ...]) -> list[WorkloadCounts]:
    """Return the counted workloads, the largest rise in instructions first, unknown on top."""

    def rise(one: WorkloadCounts) -> float:
        grown = text.quotient(one.baseline.instructions, one.tuned.instructions)
        return float("inf") if grown is None else grown

    return sorted(workloads, key=rise, reverse=True)


def more_counts(workloads: tuple[WorkloadCounts, ...]) -> list[tuple[str, str]]:
    """Return field and name of the further counts that at least one workload has."""

    def has(side: LibraryCounts, field: str) -> bool:
        return getattr(side, field) is not None

    return [
        (field, name)
        for field, name in _MORE_COUNTS
        if any(has(one.baseline, field) or has(one.tuned, field) for one in workloads)
    ]


def misses_change(counts: WorkloadCounts) -> str:
    """Return the change of I1 misses, unless both sides have next to none."""
    sides = (counts.baseline.i1_misses, counts.tuned.i1_misses)
    if all(side is not None and side.value < PRESSURE_FLOOR for side in sides):
        return "next to none"
    return text.change(text.quotient(*sides))


def biggest_first(functions: tuple[FunctionRow, ...]) -> list[FunctionRow]:
    """Return the functions with the largest count first, and last those that are gone."""
    return sorted(functions, key=lambda row: (row.after is None, -(row.count or 0)))


def changed_functions(comparison: Comparison) -> list[FunctionRow]:
    """Return the functions that came, went, or changed in size or section; the hottest first."""

    def changed(row: FunctionRow) -> bool:
        if row.before is None or row.after is None:
            return True
        return (row.before.size, row.before.section) != (row.after.size, row.after.section)

    return sorted(filter(changed, comparison.functions), key=lambda row: -(row.count or 0))


def undecided(comparison: Comparison) -> list[ComparedRow]:
    """Return the quantities of two versions that could not be compared, or not be told apart."""
    return [row for row in comparison.rows if row.judgement in ("unclear", "unknown")]


def anchored(functions: Iterable[FunctionRow]) -> Iterator[tuple[str | None, FunctionRow]]:
    """Yield each row with the anchor that others link to: the first of a name."""
    seen: set[str] = set()
    for row in functions:
        yield (None if row.name in seen else anchor(row.name)), row
        seen.add(row.name)


def anchor(function: str) -> str:
    """Return the id of a function's row."""
    return f"fn-{function}"
