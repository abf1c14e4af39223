"""One dose for all workloads: a loss that is real, and falls on each as often as it calls malloc.

The judge's check of itself doses each workload alone, so that all lose 2 %. No change of code does
that: what makes malloc slower costs a loop more than a compiler. Here each malloc of one side costs
the same rounds more, in every workload, and so many that all together lose 2 %.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pipeline.judge.campaign import Campaign, Runner
from pipeline.judge.known import Dose
from pipeline.judge.pairing import PairedRunner, stage
from pipeline.judge.request import BenchCommand, JudgeRequest
from pipeline.judge.samples import Throughput
from pipeline.judge.selfcheck import LOSS, calibrate, slowed_by
from pipeline.judge.summarise import summarise
from pipeline.judge.throughput import ended, least_pairs

STEPS = 60


def runner_of(library: Path, logs: Path) -> Runner:
    """Return what runs pairs with one library on both sides."""
    return PairedRunner(stage({"baseline": library, "tuned": library}, logs), logs).block


def dose_of(benches: Sequence[BenchCommand], runner: Runner) -> int:
    """Return how many rounds for each workload make all together lose LOSS, as it is weighted."""
    tried = [calibrate(bench, runner, quiet) for bench in benches]
    doses = {dose.workload: dose for dose in tried if dose is not None}
    weights = {bench.name: bench.weight for bench in benches}
    return rounds_for(weights, doses, LOSS)


def rounds_for(weights: Mapping[str, float], doses: Mapping[str, Dose], loss: float) -> int:
    """Return how many rounds lengthen the weighted geometric mean of all times by ``loss``.

    A workload without a dose does not become slower. ValueError where none does.
    """
    if not doses:
        raise ValueError("no workload becomes slower by any number of rounds")
    wanted = math.log1p(loss) * sum(weights.values())
    each = [(weights[name], one.probe_loss / one.probe_rounds) for name, one in doses.items()]
    low, high = 0.0, max(one.probe_rounds for one in doses.values()) * 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        lost = sum(weight * math.log1p(slope * middle) for weight, slope in each)
        low, high = (middle, high) if lost < wanted else (low, middle)
    return max(1, round(high))


def dosed(request: JudgeRequest, rounds: int) -> JudgeRequest:
    """Return the request with the same rounds in every workload of the tuned side."""
    benches = tuple(slowed_by(bench, rounds) for bench in request.benches)
    return replace(request, benches=benches)


def at_length(request: JudgeRequest, runner: Runner, times: int) -> Throughput:
    """Measure for the whole budget, and look once: what a judgement that ends early is held to.

    On a busy machine the fewest pairs take all of a budget. So there are ``times`` as many.
    """
    campaign = Campaign(request, runner, quiet, time.monotonic)
    campaign.add(times * max(request.pairs, least_pairs(request, 1.0)))
    campaign.fill(1.0)
    found = summarise(request, campaign.samples, 1.0, 1, campaign.seconds)
    return ended(request, found, f"measured for {campaign.seconds:.0f} s")


def quiet(_: str) -> None:
    """Take a line of progress and drop it."""
