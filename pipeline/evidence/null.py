"""The layout null: where the tuned layout stands among random layouts of the same code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

from pipeline.evidence.model import LayoutNull
from pipeline.judge.counting.whole import mean, whole_counter
from pipeline.judge.request import JudgeRequest

TUNED, BASELINE = "tuned", "baseline"


def judge_layout(
    request: JudgeRequest, random: Mapping[int, Path], progress: Callable[[str], None]
) -> LayoutNull | None:
    """Count ``random`` layouts, by seed, and both libraries of ``request`` in its tasks.

    None where nothing can be counted.
    """
    counter = whole_counter(request)
    if counter is None:
        return None
    seeds = {f"seed-{seed}": library for seed, library in random.items()}
    both = {BASELINE: request.baseline, TUNED: request.tuned}
    told = counter.count({**both, **seeds}, request.tasks, progress)

    def misses(build: str) -> float | None:
        return mean(told, build, "i1_misses")

    found = [value for name in seeds if (value := misses(name)) is not None]
    tuned, baseline = misses(TUNED), misses(BASELINE)
    if tuned is None or baseline is None or len(found) < len(seeds):
        return None
    names = tuple(one.task.name for one in told if one.counts)
    return standing(names, tuple(random), found, tuned=tuned, baseline=baseline)


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
    good or better is rank / (layouts + 1), and never none (Phipson & Smyth 2010).
    """
    as_good = sum(one <= tuned for one in misses)
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
            f"tuned {tuned:,.0f} misses in a run of {' or '.join(programs)}, {place} "
            f"(rank {rank} of {1 + len(misses)}, p = {chance:.2g}); {spread}"
        ),
    )
