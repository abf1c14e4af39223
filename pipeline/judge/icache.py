"""The I-cache key: from the library's misses inside real programs to a verdict.

Each program is simulated as a whole with either library (counting/whole.py): what is judged is the
geometric mean of the changes. Our tasks count alike, commands of the profile by their weight.
Loops made for the purpose have no say; their counts are in the report. Where nothing could be
counted the key is INCONCLUSIVE: unknown is never "not worse".
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.judge.counts import Counting, RealProgram, WorkloadCounts
from pipeline.judge.keys import percent, share
from pipeline.judge.means import geometric_mean
from pipeline.judge.model import Key
from pipeline.judge.pressure import presses
from pipeline.judge.request import Margins
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict

MEASURE = "I-cache misses of the library inside real programs, simulated without conflicts of sets"


def icache_key(programs: Sequence[RealProgram], margins: Margins) -> Key:
    """Return the verdict on what the library's code costs real programs in the I-cache."""
    counted = [(one, change) for one in programs if (change := misses_ratio(one))]
    if not counted:
        return _inconclusive(_why_none(programs), margins)
    ratio = geometric_mean((one.weight, change) for one, change in counted)
    verdict = _fewer_is_better(ratio, margins.icache)
    each = ", ".join(f"{one.name} {percent(change)}" for one, change in counted)
    return Key(
        verdict=verdict,
        margin=margins.icache,
        measure=MEASURE,
        reason=(
            f"I-cache misses of the library inside real programs {percent(ratio)} ({each}); "
            f"margin ±{share(margins.icache)}{_without(programs)}"
        ),
        ratio=Interval(value=ratio, low=ratio, high=ratio, confidence=1.0),
        not_worse=ratio < 1 + margins.icache,
    )


def counts_own(programs: Sequence[RealProgram]) -> bool | None:
    """Return whether a program was counted that a verify command runs; None if nobody knows."""
    counted = [one.own for one in programs if misses_ratio(one) is not None]
    if any(counted):
        return True
    return None if None in counted else False


def uncounted(programs: Sequence[RealProgram]) -> dict[str, str]:
    """Return the programs in which no misses could be counted, each with its reason."""
    return {one.name: one.detail for one in programs if one.status == "failed"}


def _without(programs: Sequence[RealProgram]) -> str:
    """Name the programs that have no say because they could not be counted."""
    names = ", ".join(uncounted(programs))
    return f"; not counted: {names}" if names else ""


def misses_ratio(program: RealProgram) -> float | None:
    """Return tuned / baseline of the library's misses; None where one of them is not known.

    No miss at all counts as one, so that there is a ratio.
    """
    if program.baseline is None or program.tuned is None:
        return None
    return max(1, program.tuned.i1_misses) / max(1, program.baseline.i1_misses)


def under_pressure(counting: Counting) -> tuple[WorkloadCounts, ...]:
    """Return the loops that press on the I-cache: in all others a ratio of misses says nothing."""
    return tuple(one for one in counting.workloads if presses(one.baseline, one.tuned))


def _why_none(programs: Sequence[RealProgram]) -> str:
    why = "; ".join(f"{one.name}: {one.detail}" for one in programs)
    return f"no real program was counted ({why})" if why else "no real program was counted"


def _inconclusive(reason: str, margins: Margins) -> Key:
    return Key(
        verdict=Verdict.INCONCLUSIVE,
        margin=margins.icache,
        measure=MEASURE,
        reason=reason,
        not_worse=False,
    )


def _fewer_is_better(ratio: float, margin: float) -> Verdict:
    if ratio >= 1 + margin:
        return Verdict.NO_GO
    return Verdict.GO if ratio <= 1 - margin else Verdict.NEUTRAL
