"""A loss that is not excluded, and that the user accepts: the judgement without that doubt.

What is *shown* to be lost beyond its allowance is NO-GO, and only the profile's allowance lifts it.
"""

from __future__ import annotations

from collections.abc import Collection

from pipeline.judge.keys import share, suspects_of, throughput_key, with_interval
from pipeline.judge.model import VerifyResult
from pipeline.judge.samples import WorkloadThroughput
from pipeline.judge.verdict import Verdict

WHOLE = 1.0
"""The allowance of a workload of which any loss is accepted."""


def accepting(result: VerifyResult, names: Collection[str]) -> VerifyResult:
    """Return the judgement in which these workloads may have lost more than their allowance.

    It changes where one of them seems to have, and none is shown to: the key is judged again by the
    others, and its reason says what is accepted.
    """
    doubts = [one for one in suspects_of(result.throughput) if one.name in names]
    if result.keys.throughput.verdict is Verdict.NO_GO or not doubts:
        return result
    workloads = tuple(
        one.model_copy(update={"allowance": WHOLE}) if one in doubts else one
        for one in result.throughput.workloads
    )
    timed = result.throughput.model_copy(update={"workloads": workloads})
    key = throughput_key(timed, result.margins)
    reason = "; ".join([key.reason, *map(_said, doubts)])
    keys = result.keys.model_copy(update={"throughput": key.model_copy(update={"reason": reason})})
    return result.model_copy(update={"throughput": timed, "keys": keys})


def _said(workload: WorkloadThroughput) -> str:
    ratio = workload.ratio
    return (
        f"--allow-regression {workload.name} accepts its {with_interval(ratio)}, "
        f"perhaps more than it may lose (-{share(workload.allowance)})"
    )
