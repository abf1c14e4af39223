"""The memory key and the memory limit: from the peaks of pairs to a verdict with a reason."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pipeline.judge import statistics
from pipeline.judge.keys import percent, share, with_interval
from pipeline.judge.means import geometric_mean
from pipeline.judge.model import Guard, Key
from pipeline.judge.request import Margins
from pipeline.judge.samples import PairSample, Throughput, WorkloadThroughput
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict

LEANER = 0.03
"""By how much peak memory must fall to be a gain by itself."""


def judge_memory(ratio: Interval) -> Verdict:
    """Return where a change of peak memory lies; fewer is better, as memory_key says."""
    if ratio.high <= 1 - LEANER:
        return Verdict.GO
    if ratio.low > 1 + LEANER:
        return Verdict.NO_GO
    return Verdict.NEUTRAL if ratio.high <= 1 + LEANER else Verdict.INCONCLUSIVE


_MEMORY = {
    Verdict.GO: f"all of it below -{share(LEANER)}",
    Verdict.NO_GO: f"all of it above +{share(LEANER)}",
    Verdict.NEUTRAL: f"shown not to rise by more than {share(LEANER)}",
    Verdict.INCONCLUSIVE: "not decided",
}


def memory_key(throughput: Throughput, seed: int) -> Key:
    """Return the verdict on peak memory: the same pairs and looks as throughput, fewer is better.

    GO: the whole interval lies below -LEANER. NEUTRAL: it is shown to rise by no more than that.
    NO-GO: the whole interval lies above +LEANER. Else INCONCLUSIVE. Single workloads are
    the memory limit's.
    """
    ratio = statistics.overall_ratio(
        [memory_logs(one.samples) for one in throughput.workloads],
        [one.weight for one in throughput.workloads],
        throughput.overall.confidence,
        seed,
    )
    verdict = judge_memory(ratio)
    return Key(
        verdict=verdict,
        margin=LEANER,
        measure="peak resident memory, tuned / baseline",
        reason=f"peak memory {with_interval(ratio)}, {_MEMORY[verdict]}",
        ratio=ratio,
        not_worse=ratio.high < 1 + LEANER,
    )


def memory_logs(samples: Sequence[PairSample]) -> statistics.Array:
    """Return the log ratios of peak memory, pair by pair."""
    return statistics.log_ratios(
        [pair.baseline.peak_rss_kib for pair in samples],
        [pair.tuned.peak_rss_kib for pair in samples],
    )


def rss_guard(throughput: Throughput, margins: Margins) -> Guard:
    """Return whether no workload breaks the memory limit, and the change over all of them.

    A rise of less than ``margins.rss_slack_kib`` in a workload is not counted.
    """
    ratio = _overall_rss(throughput)
    fat = [one for one in throughput.workloads if too_fat(one, margins)]
    worst = max(fat, key=lambda one: one.tuned_rss_kib / one.baseline_rss_kib, default=None)
    if worst is not None:
        reason = (
            f"{worst.name} peaks at {worst.tuned_rss_kib:.0f} KiB instead of "
            f"{worst.baseline_rss_kib:.0f} KiB, beyond +{share(margins.rss)}"
        )
    else:
        reason = f"peak memory {percent(ratio)}, no workload beyond +{share(margins.rss)}"
    return Guard(holds=worst is None, margin=margins.rss, ratio=ratio, reason=reason)


def _overall_rss(throughput: Throughput) -> float:
    """Return the change over all workloads, by pairs as the memory key tells it."""
    return geometric_mean(
        (one.weight, math.exp(float(np.median(memory_logs(one.samples)))))
        for one in throughput.workloads
    )


def too_fat(workload: WorkloadThroughput, margins: Margins) -> bool:
    """Return whether a workload breaks the memory limit."""
    grown = workload.tuned_rss_kib - workload.baseline_rss_kib
    return grown > margins.rss_slack_kib and grown / workload.baseline_rss_kib > margins.rss
