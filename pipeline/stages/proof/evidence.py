"""Gathering the evidence of a build from the stages that measured it. Not a stage: it is quick."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.finish import UNSTRIPPED
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.ablation import Chosen
from pipeline.stages.proof.verify import Verdict

if TYPE_CHECKING:
    from pipeline.evidence.model import Evidence

NO_CHAIN = "the chain of builds: not with --quick, nor with gate.chain = false in the profile"


def gather(
    shop: Workshop, setup: Setup, plain: Baseline, chosen: Chosen, verdict: Verdict
) -> Callable[[], Evidence]:
    """Return what puts all evidence together: a build that has nothing to do asks for nothing."""

    def put_together() -> Evidence:
        from pipeline.evidence.curve import curve_points, swept_workloads
        from pipeline.evidence.model import Evidence
        from pipeline.evidence.summary import per_operation, program_shares, static_text

        tuned, judged = chosen.candidate.library, verdict.result()
        counting = judged.counting
        return Evidence(
            mode=shop.options.mode,
            left_out=() if shop.chain else (NO_CHAIN,),
            per_operation=per_operation(counting),
            curve=curve_points(counting),
            programs=program_shares(judged.programs),
            curve_workloads=swept_workloads(counting),
            static=(
                static_text("baseline", plain.library.path, setup.lists),
                static_text("tuned", tuned.artifact.path(UNSTRIPPED), setup.lists),
            ),
            ablation=chosen.result() if shop.chain else None,
        )

    return put_together
