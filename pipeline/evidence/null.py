"""The layout null: where the tuned layout stands among random layouts of the same code."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

from pipeline.evidence.model import LayoutNull
from pipeline.judge.counting.told import mean
from pipeline.judge.counting.whole import whole_counter
from pipeline.judge.request import JudgeRequest

TUNED, BASELINE = "tuned", "baseline"

ENOUGH = 4
"""So many layouts with as few misses show that the order earns nothing: no more are counted."""


def judge_layout(
    request: JudgeRequest,
    seeds: Sequence[int],
    make: Callable[[int], Path],
    progress: Callable[[str], None],
) -> LayoutNull | None:
    """Count the layouts that ``make`` makes of ``seeds``, and both libraries of ``request``.

    ENOUGH of them that are as good as the tuned one end it. None where nothing can be counted.
    """
    counter = whole_counter(request)

    def count(libraries: Mapping[str, Path]) -> tuple[tuple[str, ...], list[float]]:
        told = counter.count(libraries, request.tasks, progress)
        known = [value for name in libraries if (value := mean(told, name, "i1_misses"))]
        return tuple(one.task.name for one in told if one.counts), known

    names, both = count({BASELINE: request.baseline, TUNED: request.tuned})
    if len(both) < 2:
        return None
    baseline, tuned = both
    found: list[float] = []
    for some in _batches(seeds, len(os.sched_getaffinity(0))):
        _, misses = count({f"seed-{seed}": make(seed) for seed in some})
        if len(misses) < len(some):
            return None
        found = until_enough([*found, *misses], tuned)
        if _as_good(found, tuned) >= ENOUGH:
            break
    return standing(names, tuple(seeds[: len(found)]), found, tuned=tuned, baseline=baseline)


def until_enough(misses: Sequence[float], tuned: float) -> list[float]:
    """Return ``misses`` up to the layout with which ENOUGH are as good as ``tuned``.

    What was counted beside it says nothing: the chance that is reported holds only so.
    """
    kept: list[float] = []
    for one in misses:
        if _as_good(kept, tuned) >= ENOUGH:
            break
        kept.append(one)
    return kept


def _as_good(misses: Sequence[float], tuned: float) -> int:
    return sum(one <= tuned for one in misses)


def _batches(seeds: Sequence[int], size: int) -> list[Sequence[int]]:
    return [seeds[first : first + size] for first in range(0, len(seeds), size)]


def standing(
    programs: tuple[str, ...],
    seeds: tuple[int, ...],
    misses: Sequence[float],
    *,
    tuned: float,
    baseline: float,
) -> LayoutNull:
    """Return where ``tuned`` stands among the ``misses`` of random layouts, one per seed.

    If it were a random layout too, each rank would be as likely as any other: the chance of one as
    good or better is rank / (layouts + 1), and never none (Phipson & Smyth 2010). Where ENOUGH
    ended it early the chance is ENOUGH / layouts, a little less (Besag & Clifford 1991).
    """
    as_good = _as_good(misses, tuned)
    rank, chance = 1 + as_good, (1 + as_good) / (1 + len(misses))
    spread = (
        f"random layouts {min(misses):,.0f} to {max(misses):,.0f}, median {median(misses):,.0f}"
    )
    place = (
        f"fewer than all {len(misses)}"
        if as_good == 0
        else f"{as_good} of {len(misses)} have as few or fewer"
    )
    return LayoutNull(
        source="valgrind",
        workloads=programs,
        seeds=seeds,
        misses=tuple(misses),
        tuned=tuned,
        baseline=baseline,
        percentile=100.0 * as_good / len(misses),
        rank=rank,
        p_value=chance,
        reason=(
            f"tuned {tuned:,.0f} misses in a run of {' or '.join(programs)}, {place}; {spread}"
        ),
    )
