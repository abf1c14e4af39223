"""Gathering the evidence of a build from the stages that measured it. Not a stage: it is quick."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pipeline.core.errors import BuildError
from pipeline.judge.left_out import LeftOut, Subject
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.finish import UNSTRIPPED
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.ablation import Chosen
from pipeline.stages.proof.candidate import LAID_OUT, Candidate
from pipeline.stages.proof.layout_null import layout_null
from pipeline.stages.proof.self_time import self_time
from pipeline.stages.proof.verify import Verdict

if TYPE_CHECKING:
    from pipeline.evidence.model import Evidence, LayoutNull

NOT_THOROUGH = LeftOut(Subject.LAYOUT_NULL, "they are counted with --thorough alone")
NOT_COUNTED = LeftOut(
    Subject.LAYOUT_NULL, "none of the real programs by which they are ranked was counted"
)


def gather(
    shop: Workshop,
    setup: Setup,
    plain: Baseline,
    chain: Sequence[Candidate],
    chosen: Chosen,
    verdict: Verdict,
) -> Callable[[], Evidence]:
    """Measure what is not measured yet, and return what puts all of it together.

    ``chain`` ends with the build that BOLT took and what it made of it, in this order. Without a
    chain nothing further is measured. A build that has nothing to do asks for nothing.
    """
    null, left_out = _random_layouts(shop, setup, plain, chain, chosen)
    sampled = shop.chain and shop.tools.has("perf")
    times = self_time(shop, setup, plain, chosen.candidate.library) if sampled else None

    def put_together() -> Evidence:
        from pipeline.evidence.curve import curve_points, swept_workloads
        from pipeline.evidence.model import Evidence
        from pipeline.evidence.summary import per_operation, program_shares, static_text

        tuned, judged = chosen.candidate.library, verdict.result()
        counting = judged.counting
        return Evidence(
            mode=shop.options.mode,
            left_out=left_out if sampled else (*left_out, _unsampled(shop)),
            per_operation=per_operation(counting),
            curve=curve_points(counting),
            programs=program_shares(judged.programs),
            curve_workloads=swept_workloads(counting),
            static=(
                static_text("baseline", plain.library.path, setup.lists),
                static_text("tuned", tuned.artifact.path(UNSTRIPPED), setup.lists),
            ),
            self_times=times,
            layout_null=null,
            ablation=chosen.result(),
        )

    return put_together


def _no_chain(shop: Workshop) -> str:
    quick = shop.options.mode == "quick"
    return "left out with --quick" if quick else "the profile has gate.chain = false"


def _unsampled(shop: Workshop) -> LeftOut:
    why = "perf is not installed" if shop.chain else _no_chain(shop)
    return LeftOut(Subject.SELF_TIMES, why)


def _random_layouts(
    shop: Workshop, setup: Setup, plain: Baseline, chain: Sequence[Candidate], chosen: Chosen
) -> tuple[LayoutNull | None, tuple[LeftOut, ...]]:
    """Return the counts of random layouts, or None and what is left out for what reason."""
    if not shop.chain:
        why = _no_chain(shop)
        return None, (LeftOut(Subject.ABLATION, why), LeftOut(Subject.LAYOUT_NULL, why))
    if not shop.options.thorough:
        return None, (NOT_THOROUGH,)
    linked = linked_of(chain, chosen.candidate)
    try:
        null = layout_null(shop, setup, plain, chosen.candidate, linked)
    except BuildError as error:  # this step has one order only: no null
        return None, (LeftOut(Subject.LAYOUT_NULL, error.message),)
    return null, () if null else (NOT_COUNTED,)


def linked_of(chain: Sequence[Candidate], chosen: Candidate) -> Candidate:
    """Return the step that ``chosen`` is a layout of: as it was linked, with its relocations."""
    place = [candidate.name for candidate in chain].index(chosen.name)
    return next(one for one in reversed(chain[: place + 1]) if one.name not in LAID_OUT)
