"""A report says which steps of a build are in the library, and what each brings."""

from __future__ import annotations

from collections.abc import Sequence

import report_support

from pipeline.evidence.model import Ablation
from pipeline.report.contents import contents
from pipeline.report.model import ReportModel


def of_chain(names: Sequence[str], misses: Sequence[float | None], chosen: str) -> ReportModel:
    """Return a report whose chain has these steps, with as many misses each."""
    model = report_support.good()
    assert model.evidence is not None
    assert model.evidence.ablation is not None
    step = model.evidence.ablation.steps[0]
    steps = tuple(
        step.model_copy(update={"name": name, "i1_misses": count})
        for name, count in zip(names, misses, strict=True)
    )
    chain: Ablation = model.evidence.ablation.model_copy(update={"steps": steps, "chosen": chosen})
    return model.model_copy(
        update={"evidence": model.evidence.model_copy(update={"ablation": chain})}
    )


CHAIN = ("baseline", "sections", "pgo", "lto", "context", "bolt")


def test_each_step_up_to_the_chosen_one_is_named_with_what_it_brings() -> None:
    said = contents(of_chain(CHAIN, (1000, 990, 792, 713, 713, 700), "bolt"))
    assert "the lists (-1.00 %), PGO (-20.00 %), LTO (-9.97 %), a second training pass" in said
    assert "and BOLT (-1.82 %), by I-cache misses" in said
    assert "without" not in said


def test_what_was_not_chosen_is_not_in_it() -> None:
    said = contents(of_chain(CHAIN, (1000, 990, 792, None, 713, 700), "lto"))
    assert "PGO (-20.00 %) and LTO (misses unknown), without a second training pass" in said
    assert "and BOLT, by" in said


def test_a_build_without_a_chain_names_what_it_is_made_of() -> None:
    model = report_support.good().model_copy(update={"evidence": None, "geometry": ()})
    assert contents(model).startswith("contains the lists, PGO, LTO and BOLT; ")
    assert model.layout is not None
    plain = model.layout.model_copy(update={"stage": "pgo"})
    assert contents(model.model_copy(update={"layout": plain})).startswith(
        "contains the lists, PGO and LTO; "
    )
    assert not contents(model.model_copy(update={"layout": None}))
