"""What came of counting a task, with one library or several, and the record of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pipeline.judge.counts import ProgramCounts, RealProgram
from pipeline.judge.means import geometric_mean
from pipeline.judge.tasks import Task


@dataclass(frozen=True)
class Told:
    """What came of one task: the counts of each library by name, or why there are none."""

    task: Task
    counts: Mapping[str, ProgramCounts]
    problem: str = ""


def joined(first: Sequence[Told], second: Sequence[Told]) -> tuple[Told, ...]:
    """Return what came of the same tasks with the libraries of both; a problem is that of both."""
    return tuple(
        Told(one.task, {} if problem else {**one.counts, **other.counts}, problem)
        for one, other in zip(first, second, strict=True)
        for problem in (one.problem or other.problem,)
    )


def as_program(told: Told) -> RealProgram:
    """Return the record of one task that was counted with a baseline and a tuned library."""
    if not told.counts:
        return uncounted(told.task, told.problem)
    return RealProgram(
        name=told.task.name,
        command=told.task.command,
        status="counted",
        detail=_counted(told.task),
        baseline=told.counts["baseline"],
        tuned=told.counts["tuned"],
        weight=told.task.weight,
        own=told.task.own,
        digest=told.task.digest,
    )


def _counted(task: Task) -> str:
    what = f"all processes of {task.counts}" if task.counts else "the whole process"
    return f"{what}, simulated{' twice' if task.may_differ else ''}"


def uncounted(task: Task, why: str) -> RealProgram:
    """Return the record of a task without counts, and why there are none."""
    status: Literal["skipped", "failed"] = "failed" if task.path else "skipped"
    return RealProgram(
        name=task.name,
        command=task.command,
        status=status,
        detail=why,
        weight=task.weight,
        own=task.own,
        digest=task.digest,
    )


def mean(told: Sequence[Told], library: str, field: str) -> float | None:
    """Return the geometric mean of a count of ``library`` over the tasks that were counted.

    Each task counts alike. None where none was, or where there is a zero: no ratio tells of it.
    """
    values = [float(getattr(one.counts[library], field)) for one in told if one.counts]
    if not values or min(values) <= 0:
        return None
    return geometric_mean((1.0, value) for value in values)
