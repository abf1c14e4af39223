"""Measuring throughput: pairs of fresh processes, added until the verdict is clear."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from pipeline.judge import statistics
from pipeline.judge.campaign import Campaign, Runner
from pipeline.judge.keys import single_confidence, throughput_key
from pipeline.judge.request import JudgeRequest
from pipeline.judge.samples import Throughput
from pipeline.judge.schedule import BLOCK
from pipeline.judge.statistics import Interval
from pipeline.judge.summarise import mean_ratio, summarise
from pipeline.judge.verdict import Verdict


def measure(
    request: JudgeRequest,
    runner: Runner,
    progress: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
) -> Throughput:
    """Run pairs up to each look; stop at the first clear verdict or at the end of the budget.

    Looks come when LOOKS of the time budget are used up, and nowhere else, however much or little
    the pairs cost: the time up to a look is filled before it. Looks that the first pairs have
    passed are left out. Each look may err by the share that it adds to those before, and the last
    one, after which no pair fits any more, by all that is left: so looking again does not make a
    false verdict more likely, and the last look is the sharpest.
    """
    campaign = Campaign(request, runner, progress, clock)
    campaign.add(request.pairs)
    looks, used = 0, 0.0
    while True:
        planned = campaign.next_look()
        campaign.fill(planned)
        share = (1.0 if campaign.is_full() else planned) - used
        campaign.add(least_pairs(request, share))
        looks, used = looks + 1, used + share
        result = summarise(request, campaign.samples, share, looks, campaign.seconds)
        progress(f"{result.pairs} pairs in {campaign.seconds:.0f} s: {describe(result)}")
        if throughput_key(result, request.margins).verdict is not Verdict.INCONCLUSIVE:
            return ended(request, result, f"decided after {result.pairs} pairs")
        if used == 1:
            return ended(request, result, f"not decided within {campaign.seconds:.0f} s")


def least_pairs(request: JudgeRequest, share: float) -> int:
    """Return how many pairs each workload needs at a look, for its interval to hold (even)."""
    least = statistics.least_pairs(single_confidence(share, len(request.benches)))
    return BLOCK * math.ceil(least / BLOCK)


def ended(request: JudgeRequest, result: Throughput, why: str) -> Throughput:
    """Return the result of the last look: ``why`` it was the last, and what only it needs."""
    return result.model_copy(update={"stopped": why, "programs_wall": _by_wall(request, result)})


def _by_wall(request: JudgeRequest, result: Throughput) -> Interval | None:
    """Return the speed of real programs together by wall time, if CPU time judges them."""
    programs = [one for one in result.workloads if one.kind == "program"]
    if not programs or any(one.wall is None or one.clock == "wall" for one in programs):
        return None
    if len(programs) == 1:
        return programs[0].wall
    return mean_ratio(programs, "wall_ops_per_sec", result.overall.confidence, request.seed)


def describe(result: Throughput) -> str:
    """Return the overall ratio and its interval in a few words."""
    overall = result.overall
    change, low, high = ((x - 1) * 100 for x in (overall.value, overall.low, overall.high))
    return f"throughput {change:+.2f} % [{low:+.2f}, {high:+.2f}]"
