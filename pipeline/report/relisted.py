"""Which functions stand in another list than before: reports know it, also of other trees."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.report.code_model import Listed
from pipeline.report.model import ReportModel
from pipeline.report.text import first_of

Relisted = Mapping[str, tuple[Listed | None, Listed | None]]
"""The list of a function before and after, by name; None is no list."""

_MOST_NAMES = 6


def relisted(base: ReportModel, head: ReportModel) -> Relisted:
    """Return the functions that changed lists; none where one of the reports has no code."""
    if base.code is None or head.code is None:
        return {}
    before, after = _lists(base), _lists(head)
    names = sorted(before.keys() | after.keys())
    both = {name: (before.get(name), after.get(name)) for name in names}
    return {name: lists for name, lists in both.items() if lists[0] != lists[1]}


def _lists(report: ReportModel) -> dict[str, Listed | None]:
    """Return the list of each function; what is inlined in one library stands in the other."""
    return {
        one.name: one.listed
        for side in report.code or ()
        for one in side.functions
        if one.part != "cold"
    }


def move(lists: tuple[Listed | None, Listed | None]) -> str:
    """Return a change of lists in words: "hot.txt → no list"."""
    return " → ".join(f"{one}.txt" if one else "no list" for one in lists)


def in_words(found: Relisted) -> tuple[str, ...]:
    """Return which functions changed lists, as a note; () if none did."""
    if not found:
        return ()
    said = [f"{name} {move(lists)}" for name, lists in found.items()]
    return (f"in other lists than before: {first_of(said, _MOST_NAMES)}",)
