"""The names under which commands of a profile are counted, beside the tasks that are ours."""

from __future__ import annotations

import re


def task_name(workload: str, counts: str | None) -> str:
    """Return the name under which a command of the profile is counted.

    ``counts`` is the program that it starts and whose processes are counted; None for itself.
    """
    return f"{counts} ({workload})" if counts else f"{workload} (own)"


def workload_of(task: str) -> str:
    """Return the workload that a task runs: a task of ours, that of the same name."""
    own = re.fullmatch(r"(.+) \((.+)\)", task)
    if own is None:
        return task
    return own[1] if own[2] == "own" else own[2]
