"""Counts of two libraries against each other: fewer is better.

They repeat exactly in loops of one thread, and nearly so in real programs (docs/verdicts.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.judge.counts import LibraryCounts, ProgramCounts
from pipeline.judge.keys import share
from pipeline.judge.means import geometric_mean, mean_count
from pipeline.judge.model import VerifyResult
from pipeline.judge.pressure import presses
from pipeline.judge.request import Margins
from pipeline.report.compared_model import INSTRUCTIONS, ComparedRow, Judgement

Rows = tuple[ComparedRow, ...]
REPEATS_WITHIN = 0.01
"""Counts of programs with several threads differ by so much from one run to the next."""


@dataclass(frozen=True)
class CountPair:
    """What two libraries did in the same workload, which has this share of time."""

    name: str
    weight: float
    before: LibraryCounts
    after: LibraryCounts

    @property
    def presses(self) -> bool:
        """Whether the workload presses on the instruction cache with either library."""
        return presses(self.before, self.after)


def count_rows(
    judged: Sequence[VerifyResult],
    pairs: Sequence[CountPair],
    reason: str,
    programs: Sequence[tuple[ProgramCounts, ProgramCounts]],
) -> Rows:
    """Return the rows of loops and of real programs; none of what was counted in no judgement."""
    margins = judged[-1].margins
    loops = counted_rows(pairs, reason, margins) if _has_loops(judged) else ()
    most = max(sum(1 for program in one.programs if program.tuned) for one in judged)
    return (*loops, *((program_row(programs, margins, most),) if most else ()))


def uncounted_notes(judged: Sequence[VerifyResult]) -> tuple[str, ...]:
    """Say once that nothing was counted, in place of a row for each quantity."""
    if _has_loops(judged) or _has_programs(judged):
        return ()
    return (
        "instructions and I-cache misses are unknown: neither version was counted; "
        "`.venv/bin/pipeline doctor` says what this machine can count",
    )


def _has_loops(judged: Sequence[VerifyResult]) -> bool:
    return any(one.counting.workloads for one in judged)


def _has_programs(judged: Sequence[VerifyResult]) -> bool:
    return any(program.tuned for one in judged for program in one.programs)


def counted_rows(pairs: Sequence[CountPair], reason: str, margins: Margins) -> Rows:
    """Return instructions over all workloads, misses over those under instruction pressure.

    ``reason`` says why there are no pairs, if there are none. Where the code outgrows the
    instruction cache in no workload there is nothing to decide, and no row of misses.
    """
    pressed = [pair for pair in pairs if pair.presses]
    work = _row(INSTRUCTIONS, pairs, "instructions", _instructions(margins), reason)
    if pairs and not pressed:
        return (work,)
    return work, _row("I-cache misses per op", pressed, "i1_misses", margins.icache, reason)


def program_row(
    pairs: Sequence[tuple[ProgramCounts, ProgramCounts]], margins: Margins, most: int
) -> ComparedRow:
    """Return the misses in a run of a real program, then and now; each program counts alike.

    ``most`` is how many a version has by itself: over fewer it is another mean than its own.
    """

    def mean(side: int) -> float | None:
        misses = [(1.0, max(1.0, pair[side].i1_misses)) for pair in pairs]
        return geometric_mean(misses) if misses else None

    why = "no real program was counted in both, with the same files"
    row = fewer("I-cache misses in a real program", mean(0), mean(1), margins.icache, why)
    part = f"; over the {len(pairs)} of {most} programs that both counted alike"
    return row.model_copy(update={"why": row.why + part}) if 0 < len(pairs) < most else row


def workload_rows(pairs: Sequence[CountPair], margins: Margins) -> Rows:
    """Return the single workloads in which a count has changed by its margin or more."""
    rows = []
    for one in pairs:
        rows.append(
            _row(f"{one.name}: instructions", [one], "instructions", _instructions(margins))
        )
        if one.presses:
            rows.append(_row(f"{one.name}: I-cache misses", [one], "i1_misses", margins.icache))
    return tuple(row for row in rows if row.judgement in ("better", "worse"))


def _instructions(margins: Margins) -> float:
    """Return by how much instructions must differ to be called other: beyond their own spread."""
    return margins.throughput + REPEATS_WITHIN


def fewer(
    name: str, before: float | None, after: float | None, margin: float, reason: str
) -> ComparedRow:
    """Return the row of a quantity of which less is better; ``reason`` is why it is unknown."""
    ratio = after / before if before and after is not None else None
    return ComparedRow(
        name=name,
        unit="",
        before=before,
        after=after,
        ratio=ratio,
        judgement="unknown" if ratio is None else _judged(ratio, margin),
        why=f"margin ±{share(margin)}" if ratio is not None else reason or "not counted in both",
    )


def _row(
    name: str, pairs: Sequence[CountPair], field: str, margin: float, reason: str = ""
) -> ComparedRow:
    before = mean_count((pair.weight, getattr(pair.before, field)) for pair in pairs)
    after = mean_count((pair.weight, getattr(pair.after, field)) for pair in pairs)
    return fewer(name, before, after, margin, reason)


def _judged(ratio: float, margin: float) -> Judgement:
    if ratio >= 1 + margin:
        return "worse"
    return "better" if ratio <= 1 - margin else "same"
