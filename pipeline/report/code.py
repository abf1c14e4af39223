"""From text maps to what a report shows of them: maps with heat, and one row per function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pipeline.report.code_model import CodeMap, FunctionRow, Listed, MapFunction, MapSection, Place
from pipeline.report.text import first_of
from pipeline.toolchain.link_script import NEVER
from pipeline.toolchain.symbols import SymbolLists
from pipeline.toolchain.text_model import Function, TextMap

Counts = Mapping[str, int]
Key = tuple[str, int]
# So many functions are named that another one was inlined into.
MOST_HOLDERS = 4


def code_map(
    build: str, text: TextMap, counts: Counts | None, counted_by: str, lists: SymbolLists
) -> CodeMap:
    """Return the map of one library. A function that ``counts`` do not name never ran."""
    listed = _listed(lists)
    functions = tuple(_function(one, counts, listed) for one in text.functions)
    return CodeMap(
        build=build,
        counted_by=counted_by,
        sections=tuple(
            MapSection(name=one.name, address=one.address, size=one.size) for one in text.sections
        ),
        functions=functions,
        hot_end=_hot_end(functions),
    )


def function_rows(
    before: CodeMap, after: CodeMap, inlined: Mapping[str, Sequence[str]] | None = None
) -> tuple[FunctionRow, ...]:
    """Return all functions of both maps: those of ``after`` by address, then what is gone.

    ``inlined`` says where functions have gone that have no code of their own any more.
    """
    holders = inlined or {}
    old, new = _by_name(before), _by_name(after)
    hot = [one.name for one in after.functions if one.listed == "hot" and one.part != "cold"]
    rows = [_row(old.get(key), one, _why(one, key in old, hot)) for key, one in new.items()]
    gone = [_row(one, None, _why_gone(one, holders)) for key, one in old.items() if key not in new]
    return (*rows, *gone)


def _listed(lists: SymbolLists) -> dict[str, Listed]:
    hot: dict[str, Listed] = dict.fromkeys(lists.hot, "hot")
    cold: dict[str, Listed] = dict.fromkeys(lists.cold, "cold")
    return {**hot, **cold}


def _function(
    function: Function, counts: Counts | None, listed: Mapping[str, Listed]
) -> MapFunction:
    mine = next((listed[name] for name in function.names if name in listed), None)
    return MapFunction(
        name=function.name,
        aliases=function.aliases,
        parent=function.parent,
        part=function.part,
        section=function.section,
        address=function.address,
        size=function.size,
        count=_count(function, counts),
        listed="cold" if function.part == "cold" else mine,
    )


def _count(function: Function, counts: Counts | None) -> int | None:
    """Return the heat; a cold half has none of its own: counts do not tell the halves apart."""
    if counts is None or function.part == "cold":
        return None
    return max((counts[name] for name in function.names if name in counts), default=0)


def _hot_end(functions: Iterable[MapFunction]) -> int | None:
    """Return the end of the last function of hot.txt, unless cold ones lie among them."""
    listed = [one for one in functions if one.listed]
    places = [number for number, one in enumerate(listed) if one.listed == "hot"]
    if not places or places[-1] - places[0] + 1 != len(places):
        return None
    last = listed[places[-1]]
    return last.address + last.size


def _by_name(code: CodeMap) -> dict[Key, MapFunction]:
    """Return the functions by name; static ones that share a name are told apart by number."""
    seen: Counter[str] = Counter()
    found = {}
    for one in code.functions:
        name = _same(one)
        found[name, seen[name]] = one
        seen[name] += 1
    return found


def _same(function: MapFunction) -> str:
    """Return a name that stays the same from build to build: BOLT numbers its cold halves."""
    return f"{function.parent}.cold" if function.parent else function.name


def _row(before: MapFunction | None, after: MapFunction | None, why: str) -> FunctionRow:
    one = after or before
    assert one is not None
    return FunctionRow(
        name=one.name,
        part=one.part,
        before=_place(before),
        after=_place(after),
        count=one.count,
        listed=one.listed,
        why=why,
    )


def _place(function: MapFunction | None) -> Place | None:
    if function is None:
        return None
    return Place(address=function.address, size=function.size, section=function.section)


def _why(function: MapFunction, was_there: bool, hot: list[str]) -> str:
    """Return what has put a function where it is."""
    reason = _reason(function, hot)
    return reason if was_there or function.part == "cold" else f"{reason}; not there before"


def _reason(function: MapFunction, hot: list[str]) -> str:
    if function.part == "cold":
        return f"blocks of {function.parent} that the training never ran, split off"
    if function.listed == "hot":
        return f"hot.txt, place {hot.index(function.name) + 1} of {len(hot)}"
    if function.listed == "cold":
        return "cold.txt"
    if function.count is None:
        return "not listed"
    if function.count and function.section == NEVER:
        return "this copy never ran in training, its inlined copies did"
    return "by heat, behind hot.txt" if function.count else "never ran in training"


def _why_gone(function: MapFunction, inlined: Mapping[str, Sequence[str]]) -> str:
    if function.part == "cold":
        return f"{function.parent} is not split any more"
    holders = [name for name in inlined.get(function.name, ()) if name != function.name]
    if not holders:
        return "no function of its own any more: inlined, or not needed"
    return f"inlined into {first_of(holders, MOST_HOLDERS)}"
