"""The layout null: where the tuned layout stands among random layouts of the same code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

from pipeline.evidence.counts import BuildCounter, Counts, pressed, weighted
from pipeline.evidence.model import LayoutNull
from pipeline.judge.geometry import machine_l1i
from pipeline.judge.request import JudgeRequest

TUNED, BASELINE = "tuned", "baseline"


def judge_layout(
    request: JudgeRequest, random: Mapping[int, Path], progress: Callable[[str], None]
) -> LayoutNull | None:
    """Count ``random`` layouts, by seed, and both libraries of ``request``.

    None where nothing can be counted, or no workload presses on the I-cache.
    """
    if request.tools.valgrind is None:
        return None
    counter = BuildCounter(request.tools.valgrind, machine_l1i()[0], request.logs)
    progress("counting the tuned layout")
    both = {BASELINE: request.baseline, TUNED: request.tuned}
    counts = counter.count(both, request.benches)
    names = pressed(counts)
    if not names:
        return None
    benches = [bench for bench in request.benches if bench.name in names]
    libraries = {f"seed-{seed}": library for seed, library in random.items()}
    found = counter.count(libraries, benches, lambda name: progress(f"counted {name}"))
    weights = {bench.name: bench.weight for bench in benches}

    def misses(build: Counts) -> float:
        value = weighted(build, weights, "i1_misses", names)
        if value is None:
            raise ValueError("a simulation always counts misses")
        return value

    return standing(
        names,
        tuple(random),
        [misses(found[name]) for name in libraries],
        tuned=misses(counts[TUNED]),
        baseline=misses(counts[BASELINE]),
    )


def standing(
    workloads: tuple[str, ...],
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
    spread = f"random layouts {min(misses):.3f} to {max(misses):.3f}, median {median(misses):.3f}"
    place = (
        f"fewer than all {len(misses)}"
        if as_good == 0
        else f"{as_good} of {len(misses)} have as few or fewer"
    )
    return LayoutNull(
        source="valgrind",
        workloads=workloads,
        seeds=seeds,
        misses=tuple(misses),
        tuned=tuned,
        baseline=baseline,
        percentile=100.0 * as_good / len(misses),
        rank=rank,
        p_value=chance,
        reason=(
            f"tuned {tuned:.3f} misses per operation, {place} "
            f"(rank {rank} of {1 + len(misses)}, p = {chance:.2g}); {spread}"
        ),
    )
