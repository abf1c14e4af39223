"""A library in pairs with another one in the place of the baseline: the request, and its key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.receipt import Parts
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workloads import command_keys, machine_key, workload_keys
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.proof.request import judge_request

if TYPE_CHECKING:
    from pipeline.judge.request import JudgeRequest


def pair_request(
    shop: Workshop, setup: Setup, plain: Baseline, tuned: Library, other: Path, stage: str
) -> JudgeRequest:
    """Return what is asked of the judge where ``other`` is what ``tuned`` is held against."""
    request = judge_request(shop, setup, plain, tuned)
    return replace(request, baseline=other, logs=shop.log(stage, "").parent)


def pair_parts(shop: Workshop, setup: Setup, tuned: Library) -> Parts:
    """Return what decides the result, but for the other library and the time."""
    return {
        "tuned": tuned.digest,
        "programs": setup.programs,
        "workloads": workload_keys(shop, setup.verifying),
        "gate": shop.profile.gate.model_dump(),
        "machine": machine_key(),
        "commands": command_keys(shop, setup.verifying),
    }
