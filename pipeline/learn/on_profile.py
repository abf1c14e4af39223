"""Judges what `learn` proposes on the workloads of a profile; the file that it would change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.core.paths import Tree
from pipeline.core.processor import ANY
from pipeline.geometry.load import common_geometry, load_geometry
from pipeline.geometry.model import Geometry
from pipeline.geometry.tables import default_geometry
from pipeline.learn.rules import Proposal
from pipeline.learn.trial import Outcome, Trial
from pipeline.stages.build.baseline import baseline
from pipeline.stages.build.configure import configure
from pipeline.stages.build.record import record
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.request import judge_request
from pipeline.stages.tuning.tune import CandidateBuilder


@dataclass(frozen=True)
class Target:
    """The file of a profile's geometry for a kind of processor.

    ``base`` is what is in force today, and ``common`` what the file says its differences from.
    """

    path: Path
    base: Geometry
    common: Geometry
    processor: str


def target(tree: Tree, profile: str, processor: str) -> Target:
    """Return what a change of this profile, on this kind of processor, would be written to."""
    everywhere, default = processor == ANY, default_geometry(tree)
    return Target(
        path=tree.geometry(profile, None if everywhere else processor),
        base=load_geometry(tree, profile, processor) or default,
        common=default if everywhere else common_geometry(tree, profile),
        processor=processor,
    )


def judge(shop: Workshop, base: Geometry, wanted: list[Proposal], budget_s: float) -> Outcome:
    """Judge what is ``wanted`` against ``base``, for about ``budget_s`` seconds of runs."""
    setup = configure(shop)
    plain = baseline(shop, setup)
    setup = record(shop, setup)
    request = judge_request(shop, setup, plain, plain.library, brief=True)
    with shop.console.stage("learn") as line:
        builder = CandidateBuilder(shop, setup, line.step)
        timed = replace(request, time_budget_s=budget_s)
        trial = Trial(base, lambda one: builder(one).path, timed, shop.profile.name, line.step)
        outcome = trial.run(wanted)
        paying = sum(one.pays for one in outcome.singles)
        line.done(f"{paying} of {len(outcome.singles)} changes pay alone")
    return outcome
