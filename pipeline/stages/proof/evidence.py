"""Gathering the evidence of a build from the stages that measured it. Not a stage: it is quick."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.core.errors import BuildError
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.finish import UNSTRIPPED
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.ablation import Chosen
from pipeline.stages.proof.candidate import Candidate
from pipeline.stages.proof.layout_null import layout_null
from pipeline.stages.proof.verify import Verdict

if TYPE_CHECKING:
    from pipeline.evidence.model import Evidence, LayoutNull

NO_CHAIN = (
    "the chain of builds and random layouts: not with --quick, nor with gate.chain = false in "
    "the profile",
)
NOT_COUNTED = "random layouts: none of the real programs by which they are ranked was counted"


def gather(
    shop: Workshop,
    setup: Setup,
    plain: Baseline,
    chain: Sequence[Candidate],
    chosen: Chosen,
    verdict: Verdict,
) -> Evidence:
    """Measure what is not measured yet, and return all of it.

    ``chain`` ends with the build that BOLT took and the one that it made, in this order. Without
    a chain nothing further is measured.
    """
    from pipeline.evidence.curve import curve_points
    from pipeline.evidence.model import Evidence
    from pipeline.evidence.summary import per_operation, program_shares, static_text
    from pipeline.judge.icache import under_pressure

    tuned, judged = chosen.candidate.library, verdict.result()
    counting = judged.counting
    known = Evidence(
        mode=shop.options.mode,
        left_out=() if shop.chain else NO_CHAIN,
        per_operation=per_operation(counting),
        curve=curve_points(counting),
        programs=program_shares(judged.programs),
        curve_workloads=tuple(one.name for one in under_pressure(counting)),
        static=(
            static_text("baseline", plain.library.path, setup.lists),
            static_text("tuned", tuned.artifact.path(UNSTRIPPED), setup.lists),
        ),
    )
    if not shop.chain:
        return known
    null: LayoutNull | None = None
    left_out: tuple[str, ...] = (NOT_COUNTED,)
    linked = linked_of(chain, chosen.candidate)
    try:
        null = layout_null(shop, setup, plain, chosen.candidate, linked)
    except BuildError as error:  # this step has one order only: no null
        left_out = (f"random layouts: {error.message}",)
    return known.model_copy(
        update={
            "left_out": () if null else left_out,
            "layout_null": null,
            "ablation": chosen.result(),
        }
    )


def linked_of(chain: Sequence[Candidate], chosen: Candidate) -> Candidate:
    """Return the step that ``chosen`` is a layout of: as it was linked, with its relocations."""
    names = [candidate.name for candidate in chain]
    place = names.index(chosen.name)
    return chain[place - 1 if chosen.name == names[-1] else place]
