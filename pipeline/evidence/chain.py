"""The ablation chain: what each step of the build is worth, counted exactly and timed briefly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.core.budget import MIN_PAIRS
from pipeline.evidence.choice import FEW_MISSES, Standing, choose, few_misses
from pipeline.evidence.model import Ablation, AblationStep
from pipeline.judge.counting.told import mean
from pipeline.judge.counting.whole import whole_counter
from pipeline.judge.pairing import PairedRunner, stage
from pipeline.judge.request import JudgeRequest
from pipeline.judge.samples import Throughput
from pipeline.judge.throughput import measure
from pipeline.toolchain.elf_file import reading, text_bytes

Progress = Callable[[str], None]

COUNTED = ("instructions", "i1_misses", "hot_lines")

BRIEF_S = 1.0
"""Budget of a build that is out by its misses: it ends with the first look."""


@dataclass(frozen=True)
class Build:
    """One step: its name, what it adds to the one before, its library."""

    name: str
    adds: str
    library: Path


def judge_chain(
    builds: Sequence[Build], request: JudgeRequest, budget_s: float, progress: Progress
) -> Ablation:
    """Count and time all ``builds``, from the baseline to the full one, and choose.

    Workloads, tasks, margins, tools and logs are those of ``request``; the workloads and tasks have
    to be others than those that judge what is chosen. At most ``budget_s`` seconds are
    spent timing a build, beyond its first look.
    """
    libraries = {build.name: build.library for build in builds}
    told = whole_counter(request, "count").count(libraries, request.tasks, progress)
    rows = [_Row(build, {field: mean(told, build.name, field) for field in COUNTED})
            for build in builds]  # fmt: skip
    speeds = _time_all(rows, request, budget_s, progress)
    margins = request.margins
    standings = [
        Standing(row.build.name, row.means["i1_misses"], speed.overall if speed else None)
        for row, speed in zip(rows, speeds, strict=True)
    ]
    choice = choose(standings, FEW_MISSES, margins.throughput)
    judged = zip(rows, speeds, choice.few_misses, choice.fast, strict=True)
    return Ablation(
        steps=tuple(_step(row, speed, few, fast) for row, speed, few, fast in judged),
        chosen=choice.chosen,
        reason=choice.reason,
        icache_margin=FEW_MISSES,
        throughput_margin=margins.throughput,
        tasks=tuple(one.task.name for one in told if one.counts),
        workloads=tuple(bench.name for bench in request.benches),
    )


@dataclass(frozen=True)
class _Row:
    """A build, and the means of its counts over all tasks, by the field of ProgramCounts."""

    build: Build
    means: Mapping[str, float | None]


def _time_all(
    rows: Sequence[_Row], request: JudgeRequest, budget_s: float, progress: Progress
) -> list[Throughput | None]:
    """Return the throughput of each build against the full one, which has none itself.

    A build with too many misses cannot be chosen, nor can the baseline: one look is enough.
    """
    few = few_misses([row.means["i1_misses"] for row in rows], FEW_MISSES)
    full = rows[-1].build
    found: list[Throughput | None] = []
    for number, row in enumerate(rows[:-1]):
        brief = replace(
            request,
            baseline=full.library,
            tuned=row.build.library,
            pairs=MIN_PAIRS,
            time_budget_s=budget_s if number > 0 and few[number] else BRIEF_S,
            logs=request.logs / "timed" / row.build.name,
        )
        found.append(_time(row.build.name, brief, progress))
    return [*found, None]


def _time(name: str, request: JudgeRequest, progress: Progress) -> Throughput:
    sides = stage({"baseline": request.baseline, "tuned": request.tuned}, request.logs)
    runner = PairedRunner(sides, request.logs)
    return measure(request, runner.block, lambda text: progress(f"{name}: {text}"))


def _step(row: _Row, speed: Throughput | None, few: bool, fast: bool) -> AblationStep:
    return AblationStep(
        name=row.build.name,
        adds=row.build.adds,
        **row.means,
        text_bytes=reading(row.build.library, text_bytes),
        speed=speed.overall if speed else None,
        pairs=speed.pairs if speed else None,
        as_few_misses=few,
        as_fast=fast,
    )
