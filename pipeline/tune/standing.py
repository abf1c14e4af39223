"""Where a candidate stands against the default: two keys, speed and memory, never merged.

Words follow the intervals: better or worse is only what excludes equality, all else is not shown.
The statistics are the judge's: pairs on the log scale, medians within workloads, a weighted
geometric mean over them, bootstrap intervals. A candidate wins when one key is better and the other
one not worse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from pipeline.judge import statistics
from pipeline.judge.keys import share, throughput_key
from pipeline.judge.memory_key import rss_guard
from pipeline.judge.request import BenchCommand, JudgeRequest
from pipeline.judge.samples import PairSample
from pipeline.judge.statistics import Interval
from pipeline.judge.summarise import summarise
from pipeline.judge.verdict import Verdict

LEAST_WORTH = 0.005
"""A gain below half a per cent is not worth a line in a file, however sure it is."""

Samples = Mapping[str, Sequence[PairSample]]


@dataclass(frozen=True)
class Standing:
    """Ratios above 1 are better: operations per second, and peak memory of the default by own.

    ``harm`` says what a single workload is shown to lose beyond its allowance, ``doubt`` what one
    seems to lose; empty: nothing.
    """

    speed: Interval
    memory: Interval
    pairs: int
    harm: str
    margin: float
    doubt: str = ""

    @property
    def keys(self) -> dict[str, Interval]:
        """Return both keys by name."""
        return {"speed": self.speed, "memory": self.memory}

    @property
    def better(self) -> bool:
        """Return whether one key is shown to be better, and by LEAST_WORTH at least."""
        return bool(self.gains)

    @property
    def gains(self) -> tuple[str, ...]:
        """Return the names of the keys that are shown to be better, and by LEAST_WORTH at least."""
        return tuple(
            name for name, key in self.keys.items() if key.low > 1 and key.value >= 1 + LEAST_WORTH
        )

    @property
    def not_worse(self) -> bool:
        """Return whether a loss beyond the margin is excluded, in both keys and each workload."""
        lowest = min(self.speed.low, self.memory.low)
        return lowest > 1 - self.margin and not self.harm and not self.doubt

    @property
    def risk(self) -> str:
        """Return what a loss beyond the margin is not excluded in; empty where it is excluded."""
        open_ends = [name for name, key in self.keys.items() if key.low <= 1 - self.margin]
        said = f", but a loss of {' and '.join(open_ends)} beyond {share(self.margin)} is possible"
        doubts = f", but {self.harm or self.doubt}" if self.harm or self.doubt else ""
        return (said if open_ends else "") + doubts

    @property
    def wins(self) -> bool:
        """Return whether this candidate is better in one key and not worse in the other."""
        return self.better and self.not_worse

    @property
    def out(self) -> bool:
        """Return whether more runs are of no use: it is shown to be worse."""
        return bool(self.harm) or min(self.speed.high, self.memory.high) < 1 - self.margin

    @property
    def words(self) -> str:
        """Return what is shown, key by key, and "not shown" where the intervals have no change."""
        shown = [
            f"{'better' if key.low > 1 else 'worse'} in {name}"
            for name, key in self.keys.items()
            if key.low > 1 or key.high < 1
        ]
        shown += [f"worse in a workload: {self.harm}"] if self.harm else []
        return ", ".join(shown) or "not shown"

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
    fat = "" if guard.holds else guard.reason
    shown = bool(fat) and _is_shown_fat(request, samples)
    return Standing(
        speed=result.overall,
        memory=_memory(request, samples, request.benches),
        pairs=result.pairs,
        harm=slow or (fat if shown else ""),
        margin=request.margins.throughput,
        doubt=fat,
    )


def _is_shown_fat(request: JudgeRequest, samples: Samples) -> bool:
    """Return whether a workload takes more than its margin of memory by the whole interval."""
    most = 1 / (1 + request.margins.rss)
    grown = [one for one in request.benches if _growth(samples[one.name]) > _slack(request)]
    return any(_memory(request, samples, (one,)).high < most for one in grown)


def _slack(request: JudgeRequest) -> float:
    return request.margins.rss_slack_kib


def _growth(pairs: Sequence[PairSample]) -> float:
    """Return by how many KiB a workload's peak memory has grown, in the middle."""
    return median(pair.tuned.peak_rss_kib - pair.baseline.peak_rss_kib for pair in pairs)


def _memory(request: JudgeRequest, samples: Samples, benches: Sequence[BenchCommand]) -> Interval:
    """Return peak memory of the default by that of the candidate, as the judge treats speed."""
    logs = [
        statistics.log_ratios(
            [pair.tuned.peak_rss_kib for pair in samples[bench.name]],
            [pair.baseline.peak_rss_kib for pair in samples[bench.name]],
        )
        for bench in benches
    ]
    weights = [bench.weight for bench in benches]
    return statistics.overall_ratio(logs, weights, statistics.confidence(1.0), request.seed)
