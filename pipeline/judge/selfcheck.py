"""The judge judged, on this machine and these workloads: it must neither cry wolf nor sleep.

By time here, by misses in bloat.py. Two comparisons whose answer is known. The tuned build against
itself: GO and NO-GO would be false alarms. A build against itself with a slowdown of 2 % injected:
it must be NO-GO. Both sides of the second one are the same file too, and the loss is dosed by a
variable, so that nothing else differs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from pipeline.core.errors import ArtifactError
from pipeline.judge.bloat import known_bloat, same_counts
from pipeline.judge.campaign import Runner
from pipeline.judge.counts import RealProgram
from pipeline.judge.keys import throughput_key
from pipeline.judge.known import Dose, SelfCheck, SelfJudgement
from pipeline.judge.pairing import PairedRunner, stage
from pipeline.judge.request import BenchCommand, JudgeRequest, Kind, Side
from pipeline.judge.schedule import BLOCK, plan
from pipeline.judge.throughput import measure
from pipeline.judge.verdict import Verdict

Progress = Callable[[str], None]
Clock = Callable[[], float]
Known = Literal["same build", "known slowdown"]

LOSS = 0.02
"""The injected slowdown: each workload takes this much more time."""

VARIABLE = "HAKMEM_SLOWDOWN"
DIGITS = 12
"""Every dose is written with as many digits: the size of the environment is part of a run."""

FIRST_ROUNDS: Mapping[Kind, int] = {"loop": 5_000, "program": 200_000}
"""Near where the time doubles, which it did between 4,500 and 21,000 rounds for most loops of ours,
and between 150,000 and 20 million for real programs (docs/results/judge.md)."""
MOST_ROUNDS = 10**DIGITS - 1
PROBED_LOSS = 1.0
"""A probe at least doubles the time: noise of a few per cent then moves the dose by as little."""
PROBE_PAIRS = BLOCK
STEP = 50


def check(
    request: JudgeRequest, programs: Sequence[RealProgram], progress: Progress
) -> SelfCheck | None:
    """Return what the judge says where the answer is known; None without a library to slow down.

    ``programs`` are what was counted of both libraries of ``request``.
    """
    if request.slowed is None:
        return None
    return SelfCheck(
        same_build=same_build(request, progress),
        slowdown=known_slowdown(request, request.slowed, progress),
        same_counts=same_counts(request, programs, progress),
        bloat=known_bloat(request, request.slowed, programs, progress),
    )


def same_build(request: JudgeRequest, progress: Progress) -> SelfJudgement:
    """Judge ``request.tuned`` against itself, on workloads and margins of ``request``."""
    say = _prefixed(progress, "self-check, same build")
    runner = _runner(request, request.tuned, "same-build")
    return judgement("same build", _asked(request), runner, say)


def known_slowdown(request: JudgeRequest, slowed: Path, progress: Progress) -> SelfJudgement:
    """Judge ``slowed`` against itself with each workload's time made longer by LOSS.

    Workloads that hardly call malloc cannot be slowed by it and are left out; ArtifactError when
    that leaves none.
    """
    say = _prefixed(progress, "self-check, known slowdown")
    runner = _runner(request, slowed, "slowdown")
    tried = [calibrate(bench, runner, say) for bench in request.benches]
    known = {dose.workload: dose for dose in tried if dose is not None}
    if not known:
        raise ArtifactError(
            f"no workload becomes slower by {VARIABLE}: the judge is not checked",
            hint="the same command with `--from slowdown` builds that library again",
        )
    slower = tuple(
        slowed_by(bench, known[bench.name].rounds)
        for bench in request.benches
        if bench.name in known
    )
    judged = judgement("known slowdown", replace(_asked(request), benches=slower), runner, say)
    return judged.model_copy(update={"doses": tuple(known.values())})


def calibrate(bench: BenchCommand, runner: Runner, progress: Progress) -> Dose | None:
    """Return the dose that makes ``bench`` slower by LOSS; None when no number of rounds does.

    The loss is in proportion to the rounds, so it is measured where it is large against the noise.
    """
    rounds = FIRST_ROUNDS[bench.kind]
    while True:
        progress(f"calibrating {bench.name}: {rounds} rounds")
        loss = _loss(slowed_by(bench, rounds), runner)
        if loss >= PROBED_LOSS:
            return Dose(
                workload=bench.name,
                rounds=max(1, round(rounds * LOSS / loss)),
                loss=LOSS,
                probe_rounds=rounds,
                probe_loss=loss,
            )
        if rounds >= MOST_ROUNDS // STEP:
            return None
        rounds = _larger(rounds, loss)


def _larger(rounds: int, loss: float) -> int:
    """Return how many rounds may lose half as much again as is wanted; STEP times at most."""
    return min(STEP * rounds, round(rounds * 1.5 * PROBED_LOSS / max(loss, 0.02)))


def _loss(bench: BenchCommand, runner: Runner) -> float:
    blocks = plan({bench.name: range(PROBE_PAIRS)}, seed=0)
    samples = [sample for block in blocks for sample in runner(bench, block)]
    times = [one.baseline.ops_per_sec / one.tuned.ops_per_sec for one in samples]
    return float(np.median(times)) - 1


def slowed_by(bench: BenchCommand, rounds: int) -> BenchCommand:
    """Return ``bench`` with a dose for the tuned side alone, in environments of equal size."""
    doses: dict[Side, int] = {"baseline": 0, "tuned": rounds}
    env = {side: {VARIABLE: f"{dose:0{DIGITS}d}"} for side, dose in doses.items()}
    return replace(bench, side_env=env)


def _asked(request: JudgeRequest) -> JudgeRequest:
    return replace(request, time_budget_s=request.self_check_s)


def _runner(request: JudgeRequest, library: Path, name: str) -> Runner:
    folder = request.logs / name
    return PairedRunner(stage({"baseline": library, "tuned": library}, folder), folder).block


def judgement(
    name: Known,
    request: JudgeRequest,
    runner: Runner,
    progress: Progress,
    clock: Clock = time.monotonic,
) -> SelfJudgement:
    """Judge what ``runner`` measures by the rules of a build."""
    throughput = measure(request, runner, progress, clock)
    key = throughput_key(throughput, request.margins)
    same = name == "same build"
    return SelfJudgement(
        name=name,
        verdict=key.verdict,
        expected=(Verdict.NEUTRAL, Verdict.INCONCLUSIVE) if same else (Verdict.NO_GO,),
        alarming=(Verdict.GO, Verdict.NO_GO) if same else (Verdict.GO, Verdict.NEUTRAL),
        reason=key.reason,
        throughput=throughput,
    )


def _prefixed(progress: Progress, prefix: str) -> Progress:
    return lambda line: progress(f"{prefix}: {line}")
