"""The throughput key: from measured ratios to a verdict with a reason."""

from __future__ import annotations

from pipeline.judge import statistics
from pipeline.judge.model import Key
from pipeline.judge.request import Margins
from pipeline.judge.samples import Throughput, WorkloadThroughput
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict

CLOCKS = 2
"""Each workload is looked at by CPU time and by wall time."""

CLOSE = 10
"""A change that only more than so many times as many pairs would tell from the margin is close."""


def percent(ratio: float) -> str:
    """Return a ratio as a signed change: 1.021 becomes "+2.10 %"."""
    return f"{(ratio - 1) * 100:+.2f} %"


def share(fraction: float) -> str:
    """Return a margin as per cent: 0.01 becomes "1.0 %"."""
    return f"{fraction * 100:.1f} %"


def spread(interval: Interval) -> str:
    """Return the ends of an interval as signed changes."""
    return f"[{percent(interval.low)}, {percent(interval.high)}]"


def with_interval(ratio: Interval) -> str:
    """Return a change with the ends of its interval: "+2.10 % [+1.00 %, +3.20 %]"."""
    return f"{percent(ratio.value)} {spread(ratio)}"


def _tenths(ratio: float) -> str:
    """Return a ratio as a signed change of one digit, without a zero below zero."""
    return f"{round((ratio - 1) * 100, 1) + 0.0:+.1f}"


def in_brief(ratio: float) -> str:
    """Return a ratio as a signed change of one digit: 1.021 becomes "+2.1 %"."""
    return f"{_tenths(ratio)} %"


def brief_figure(ratio: Interval, margin: float) -> str:
    """Return a change in brief: of one that is not decided the ends, as its middle says nothing."""
    if compare(ratio, margin) is not Verdict.INCONCLUSIVE:
        return in_brief(ratio.value)
    return f"{_tenths(ratio.low)} to {in_brief(ratio.high)}"


def single_confidence(share: float, workloads: int) -> float:
    """Return the confidence of one workload's interval at a look that may use ``share`` of alpha.

    The intervals of all workloads, by both clocks, hold together.
    """
    return statistics.confidence(share, CLOCKS * workloads)


def throughput_key(throughput: Throughput, margins: Margins) -> Key:
    """Return the verdict on speed.

    NO-GO: the whole interval lies below -margin, or a single workload is shown to lose more than
    its allowance (with threads, by either clock). GO: the whole interval lies above +margin.
    NEUTRAL: it lies inside the margins. Neither of these two where a workload seems to lose more
    than its allowance. Else INCONCLUSIVE.
    """
    overall, margin = throughput.overall, margins.throughput
    loser, suspect = _worst_loser(throughput), suspect_of(throughput)
    verdict = Verdict.NO_GO if loser else compare(overall, margin)
    if verdict is not Verdict.NO_GO and suspect:
        verdict = Verdict.INCONCLUSIVE
    whole = throughput.alone and compare(overall, margin) is verdict  # one change, one interval
    doubt = f"; {_doubt(suspect)}" if suspect and not loser and not throughput.alone else ""
    reason = _loss(loser) if loser and not whole else _sentence(verdict, throughput, margin)
    return Key(
        verdict=verdict,
        margin=margin,
        measure="operations per second, tuned / baseline",
        reason=f"{reason}{doubt}",
        ratio=overall,
        not_worse=loser is None and suspect is None and overall.low > 1 - margin,
    )


def compare(interval: Interval, margin: float) -> Verdict:
    """Return where ``interval`` lies against 1 - margin and 1 + margin; higher is better."""
    if interval.low > 1 + margin:
        return Verdict.GO
    if interval.high < 1 - margin:
        return Verdict.NO_GO
    if interval.low > 1 - margin and interval.high < 1 + margin:
        return Verdict.NEUTRAL
    return Verdict.INCONCLUSIVE


def _worst_loser(throughput: Throughput) -> WorkloadThroughput | None:
    shown = [one for one in throughput.workloads if holds(worse_clock(one)[1], throughput)]
    losers = [one for one in shown if worse_clock(one)[1].high < _border(one)]
    return min(losers, key=lambda one: worse_clock(one)[1].value, default=None)


