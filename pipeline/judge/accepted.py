"""A loss that is not excluded, and that the user accepts: the judgement without that doubt.

What is *shown* to be lost beyond its allowance is NO-GO, and only the profile's allowance lifts it.
"""

from __future__ import annotations

from collections.abc import Collection

from pipeline.judge.keys import (
    in_brief,
    share,
    suspects_of,
    throughput_key,
    with_interval,
    worse_clock,
)
from pipeline.judge.model import VerifyResult
from pipeline.judge.regressions import OVERALL, PROGRAMS, regressions
from pipeline.judge.samples import WorkloadThroughput
from pipeline.judge.statistics import Interval
from pipeline.judge.verdict import Verdict

WHOLE = 1.0
"""The allowance of a workload of which any loss is accepted."""


def accepting(result: VerifyResult, names: Collection[str]) -> VerifyResult:
    """Return the judgement in which these workloads may have lost more than their allowance.

    It changes where one of them seems to have, and none is shown to: the key is judged again by the
    others.
    """
    doubts = _doubts(result, names)
    if not doubts:
        return result
    workloads = tuple(
        one.model_copy(update={"allowance": WHOLE}) if one in doubts else one
        for one in result.throughput.workloads
    )
    timed = result.throughput.model_copy(update={"workloads": workloads})
    keys = result.keys.model_copy(
        update={"throughput": throughput_key(timed, result.margins)},
    )
    return result.model_copy(update={"throughput": timed, "keys": keys})


def accepted_doubts(result: VerifyResult, names: Collection[str]) -> list[str]:
    """Say which losses that are only possible ``accepting`` leaves out, a sentence each."""
    return [
        f"--allow-regression {one.name} accepts its {with_interval(one.ratio)}, "
        f"perhaps more than it may lose (-{share(one.allowance)})"
        for one in _doubts(result, names)
    ]


def _doubts(result: VerifyResult, names: Collection[str]) -> list[WorkloadThroughput]:
    """Return the named workloads that may have lost too much; none where a loss is shown."""
    if result.keys.throughput.verdict is Verdict.NO_GO:
        return []
    return [one for one in suspects_of(result.throughput) if one.name in names]


def accepted(result: VerifyResult, names: Collection[str]) -> list[str]:
    """Return the losses that these names accept, in brief: "larson, perhaps -7.7 %".

    ``result`` is what ``accepting`` returned.
    """
    if Verdict.NO_GO in (result.keys.throughput.verdict, result.keys.icache.verdict):
        return []
    sure = [name for name in regressions(result) if name in names]
    workloads = {one.name: one for one in result.throughput.workloads}
    perhaps = [
        f"{name}, perhaps {in_brief(one.ratio.value)}"
        for name, one in workloads.items()
        if one.allowance >= WHOLE and name in names and name not in sure and one.ratio.value < 1
    ]
    return [*(f"{name} {in_brief(_lost(result, name).value)}" for name in sure), *perhaps]


def _lost(result: VerifyResult, name: str) -> Interval:
    """Return the interval of a regression by its name."""
    timed = result.throughput
    if name in (OVERALL, PROGRAMS):
        return (timed.overall if name == OVERALL else timed.programs) or timed.overall
    return worse_clock(next(one for one in timed.workloads if one.name == name))[1]
