"""The I-cache key: from counted misses, or else from lines of code, to a verdict.

Three cases, in this order (docs/verdicts.md has the reasons):

1. Workloads with instruction pressure, that is, at least PRESSURE_FLOOR misses per operation in
   the library on either side: the weighted sum of their misses is compared.
2. Counted, but nowhere pressure: the library fits into the cache, and the ratio of two near-zeros
   is noise. The hot lines are compared instead: what it would cost once there is pressure. That
   is a coarse whole number, so it must clear twice the margin, and at least MIN_LINES lines.
3. Nothing counted: INCONCLUSIVE. Unknown is never "not worse".
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.judge.keys import percent, share
from pipeline.judge.means import weighted_mean
from pipeline.judge.model import Counting, Key, LibraryCounts, Measured, WorkloadCounts
from pipeline.judge.pressure import PRESSURE_FLOOR, presses
from pipeline.judge.request import Margins
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict

MIN_LINES = 2
"""Cache lines by which the fallback must differ: one line is chance of a single alignment."""


def icache_key(counting: Counting, margins: Margins) -> Key:
    """Return the verdict on instruction-cache behaviour of the library."""
    unknown = _what_is_unknown(counting)
    if unknown:
        return _inconclusive(unknown, margins)
    pressed = under_pressure(counting)
    if pressed:
        return _by_misses(pressed, counting, margins)
    lines = weighted_lines(counting)
    if lines is None:
        return _inconclusive("no workload presses on the I-cache, hot lines unknown", margins)
    return _by_lines(*lines, counting, margins)


def under_pressure(counting: Counting) -> tuple[WorkloadCounts, ...]:
    """Return the workloads that press on the I-cache: those the key is judged by."""
    return tuple(one for one in counting.workloads if presses(one.baseline, one.tuned))


def _what_is_unknown(counting: Counting) -> str | None:
    if not counting.workloads:
        return f"nothing could be counted: {counting.why}"
    holes = [one.name for one in counting.workloads if None in _both_misses(one)]
    return f"misses unknown in {', '.join(holes)} ({counting.source})" if holes else None


def _inconclusive(reason: str, margins: Margins) -> Key:
    return Key(
        verdict=Verdict.INCONCLUSIVE,
        margin=margins.icache,
        measure="I1 misses per operation in the library",
        reason=reason,
        not_worse=False,
    )


def _both_misses(workload: WorkloadCounts) -> tuple[Measured | None, Measured | None]:
    return workload.baseline.i1_misses, workload.tuned.i1_misses


def _by_misses(pressed: Sequence[WorkloadCounts], counting: Counting, margins: Margins) -> Key:
    baseline = _weighted_sum([(one.weight, one.baseline) for one in pressed])
    tuned = _weighted_sum([(one.weight, one.tuned) for one in pressed])
    ratio = _ratio(baseline, tuned)
    verdict = _fewer_is_better(ratio, margins.icache)
    names = ", ".join(one.name for one in pressed)
    change = percent(ratio.value) if ratio else "from none"
    return Key(
        verdict=verdict,
        margin=margins.icache,
        measure=f"I1 misses per operation in the library ({counting.source})",
        reason=(
            f"I1 misses per operation {baseline.value:.3f} -> {tuned.value:.3f} ({change}) "
            f"under instruction pressure in {names}; margin ±{share(margins.icache)}"
        ),
        ratio=ratio,
        not_worse=ratio is not None and ratio.high < 1 + margins.icache,
    )


def _weighted_sum(sides: Sequence[tuple[float, LibraryCounts]]) -> Measured:
    known = [(weight, _known(counts)) for weight, counts in sides]

    def mean(field: str) -> float:
        return weighted_mean((weight, getattr(one, field)) for weight, one in known) or 0.0

    return Measured(value=mean("value"), low=mean("low"), high=mean("high"))


def _known(counts: LibraryCounts) -> Measured:
    if counts.i1_misses is None:
        raise ValueError("misses are unknown; _what_is_unknown should have said so")
    return counts.i1_misses


def _ratio(baseline: Measured, tuned: Measured) -> Interval | None:
    """Return tuned / baseline from extreme to extreme, or None when the baseline has no misses."""
    if baseline.low <= 0:
        return None
    return Interval(
        value=tuned.value / baseline.value,
        low=tuned.low / baseline.high,
        high=tuned.high / baseline.low,
        confidence=1.0,
    )


def _fewer_is_better(ratio: Interval | None, margin: float) -> Verdict:
    if ratio is None or ratio.low >= 1 + margin:
        return Verdict.NO_GO
    if ratio.high <= 1 - margin:
        return Verdict.GO
    if ratio.low > 1 - margin and ratio.high < 1 + margin:
        return Verdict.NEUTRAL
    return Verdict.INCONCLUSIVE


def _by_lines(baseline: float, tuned: float, counting: Counting, margins: Margins) -> Key:
    ratio, border = tuned / baseline, 2 * margins.icache
    moved = abs(tuned - baseline) >= MIN_LINES and abs(ratio - 1) >= border
    verdict = Verdict.NEUTRAL
    if moved:
        verdict = Verdict.GO if ratio < 1 else Verdict.NO_GO
    return Key(
        verdict=verdict,
        margin=border,
        measure=f"hot 64 B lines of the library ({counting.source})",
        reason=(
            f"no workload presses on the I-cache (under {PRESSURE_FLOOR} misses per operation); "
            f"hot lines {baseline:.1f} -> {tuned:.1f} ({percent(ratio)}), margin ±{share(border)}"
        ),
        ratio=Interval(value=ratio, low=ratio, high=ratio, confidence=1.0),
        not_worse=verdict is not Verdict.NO_GO,
    )


def weighted_lines(counting: Counting) -> tuple[float, float] | None:
    """Return the mean hot lines of baseline and tuned, or None when any of them is unknown."""
    rows = counting.workloads
    baseline = weighted_mean((one.weight, one.baseline.hot_lines) for one in rows)
    tuned = weighted_mean((one.weight, one.tuned.hot_lines) for one in rows)
    return None if baseline is None or tuned is None else (baseline, tuned)
