"""What was not measured, or only with a limit, in one list at the end of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pipeline.judge.left_out import Subject
from pipeline.report.model import ReportModel

ONE_CACHE = "one cache was counted, that of this machine; a build with --thorough counts several"

_GATHERED = {
    Subject.ABLATION: ("ablation", "the chain of builds"),
    Subject.LAYOUT_NULL: ("null", "random layouts"),
    Subject.SELF_TIMES: ("self-time", "the time of each function"),
    Subject.PROGRAMS: ("programs", "the library's share of real programs"),
}
"""What the evidence may lack: the anchor of its section, and its name."""
_LISTED = {Subject.SELF_CHECK, *_GATHERED}
"""What the list has anyhow where the report lacks it."""


class Unmeasured(NamedTuple):
    """Something that a report has no section for, and the anchor of that section."""

    anchor: str
    what: str
    why: str


def unmeasured(model: ReportModel) -> dict[str, list[Unmeasured]]:
    """Return what was not measured, by the reason."""
    found: dict[str, list[Unmeasured]] = {}
    for one in (*_judged(model), *_gathered(model), *_read(model)):
        found.setdefault(one.why, []).append(one)
    return found


def anchors(model: ReportModel) -> set[str]:
    """Return the anchors of the sections that a report does without."""
    return {one.anchor for group in unmeasured(model).values() for one in group}


def limits(model: ReportModel) -> list[str]:
    """Return what was measured only so far, and what else there is to know of it."""
    gathered = model.evidence.left_out if model.evidence else ()
    every = (*model.verify.left_out, *gathered)
    return list(dict.fromkeys(one.why for one in every if one.subject not in _LISTED))


def _judged(model: ReportModel) -> Iterator[Unmeasured]:
    if model.previous is None:
        yield Unmeasured("previous", "a comparison with an older version", model.previous_reason)
    if not model.curve:
        yield Unmeasured("curve", "the curve over sizes of the instruction cache", ONE_CACHE)
    if not model.verify.self_check:
        yield Unmeasured("self-check", "the judge's own check", _by_mode(model))


def _gathered(model: ReportModel) -> Iterator[Unmeasured]:
    reasons = _reasons(model)
    for subject, (anchor, what) in _GATHERED.items():
        if not getattr(model.evidence, subject, None):
            why = reasons.get(subject) or model.evidence_reason or _by_mode(model)
            yield Unmeasured(anchor, what, why)


def _reasons(model: ReportModel) -> Mapping[Subject, str]:
    """Return what the evidence says of what it left out; in a quick build the mode says it."""
    if model.evidence is None or model.verify.mode == "quick":
        return {}
    return {one.subject: one.why for one in model.evidence.left_out}


def _by_mode(model: ReportModel) -> str:
    mode = model.verify.mode
    return "left out with --quick" if mode == "quick" else f"left out in mode {mode}"


def _read(model: ReportModel) -> Iterator[Unmeasured]:
    """Yield what the files of the build do not tell."""
    if model.geometry is None:
        yield Unmeasured("geometry", "the geometry", "written before it was recorded")
    if not model.code:
        yield Unmeasured("map", "the text map", model.code_reason)
    if not model.functions:
        yield Unmeasured("functions", "the functions", model.code_reason)
    if model.contract is None:
        yield Unmeasured("contract", "the layout contract", model.code_reason)
    if not (model.layout and model.layout.dyno_stats):
        yield Unmeasured("dyno-stats", "BOLT's estimates", "BOLT has not laid out this build")
    if not model.training:
        yield Unmeasured("training", "the training", "this build has none of its own")
