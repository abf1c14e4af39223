"""Which functions stand in another list than before: reports know it, also of other trees."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

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


def reordered(base: ReportModel, head: ReportModel) -> tuple[str, ...]:
    """Return as a note which functions of hot.txt stand in another order; () if none do."""
    before = {name: at for at, name in enumerate(_hot_order(base))}
    names = [name for name in _hot_order(head) if name in before]
    stayed = _longest_rise([before[name] for name in names])
    moved = [name for name in names if before[name] not in stayed]
    return (f"in another order in hot.txt: {first_of(moved, _MOST_NAMES)}",) if moved else ()


def _hot_order(report: ReportModel) -> list[str]:
    """Return the functions of hot.txt as they follow each other in the library."""
    functions = report.code[1].functions if report.code else ()
    hot = [one for one in functions if one.listed == "hot" and one.part != "cold"]
    return list(dict.fromkeys(one.name for one in sorted(hot, key=lambda one: one.address)))


def _longest_rise(numbers: Sequence[int]) -> set[int]:
    """Return as many of them as already follow each other upward: the rest has moved."""
    ends = list[int]()
    before = dict[int, int | None]()
    for number in numbers:
        at = bisect_left(ends, number)
        before[number] = ends[at - 1] if at else None
        ends[at : at + 1] = [number]
    rise = set[int]()
    last = ends[-1] if ends else None
    while last is not None:
        rise.add(last)
        last = before[last]
    return rise