def holds(single: Interval, throughput: Throughput) -> bool:
    """Return whether there were enough pairs for an interval to hold together with all others."""
    missing = (1 - throughput.overall.confidence) / (CLOCKS * len(throughput.workloads))
    return 1 - single.confidence <= missing * (1 + statistics.TINY)


def shown(workload: WorkloadThroughput, throughput: Throughput) -> Interval:
    """Return the interval to show of one workload: of a single one, that of all together.

    There is nothing else that it would have to hold together with.
    """
    return throughput.overall if throughput.alone else workload.ratio


def suspects_of(throughput: Throughput) -> list[WorkloadThroughput]:
    """Return the workloads that seem to lose more than their allowance, the worst first."""
    found = [one for one in throughput.workloads if one.ratio.value < _border(one)]
    return sorted(found, key=lambda one: one.ratio.value)


def suspect_of(throughput: Throughput) -> WorkloadThroughput | None:
    """Return the worst of them."""
    return next(iter(suspects_of(throughput)), None)


def _border(workload: WorkloadThroughput) -> float:
    return 1 - workload.allowance


def worse_clock(workload: WorkloadThroughput) -> tuple[str, Interval]:
    """Return the clock by which the loss is surer: threads that sleep cost no CPU time.

    A single thread has nobody to wait for: its wall time tells of other programs alone.
    """
    own = ("processor time" if workload.clock == "cpu" else "wall time", workload.ratio)
    if workload.wall is None or workload.threads == 1:
        return own
    return min(own, ("wall time", workload.wall), key=lambda one: one[1].high)


def _loss(loser: WorkloadThroughput) -> str:
    clock, ratio = worse_clock(loser)
    return (
        f"the speed of {loser.name} changes by {with_interval(ratio)}, by {clock}: "
        f"more than it may lose (-{share(loser.allowance)})"
    )


def _doubt(suspect: WorkloadThroughput) -> str:
    ratio = suspect.ratio
    return (
        f"the estimate for {suspect.name}, {with_interval(ratio)}, is beyond "
        f"-{share(suspect.allowance)}, the most it may lose, but its interval leaves that open"
    )


def _sentence(verdict: Verdict, throughput: Throughput, margin: float) -> str:
    overall = throughput.overall
    is_open = verdict is Verdict.INCONCLUSIVE and statistics.is_wide(overall, margin)
    told = _ends(overall) if is_open else with_interval(overall)
    found = f"{told} over {_pairs(throughput)}"
    if verdict is Verdict.INCONCLUSIVE and compare(overall, margin) is not verdict:
        return f"{found} as a whole, but not for each workload"
    match verdict:
        case Verdict.GO:
            return f"{found}, all of it above +{share(margin)}"
        case Verdict.NO_GO:
            return f"{found}, all of it below -{share(margin)}"
        case Verdict.NEUTRAL:
            return f"{found}, all of it within ±{share(margin)}"
        case Verdict.INCONCLUSIVE:
            return f"{found}, {throughput.stopped or 'not decided'}{_why_open(overall, margin)}"


def _pairs(throughput: Throughput) -> str:
    """Return how many pairs there are, and of several workloads how many each has."""
    counts = sorted(len(one.samples) for one in throughput.workloads)
    if throughput.alone:
        return f"{throughput.pairs} pairs"
    least, most = counts[0], counts[-1]
    each = f"{least}" if least == most else f"{least} to {most}"
    return f"{throughput.pairs} pairs, {each} of each workload"


def _ends(overall: Interval) -> str:
    """Return a wide interval by its ends: its middle would look like a result."""
    return f"anywhere between {percent(overall.low)} and {percent(overall.high)}"


def _why_open(overall: Interval, margin: float) -> str:
    """Say whether the change or the noise leaves it open; the advice alone says how long it takes.

    Of a wide interval the middle says little, so nobody knows that the change lies on the border.
    """
    if statistics.is_wide(overall, margin):
        return f": the interval is wide, more than {share(margin)} to each side"
    times = statistics.times_as_much(overall, margin)
    if times is None:
        return "; the change lies on the border, more pairs would not help"
    return "; the change is close to the margin" if times > CLOSE else ""
