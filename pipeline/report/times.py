"""Each timed figure with its spread: median, mean, standard deviation and count."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Literal

from pipeline.judge.known import SelfJudgement
from pipeline.judge.model import VerifyResult
from pipeline.judge.request import Side
from pipeline.judge.samples import Record, RunSample, Throughput, WorkloadThroughput

Judgement = Literal["verdict", "same build", "known slowdown"]


class Times(Record):
    """Seconds per operation over all runs of one side; sigma is None for a single run."""

    median: float
    mean: float
    sigma: float | None
    least: float
    most: float
    count: int


class WorkloadTimes(Record):
    """The times of both sides in one workload, by the clock that judges it.

    ``judgement`` is which one they are from: the verdict, or the judge's check of itself.
    """

    judgement: Judgement = "verdict"
    workload: str
    clock: str
    baseline: Times
    tuned: Times


def times_of(workload: WorkloadThroughput, side: Side) -> Times:
    """Return what the runs of one side took, by the clock that judges them."""
    runs: list[RunSample] = [getattr(pair, side) for pair in workload.samples]
    seconds = [1 / run.ops_per_sec for run in runs]
    return Times(
        median=statistics.median(seconds),
        mean=statistics.fmean(seconds),
        sigma=statistics.stdev(seconds) if len(seconds) > 1 else None,
        least=min(seconds),
        most=max(seconds),
        count=len(seconds),
    )


def all_times(result: VerifyResult) -> tuple[WorkloadTimes, ...]:
    """Return the times of all workloads: those of the verdict, then of the judge's check."""
    timed = [one for one in result.self_judgements if isinstance(one, SelfJudgement)]
    return (
        *_times("verdict", result.throughput),
        *(row for one in timed for row in _times(one.name, one.throughput)),
    )


def _times(judgement: Judgement, throughput: Throughput) -> Iterator[WorkloadTimes]:
    for one in throughput.workloads:
        yield WorkloadTimes(
            judgement=judgement,
            workload=one.name,
            clock=one.clock,
            baseline=times_of(one, "baseline"),
            tuned=times_of(one, "tuned"),
        )
