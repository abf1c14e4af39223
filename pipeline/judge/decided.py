"""Which figures keep a build from being published, in a few words each: for the headline.

The reason of the gate (publishing.py) has all of it in sentences. What the headline says anyway is
left out here: a failed health check, and speed where programs or loops alone were timed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pipeline.judge.gained import fewer_elsewhere
from pipeline.judge.keys import brief_figure, in_brief, suspect_of, worse_clock
from pipeline.judge.memory_key import too_fat
from pipeline.judge.model import VerifyResult
from pipeline.judge.outcome import NOISY, TOO_NOISY
from pipeline.judge.regressions import OVERALL, PROGRAMS, asked_about, regressions
from pipeline.judge.samples import WorkloadThroughput
from pipeline.judge.statistics import is_wide
from pipeline.judge.verdict import Verdict


def decided_by(result: VerifyResult, allow_regression: Collection[str] = ()) -> str:
    """Return the figures for which a build was not published, with what they are of.

    ``allow_regression`` are the regressions that the user accepts, by name.
    """
    if not result.health.sound:
        return ""
    objections = [
        *_self_check(result),
        *_slower(result, allow_regression),
        *_fatter(result),
        *_open(result, allow_regression),
    ]
    return "; ".join(objections or _no_gain(result))


def _self_check(result: VerifyResult) -> Iterator[str]:
    blind = result.keys.throughput.verdict is not Verdict.GO
    margin = result.keys.throughput.margin
    for one in result.self_judgements:
        if one.wrong or (blind and not one.passed):
            change = f", {brief_figure(one.ratio, margin)}" if one.ratio else ""
            seen = "is wrong about" if one.wrong else "cannot tell"
            yield f"the judge {seen} the {one.name}: {one.verdict.value}{change}"


def _slower(result: VerifyResult, allow_regression: Collection[str]) -> Iterator[str]:
    keys = result.keys
    lost = Verdict.NO_GO in (keys.throughput.verdict, keys.icache.verdict)
    found = regressions(result) if lost else asked_about(result, allow_regression)
    if keys.icache.verdict is Verdict.NO_GO and keys.icache.ratio:
        yield f"I-cache misses {in_brief(keys.icache.ratio.value)}"
    if OVERALL in found:
        yield from _all_together(result)
    for one in result.throughput.workloads:
        named = one.name in found and one.name not in (OVERALL, PROGRAMS)
        if named and not result.throughput.alone:
            yield f"{one.name} {in_brief(worse_clock(one)[1].value)}"


def _fatter(result: VerifyResult) -> Iterator[str]:
    """Yield the memory of each workload that breaks the limit."""
    for one in result.throughput.workloads:
        if not result.rss.holds and too_fat(one, result.margins):
            yield f"memory of {one.name} {in_brief(one.tuned_rss_kib / one.baseline_rss_kib)}"


def _open(result: VerifyResult, allow_regression: Collection[str]) -> Iterator[str]:
    """Yield what leaves a loss possible, unless that is named as shown."""
    key, suspect = result.keys.throughput, suspect_of(result.throughput)
    if key.verdict is Verdict.NO_GO or key.not_worse:
        return
    if suspect is not None and not result.throughput.alone:
        if suspect.name not in asked_about(result, allow_regression):
            yield _possible(suspect, key.margin)
    else:
        yield from _all_together(result)


def _possible(suspect: WorkloadThroughput, margin: float) -> str:
    """Return a loss that is not excluded; where anything is possible its middle says nothing."""
    if is_wide(suspect.ratio, NOISY):
        return f"{suspect.name} {TOO_NOISY} ({brief_figure(suspect.ratio, margin)})"
    return f"{suspect.name} perhaps {in_brief(suspect.ratio.value)}"


def _no_gain(result: VerifyResult) -> list[str]:
    elsewhere = fewer_elsewhere(result) is not None
    misses = ["fewer I-cache misses, but in no program of its own"] if elsewhere else []
    return [f"no gain: {said}" for said in (*misses, *_all_together(result))]


def _all_together(result: VerifyResult) -> list[str]:
    """Return the change over all workloads; none where the headline has it as that of a part."""
    timed = result.throughput
    if timed.programs is None or timed.loops is None:
        return []
    return [f"throughput {brief_figure(timed.overall, result.keys.throughput.margin)}"]
