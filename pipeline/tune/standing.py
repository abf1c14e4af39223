"""Where a candidate stands against the default: two keys, speed and memory, never merged.

The statistics are the judge's: pairs on the log scale, medians within workloads, a weighted
geometric mean over them, bootstrap intervals. A candidate wins when one key is better and the other
one not worse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.judge import statistics
from pipeline.judge.keys import rss_guard, throughput_key
from pipeline.judge.model import PairSample
from pipeline.judge.request import JudgeRequest
from pipeline.judge.statistics import Interval
from pipeline.judge.throughput import summarise
from pipeline.judge.verdict import Verdict

LEAST_WORTH = 0.005
"""A gain below half a per cent is not worth a line in a file, however sure it is."""

Samples = Mapping[str, Sequence[PairSample]]


@dataclass(frozen=True)
class Standing:
    """Ratios above 1 are better: operations per second, and peak memory of the default by own.

    ``harm`` says what a single workload loses beyond its allowance; empty: nothing.
    """

    speed: Interval
    memory: Interval
    pairs: int
    harm: str
    margin: float

    @property
    def better(self) -> bool:
        """Return whether one key is shown to be better by more than nothing."""
        return any(
            key.low > 1 and key.value >= 1 + LEAST_WORTH for key in (self.speed, self.memory)
        )

    @property
    def not_worse(self) -> bool:
        """Return whether a loss beyond the margin is excluded, in both keys and each workload."""
        lowest = min(self.speed.low, self.memory.low)
        return lowest > 1 - self.margin and not self.harm

    @property
    def wins(self) -> bool:
        """Return whether this candidate is better in one key and not worse in the other."""
        return self.better and self.not_worse

    @property
    def out(self) -> bool:
        """Return whether more runs are of no use: it is shown to be worse."""
        return bool(self.harm) or min(self.speed.high, self.memory.high) < 1 - self.margin

    @property
    def score(self) -> float:
        """Return by what candidates are put in order: both gains on the log scale."""
        return math.log(self.speed.value) + math.log(self.memory.value)


def standing(request: JudgeRequest, samples: Samples) -> Standing:
    """Return where a candidate stands by all its pairs; a single look, at 95 %."""
    found = {name: list(pairs) for name, pairs in samples.items()}
    result = summarise(request, found, share=1.0, looks=1, seconds=0.0)
    key, guard = throughput_key(result, request.margins), rss_guard(result, request.margins)
    overall = result.overall.high < 1 - request.margins.throughput
    slow = key.reason if key.verdict is Verdict.NO_GO and not overall else ""
    return Standing(
        speed=result.overall,
        memory=_memory(request, samples),
        pairs=result.pairs,
        harm=slow or ("" if guard.holds else guard.reason),
        margin=request.margins.throughput,
    )


def _memory(request: JudgeRequest, samples: Samples) -> Interval:
    """Return peak memory of the default by that of the candidate, as the judge treats speed."""
    logs = [
        statistics.log_ratios(
            [pair.tuned.peak_rss_kib for pair in samples[bench.name]],
            [pair.baseline.peak_rss_kib for pair in samples[bench.name]],
        )
        for bench in request.benches
    ]
    weights = [bench.weight for bench in request.benches]
    return statistics.overall_ratio(logs, weights, statistics.confidence(1.0), request.seed)
