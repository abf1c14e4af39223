"""What a build did not measure, or only with a limit: a subject for code, and words for people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator


class Subject(StrEnum):
    """What may be left out. Those that the evidence lacks have the name of its field."""

    ABLATION = "ablation"
    LAYOUT_NULL = "layout_null"
    SELF_TIMES = "self_times"
    PROGRAMS = "programs"
    SELF_CHECK = "self_check"
    BUDGET = "budget"
    RUNS = "runs"
    OTHER = "other"
    """Known by its words alone: a sentence of an older record."""


@dataclass(frozen=True)
class LeftOut:
    """One thing that was left out or limited; ``why`` is for people, and no code reads it."""

    subject: Subject
    why: str


_OLDER = {
    "the chain of builds": Subject.ABLATION,
    "random layouts": Subject.LAYOUT_NULL,
    "the time of each function": Subject.SELF_TIMES,
    "the library's share of real programs": Subject.PROGRAMS,
    "the judge is not checked": Subject.SELF_CHECK,
}
"""How the sentences of older records began, which were "one thing and another: why"."""


def _upgraded(kept: Any) -> Any:
    """Return what is kept, each sentence of an older record as values."""
    if not isinstance(kept, list | tuple):
        return kept
    return [value for one in kept for value in (_values(one) if isinstance(one, str) else [one])]


def _values(sentence: str) -> list[LeftOut]:
    things, _, why = sentence.partition(": ")
    subjects = [_OLDER.get(thing) for thing in things.split(" and ")]
    known = [LeftOut(subject=one, why=why) for one in subjects if one]
    return known if len(known) == len(subjects) else [LeftOut(subject=Subject.OTHER, why=sentence)]


AllLeftOut = Annotated[tuple[LeftOut, ...], BeforeValidator(_upgraded)]
"""The field of a record; an older one has sentences."""
