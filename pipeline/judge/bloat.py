"""The I-cache key judged: the same build must not differ, and known bloat has to be seen.

At every 256th malloc the library that can be slowed down also runs cache lines of code that nothing
else runs. A variable says how many, and misses rise in proportion. Both sides are that one file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pipeline.judge.counting.told import Told, as_program
from pipeline.judge.counting.whole import whole_counter
from pipeline.judge.counts import ProgramCounts, RealProgram
from pipeline.judge.icache import icache_key
from pipeline.judge.known import Bloat, CountedJudgement
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
mallocs hardly any line is run. Each is counted three times, or four."""

RISE = 0.10
"""The injected rise of misses: twice the usual margin of the I-cache key."""
NEAR = 0.02
"""How far the rise may be from RISE. A program that misses by more is counted once more: a few
lines do less than their share."""
LEAST = RISE * PROBED_LINES / LINES
"""Where the probe rises by less, not even all LINES would be enough."""


def same_counts(
    request: JudgeRequest, programs: Sequence[RealProgram], progress: Progress
) -> CountedJudgement:
    """Judge ``request.tuned`` against itself: what was counted of it, and counted again."""
    counter = whole_counter(request, "same-build/programs")
    tasks = [task for task in request.tasks if not task.of_profile]
    again = counter.count({"tuned": request.tuned}, tasks, progress)
    counts = {one.task.name: one.counts.get("tuned") for one in again}
    both = [
        one.model_copy(update={"baseline": one.tuned, "tuned": counts.get(one.name)})
        for one in programs
    ]
    return _judged(request, "same build, I-cache", both, Verdict.NEUTRAL)


@dataclass(frozen=True)
class _Bloated:
    """Counts the tasks of a request with one library, by so many lines more."""

    request: JudgeRequest
    library: Path
    progress: Progress

    def count(self, lines: Mapping[str, int], name: str) -> dict[str, Told]:
        """Count each task with its lines; all at once, as the counter does."""
        counter = whole_counter(self.request, "bloat/programs")
        tasks = [
            replace(task, env={**task.env, VARIABLE: f"{lines[task.name]:03d}"})
            for task in self.request.tasks
            if task.name in lines
        ]
        told = counter.count({name: self.library}, tasks, self._say)
        return {one.task.name: one for one in told if one.counts}

    def _say(self, line: str) -> None:
        self.progress(f"self-check: {line}")


def known_bloat(
    request: JudgeRequest, slowed: Path, programs: Sequence[RealProgram], progress: Progress
) -> CountedJudgement:
    """Judge ``slowed`` against itself with RISE more misses in each of BLOATED ``programs``.

    Programs that hardly call malloc cannot be bloated by it and are left out.
    """
    bloated = _Bloated(request, slowed, progress)
    ours = {task.name for task in request.tasks if not task.of_profile}
    names = _most_served([one for one in programs if one.name in ours])
    plain = bloated.count(dict.fromkeys(names, 0), "plain")
    probe = bloated.count(dict.fromkeys(names, PROBED_LINES), "probe")
    doses, found = _dosed(bloated, plain, _doses(plain, probe))
    both = [
        as_program(Told(one.task, {"baseline": _only(plain[name]), "tuned": _only(one)}))
        for name, one in found.items()
    ]
    return _judged(request, "known bloat, I-cache", both, Verdict.NO_GO, list(doses.values()))


def _dosed(
    bloated: _Bloated, plain: Mapping[str, Told], first: Mapping[str, Bloat]
) -> tuple[dict[str, Bloat], dict[str, Told]]:
    """Return the doses and what came of them; where the first was not near enough, of a second."""
    found = bloated.count({name: dose.lines for name, dose in first.items()}, "bloated")
    again = _corrected(first, plain, found)
    nearer = bloated.count({name: dose.lines for name, dose in again.items()}, "bloated-again")
    doses = {**first, **{name: again[name] for name in nearer}}
    return doses, {**found, **nearer}


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


def _only(told: Told) -> ProgramCounts:
    """Return the counts of the one library that was counted."""
    (counts,) = told.counts.values()
    return counts


def _doses(plain: Mapping[str, Told], probe: Mapping[str, Told]) -> dict[str, Bloat]:
    """Return the lines that make misses rise by RISE; none where not even all LINES do."""
    rises = {name: _rise(plain[name], one) for name, one in probe.items() if name in plain}
    return {name: _dose(name, PROBED_LINES, rise) for name, rise in rises.items() if rise >= LEAST}


def _corrected(
    doses: Mapping[str, Bloat], plain: Mapping[str, Told], found: Mapping[str, Told]
) -> dict[str, Bloat]:
    """Return better doses where the rise that was found is not NEAR to RISE.

    What was found is a probe too, and one that lies much nearer.
    """
    rises = {name: _rise(plain[name], one) for name, one in found.items()}
    tried = {
        name: _dose(name, doses[name].lines, rise, _slope(doses[name], rise))
        for name, rise in rises.items()
        if abs(rise - RISE) > NEAR
    }
    return {name: dose for name, dose in tried.items() if dose.lines != doses[name].lines}


def _rise(plain: Told, bloated: Told) -> float:
    return _only(bloated).i1_misses / max(1, _only(plain).i1_misses) - 1


def _slope(first: Bloat, rise: float) -> float:
    """Return how steep the rise is between both probes, on log scales; 1 is in proportion."""
    if first.lines == first.probe_lines:
        return 1.0
    steps = math.log(first.probe_lines / first.lines)
    return max(1.0, math.log(first.probe_rise / max(rise, LEAST)) / steps)


def _dose(name: str, lines: int, rise: float, slope: float = 1.0) -> Bloat:
    """Return the lines that make misses rise by RISE, by what ``lines`` did."""
    times = (RISE / max(rise, LEAST)) ** (1 / slope)
    return Bloat(
        task=name,
        lines=min(LINES, math.ceil(round(lines * times, 6))),
        rise=RISE,
        probe_lines=lines,
        probe_rise=rise,
    )
