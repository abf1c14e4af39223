"""ablation: judge each step of the build, and choose the simplest that is not worse than the best.

The choice goes by the training alone; what is chosen is then judged by other workloads.

Two steps are built for this alone: the order without a profile, and the profile without LTO.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.console import StageLine
from pipeline.core.receipt import Notes
from pipeline.core.store import Artifact
from pipeline.profile.workload import Command, Program
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.finish import finish
from pipeline.stages.build.programs import command_path, find_program, require_program
from pipeline.stages.build.workloads import command_keys, machine_key, task_keys, workload_keys
from pipeline.stages.build.workshop import Library, Workshop
from pipeline.stages.pgo.merge import ProfileData
from pipeline.stages.pgo.optimize import ONE_BY_ONE, SECTIONS, pgo
from pipeline.stages.proof.candidate import ADDS, Candidate
from pipeline.stages.proof.request import judge_request

if TYPE_CHECKING:
    from pipeline.evidence.model import Ablation
    from pipeline.judge.request import JudgeRequest
    from pipeline.judge.tasks import Task

STAGE = "ablation"
RESULT = "ablation.json"
# Seconds of timed runs for each build that may be chosen.
BUDGET_S, THOROUGH_BUDGET_S = 20.0, 240.0


@dataclass(frozen=True)
class Chosen:
    """The candidate to be judged, finished for publication, and why it is this one.

    ``artifact`` is None where there was no choice: the chain was left out.
    """

    candidate: Candidate
    artifact: Artifact | None

    def result(self) -> Ablation | None:
        """Return the chain as it was judged."""
        from pipeline.evidence.model import Ablation

        if self.artifact is None:
            return None
        return Ablation.model_validate_json(self.artifact.path(RESULT).read_text(encoding="utf-8"))


def simple_steps(
    shop: Workshop, setup: Setup, plain: Baseline, tuned: Baseline, profile: ProfileData
) -> tuple[Candidate, ...]:
    """Build the steps before LTO: nothing else needs them.

    ``tuned`` is the baseline cut by the profile's geometry; ``plain`` again where it has none.
    """
    ordered = pgo(shop, setup, tuned, None, SECTIONS)
    one_by_one = pgo(shop, setup, tuned, profile, ONE_BY_ONE)
    return (
        Candidate("baseline", plain.library),
        *((Candidate("tune", tuned.library),) if setup.geometry else ()),
        Candidate("sections", ordered),
        Candidate("pgo", one_by_one, profile),
    )


def ablation(shop: Workshop, setup: Setup, plain: Baseline, chain: Sequence[Candidate]) -> Chosen:
    """Judge the ``chain``, from the baseline to the full build, and choose."""
    parts = {
        "builds": {one.name: one.library.digest for one in chain},
        "programs": setup.programs,
        "workloads": workload_keys(shop, timed(setup)),
        "commands": command_keys(shop, timed(setup)),
        "gate": shop.profile.gate.model_dump(),
        "tools": shop.tool_keys,
        "tasks": task_keys(shop, trained_tasks()),
        "mode": shop.options.mode,
        "machine": machine_key(),
    }

    def work(room: Path, line: StageLine) -> Notes:
        line.step("loading the judge")
        from pipeline.evidence.chain import Build, judge_chain

        request = choosing_request(shop, setup, plain, chain[-1].library)
        builds = [Build(one.name, ADDS[one.name], one.library.path) for one in chain]
        budget = THOROUGH_BUDGET_S if shop.options.thorough else BUDGET_S
        result = judge_chain(builds, request, budget, line.step)
        (room / RESULT).write_text(result.model_dump_json(indent=1), encoding="utf-8")
        return {"chosen": result.chosen, "reason": result.reason}

    made = shop.do(STAGE, parts, work, summary=lambda n: str(n["reason"]))
    name = made.receipt.notes["chosen"]
    candidate = next(one for one in chain if one.name == name)
    if candidate is chain[-1]:
        return Chosen(candidate, made)
    return Chosen(replace(candidate, library=finish(shop, candidate.library)), made)


def choosing_request(shop: Workshop, setup: Setup, plain: Baseline, full: Library) -> JudgeRequest:
    """Return the request that chooses: training workloads in their short runs, and short tasks.

    No workload or task of it judges what is chosen.
    """
    from pipeline.tune.ground import Places, commands

    threads = {one.name: threads_of(one) for one in setup.training if isinstance(one, Program)}
    places = Places(plain.program, require_program, shop.tree.root, command_path(), plain.elsewhere)
    return replace(
        judge_request(shop, setup, plain, full, brief=True),
        benches=commands(timed(setup), places, threads),
        tasks=trained_tasks(),
        health=(),
        logs=shop.log(STAGE, "").parent,
    )


def timed(setup: Setup) -> tuple[Program | Command, ...]:
    """Return the training workloads by which a build is chosen.

    Commands are left out where there are programs: ten pairs of each, for each step of the chain,
    would take minutes.
    """
    programs = tuple(one for one in setup.training if isinstance(one, Program))
    return programs or setup.training


def trained_tasks() -> tuple[Task, ...]:
    """Return the tasks of real programs by which a build is chosen."""
    from pipeline.judge.tasks import TRAINED, found

    return found(TRAINED, find_program)


def threads_of(workload: Program) -> int:
    """Return how many threads one of our programs has: as its arguments say, else one."""
    words = dict(zip(workload.args, workload.args[1:], strict=False))
    return int(words.get("--threads", "1"))
