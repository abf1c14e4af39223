"""Counting twice what may come out another way each time: several processes, or several threads.

Which thread comes first is not the program's to say, and decides whose memory is freed by whom. Two
runs that agree give their mean; where they do not, the count is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.judge.counts import ProgramCounts
from pipeline.judge.keys import share
from pipeline.judge.tasks import Task

PART = 0.5
"""Two runs may differ by this part of the margin: else the margin says nothing."""


def runs_of(task: Task) -> int:
    """Return how often a task is counted."""
    return 2 if task.may_differ else 1


def agreed(runs: Sequence[ProgramCounts | str], margin: float) -> ProgramCounts | str:
    """Return the mean of the runs; in words what went wrong, or that they do not repeat."""
    problem = next((one for one in runs if isinstance(one, str)), None)
    counts = [one for one in runs if isinstance(one, ProgramCounts)]
    return problem or _apart(counts, PART * margin) or _mean(counts)


def _apart(counts: Sequence[ProgramCounts], limit: float) -> str:
    misses = [max(1, one.i1_misses) for one in counts]
    apart = max(misses) / min(misses) - 1
    if apart <= limit:
        return ""
    return (
        f"its counts do not repeat: misses {share(apart)} apart in two runs, where {share(limit)} "
        "may be; let it have one connection and one worker, and the same requests in the same "
        "order: threads that pass work to each other may not repeat even then"
    )


def _mean(counts: Sequence[ProgramCounts]) -> ProgramCounts:
    kind = type(counts[0])
    fields = kind.model_fields
    return kind(
        **{name: round(sum(getattr(one, name) for one in counts) / len(counts)) for name in fields}
    )
