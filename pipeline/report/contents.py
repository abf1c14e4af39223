"""Which steps of a build are in what was judged, and what each is worth by the chain."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pipeline.evidence.model import Ablation, AblationStep
from pipeline.report import text
from pipeline.report.model import ReportModel

_WORDS = {
    "tune": "the profile's geometry",
    "sections": "the lists",
    "pgo": "PGO",
    "lto": "LTO",
    "context": "a second training pass",
    "bolt": "BOLT",
    "samples": "imported samples",
}
_ONE_BY_ONE = ("sections", "pgo", "lto", "bolt", "samples")
"""The steps that a build without a chain makes, up to the layout that was read back."""


def contents(model: ReportModel) -> str:
    """Return which steps are in the library, and which of the chain are not; "" for unknown."""
    chain = model.evidence.ablation if model.evidence else None
    return _by_chain(chain) if chain else _by_layout(last_step(model), model)


def last_step(model: ReportModel) -> str | None:
    """Return the step of the chain that was judged; None for unknown."""
    if model.evidence and model.evidence.ablation:
        return model.evidence.ablation.chosen
    if model.layout is None:
        return None
    return "lto" if model.layout.stage == "pgo" else model.layout.stage  # that stage has LTO, too


def _by_chain(chain: Ablation) -> str:
    """Return the steps up to the chosen one, each with its change of misses and its speed."""
    names = [step.name for step in chain.steps]
    last = names.index(chain.chosen)
    found = [_worth(*pair) for pair in pairwise(chain.steps[: last + 1])]
    left = [_WORDS[name] for name in names[last + 1 :]]
    without = f", without {_listed(left)}" if left else ""
    return (
        f"contains {_listed(found)}{without}, by I-cache misses in training tasks; "
        "speeds: report.html, Ablation"
    )


def _worth(before: AblationStep, step: AblationStep) -> str:
    if not before.i1_misses or step.i1_misses is None:
        return f"{_WORDS[step.name]} (misses unknown)"
    return f"{_WORDS[step.name]} ({text.change(step.i1_misses / before.i1_misses)})"


def _by_layout(last: str | None, model: ReportModel) -> str:
    if last is None:
        return ""
    steps = _ONE_BY_ONE[: _ONE_BY_ONE.index(last) + 1]
    tuned = ("tune",) if model.geometry else ()
    said = _listed([_WORDS[name] for name in (*tuned, *steps)])
    return f"contains {said}; a full build, without --quick, measures what each is worth"


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
