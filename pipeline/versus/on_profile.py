"""The verify workloads of a profile for `pipeline versus`, as a build is judged by them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pipeline.judge.request import JudgeRequest
from pipeline.stages.build.baseline import baseline
from pipeline.stages.build.configure import configure
from pipeline.stages.build.record import record
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.request import judge_request


def profile_request(shop: Workshop, budget_s: float, logs: Path) -> JudgeRequest:
    """Return what the judge is asked on the workloads of the profile, in their short runs.

    Programs that are not built yet are built first.
    """
    setup = configure(shop)
    plain = baseline(shop, setup)
    setup = record(shop, setup)
    request = judge_request(shop, setup, plain, plain.library, brief=True)
    return replace(request, time_budget_s=budget_s, logs=logs)
