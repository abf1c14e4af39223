"""Whole judgements by pairs that were recorded: bench/verdict_rates --recorded FILE.

The pairs of one judgement are enough for the noise of its machine. They are moved so that each
workload's median is the truth exactly, and drawn again and again, at random. Budget and looks are a
real judgement's; its clock is what the pairs took.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.harness.judged import SAME, TRUTH, Judged, judged
from pipeline.judge.model import VerifyResult
from pipeline.judge.request import BenchCommand, JudgeRequest, Side
from pipeline.judge.samples import PairSample, RunSample, Throughput, WorkloadThroughput
from pipeline.judge.schedule import Block
from pipeline.judge.selfcheck import Known, judgement

Rate = str
RATES: tuple[Rate, Rate] = ("ops_per_sec", "wall_ops_per_sec")
SIDES: tuple[Side, Side] = ("baseline", "tuned")


@dataclass(frozen=True)
class Drawing:
    """Recorded pairs without any change, by workload, and what judged them.

    ``overhead`` is what a judgement took, in times of what its runs took.
    """

    benches: tuple[BenchCommand, ...]
    result: VerifyResult
    pairs: Mapping[str, Sequence[PairSample]]
    overhead: float
    seconds: float

    def judge(self, kind: str, seed: int, room: Path) -> Judged:
        """Make one judgement by pairs that are drawn with this seed."""
        request = JudgeRequest(
            baseline=Path(self.result.baseline.path),
            tuned=Path(self.result.tuned.path),
            benches=self.benches,
            margins=self.result.margins,
            time_budget_s=self.seconds,
            seed=seed,
            logs=room,
        )
        runs = Drawn(self, TRUTH[kind], seed)
        name: Known = "same build" if kind == SAME else "known slowdown"
        found = judgement(name, request, runs.block, lambda _: None, runs.clock)
        answer = found.verdict, found.throughput.overall, found.throughput.pairs
        load = self.result.environment.load_before
        return judged(kind, seed, answer, seconds=found.throughput.seconds, load=load)


class Drawn:
    """A runner without processes: each pair is drawn, and takes the time that it took."""

    def __init__(self, drawing: Drawing, factor: float, seed: int) -> None:
        """Make the tuned side of each pair ``factor`` times as fast as it was."""
        self._drawing, self._factor = drawing, factor
        self._random = random.Random(seed)
        self._seconds = 0.0

    def clock(self) -> float:
        """Return the seconds that all pairs so far took."""
        return self._seconds

    def block(self, bench: BenchCommand, block: Block) -> list[PairSample]:
        """Return a recorded pair for each planned one."""
        drawn = [self._random.choice(self._drawing.pairs[bench.name]) for _ in block]
        took = [seconds(bench, pair) for pair in drawn]
        at_once = all(pair.together for pair in drawn)
        self._seconds += (max(took) if at_once else sum(took)) * self._drawing.overhead
        return [moved(pair, dict.fromkeys(RATES, self._factor)) for pair in drawn]


def open_drawing(file: Path, budget_s: float) -> Drawing:
    """Return the pairs of the judgement in ``file``, and of its self-check where it has one.

    Raises OSError or ValueError where that is no verdict.
    """
    result = VerifyResult.model_validate_json(file.read_text("utf-8"))
    check = result.self_check
    campaigns = [result.throughput]
    if check is not None:
        campaigns += [check.same_build.throughput, check.slowdown.throughput]
    benches = tuple(_bench(one) for one in result.throughput.workloads)
    runs_s = sum(_runs_s(one) for one in campaigns)
    return Drawing(
        benches=benches,
        result=result,
        pairs={bench.name: _pool(bench.name, campaigns) for bench in benches},
        overhead=sum(one.seconds for one in campaigns) / runs_s,
        seconds=budget_s,
    )


def _bench(one: WorkloadThroughput) -> BenchCommand:
    return BenchCommand(
        name=one.name, argv=one.argv, weight=one.weight, allowance=one.allowance, kind=one.kind
    )


def _pool(name: str, campaigns: Sequence[Throughput]) -> list[PairSample]:
    known = [one for campaign in campaigns for one in campaign.workloads if one.name == name]
    return [pair for one in known for pair in without_change(one.samples)]


def without_change(pairs: Sequence[PairSample]) -> list[PairSample]:
    """Return pairs of one workload whose median says that both sides are equal."""
    found = {
        rate: math.exp(float(np.median([_log(pair, rate) for pair in pairs]))) for rate in RATES
    }
    return [moved(pair, {rate: 1 / ratio for rate, ratio in found.items()}) for pair in pairs]


def moved(pair: PairSample, factors: Mapping[Rate, float]) -> PairSample:
    """Return ``pair`` with the rates of its tuned side so many times as high."""
    rates = {rate: getattr(pair.tuned, rate) * factor for rate, factor in factors.items()}
    return pair.model_copy(update={"tuned": pair.tuned.model_copy(update=rates)})


def _log(pair: PairSample, rate: Rate) -> float:
    return math.log(getattr(pair.tuned, rate) / getattr(pair.baseline, rate))


def seconds(bench: BenchCommand, pair: PairSample) -> float:
    """Return how long the runs of a pair took: both at once, or one after the other."""
    walls = [_operations(bench.argv) / run.wall_ops_per_sec for run in _runs(pair)]
    return max(walls) if pair.together else sum(walls)


def _runs(pair: PairSample) -> list[RunSample]:
    return [pair.baseline, pair.tuned]


def _operations(argv: Sequence[str]) -> int:
    """Return how many operations a run is: a loop of ours is told, a real program is one."""
    return int(argv[argv.index("--ops") + 1]) if "--ops" in argv else 1


def _runs_s(campaign: Throughput) -> float:
    """Return what the runs of a judgement took, its blocks of pairs as they ran."""
    total = 0.0
    for one in campaign.workloads:
        bench, pairs = _bench(one), one.samples
        for block in zip(pairs[::2], pairs[1::2], strict=False):
            took = [seconds(bench, pair) for pair in block]
            total += max(took) if pairs[0].together else sum(took)
    return total
