"""The I-cache key judged: the same build must not differ, and known bloat has to be seen.

The library that can be slowed down also runs as many cache lines of code as it is told, every 256th
malloc, which nothing else runs: misses rise in proportion. Both sides are that one file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pipeline.judge.counting.whole import Told, WholeCounter, as_program, whole_counter
from pipeline.judge.icache import icache_key
from pipeline.judge.model import Bloat, CountedJudgement, RealProgram
from pipeline.judge.request import JudgeRequest
from pipeline.judge.verdict import Verdict

Progress = Callable[[str], None]

VARIABLE = "HAKMEM_BLOAT"
LINES = 256
"""So many the library has (allocator/base/attributes.h)."""
PROBED_LINES = 64
"""All of them are half of a cache: they drive out so much else that a few cost less than their
share."""

BLOATED = 2
"""So many programs are bloated, those with the largest share of misses in the library: with few
mallocs hardly any line is run. Each is counted three times."""

RISE = 0.10
"""The injected rise of misses: twice the usual margin of the I-cache key."""


def same_counts(
    request: JudgeRequest, programs: Sequence[RealProgram], progress: Progress
) -> CountedJudgement | None:
    """Judge ``request.tuned`` against itself: what was counted of it, and counted again."""
    counter = whole_counter(request)
    if counter is None:
        return None
    again = _counter(counter, "same-build").count({"tuned": request.tuned}, request.tasks, progress)
    counts = {one.task.name: one.counts.get("tuned") for one in again}
    both = [
        one.model_copy(update={"baseline": one.tuned, "tuned": counts.get(one.name)})
        for one in programs
    ]
    return _judged(request, "same build, I-cache", both, Verdict.NEUTRAL)


def known_bloat(
    request: JudgeRequest, slowed: Path, programs: Sequence[RealProgram], progress: Progress
) -> CountedJudgement | None:
    """Judge ``slowed`` against itself with RISE more misses in each of BLOATED ``programs``.

    Programs that hardly call malloc cannot be bloated by it and are left out.
    """
    counter = whole_counter(request)
    if counter is None:
        return None
    counter = _counter(counter, "bloat")

    def bloated(lines: Mapping[str, int], name: str) -> dict[str, Told]:
        """Count each task with so many lines; all at once, as the counter does."""
        tasks = [
            replace(task, env={**task.env, VARIABLE: f"{lines[task.name]:03d}"})
            for task in request.tasks
            if task.name in lines
        ]
        told = counter.count({name: slowed}, tasks, lambda line: progress(f"self-check: {line}"))
        return {one.task.name: one for one in told if one.counts}

    names = _most_served(programs)
    plain = bloated(dict.fromkeys(names, 0), "plain")
    probe = bloated(dict.fromkeys(names, PROBED_LINES), "probe")
    doses = [dose for name in names if (dose := _dose(name, plain, probe))]
    found = bloated({dose.task: dose.lines for dose in doses}, "bloated")
    both = [
        as_program(Told(one.task, {"baseline": plain[name].counts["plain"],
                                   "tuned": one.counts["bloated"]}))
        for name, one in found.items()
    ]  # fmt: skip
    return _judged(request, "known bloat, I-cache", both, Verdict.NO_GO, doses)


def _most_served(programs: Sequence[RealProgram]) -> list[str]:
    """Return the names of the BLOATED programs in which the library has most of the misses."""
    shares = {
        one.name: one.tuned.i1_misses / max(1, one.tuned.total_i1_misses)
        for one in programs
        if one.tuned is not None
    }
    return sorted(shares, key=lambda name: -shares[name])[:BLOATED]


def _judged(
    request: JudgeRequest,
    name: Literal["same build, I-cache", "known bloat, I-cache"],
    both: Sequence[RealProgram],
    right: Verdict,
    doses: Sequence[Bloat] = (),
) -> CountedJudgement:
    """Judge ``both`` sides of each program, where only ``right`` is right."""
    key = icache_key(both, request.margins)
    decided = (Verdict.GO, Verdict.NEUTRAL, Verdict.NO_GO)
    return CountedJudgement(
        name=name,
        verdict=key.verdict,
        expected=(right,),
        alarming=tuple(one for one in decided if one is not right),
        reason=key.reason,
        ratio=key.ratio,
        doses=tuple(doses),
    )


def _counter(counter: WholeCounter, folder: str) -> WholeCounter:
    return replace(counter, logs=counter.logs.parent / folder / "programs")


def _dose(name: str, plain: Mapping[str, Told], probe: Mapping[str, Told]) -> Bloat | None:
    """Return the lines that make misses rise by RISE; None where not even all LINES do."""
    if name not in plain or name not in probe:
        return None
    before = plain[name].counts["plain"].i1_misses
    rise = probe[name].counts["probe"].i1_misses / max(1, before) - 1
    if rise < RISE * PROBED_LINES / LINES:
        return None
    return Bloat(
        task=name,
        lines=math.ceil(round(PROBED_LINES * RISE / rise, 6)),
        rise=RISE,
        probe_lines=PROBED_LINES,
        probe_rise=rise,
    )
