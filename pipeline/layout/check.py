"""The layout contract: what layouts/ and the marks in the source promise, held against a binary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from pipeline.toolchain.symbols import SymbolLists
from pipeline.toolchain.text_model import LINE, Function, Record, TextMap

Rule = Literal["there", "order", "contiguous", "line", "profiled", "listed", "cold", "marks"]
# From this share of all calls on, a function that is not listed is called hot. Calls, not blocks: a
# loop that sets up a thread runs many blocks and is still rare.
HOT_SHARE = 1e-5
# What the compiler's start files and libc put into every library; no list can order it.
FOREIGN = {
    "_init",
    "_fini",
    "frame_dummy",
    "register_tm_clones",
    "deregister_tm_clones",
    "__do_global_dtors_aux",
    "pthread_atfork",
}
RULES: dict[Rule, str] = {
    "there": "every listed function has code of its own",
    "order": "hot functions lie in the order of hot.txt",
    "contiguous": "nothing lies between hot functions that is not listed",
    "line": "every hot function starts on a cache line",
    "profiled": "every hot function ran in the training",
    "listed": "what the training ran often is listed",
    "cold": "cold functions lie outside the hot range, on each side in the order of cold.txt",
    "marks": "HAK_HOT and HAK_COLD in the source agree with the lists",
}


class Finding(Record):
    """One thing the contract says about a function. Only ``broken`` ones break it.

    ``unknown`` means that the rule could not be looked at. ``often`` says of a function that is hot
    and not listed so how often it ran; "" of all others, and in older records.
    """

    rule: Rule
    symbol: str
    text: str
    broken: bool
    unknown: bool = False
    often: str = ""


CALLS, HOTTEST_BLOCKS = "calls", "runs of hottest blocks"
"""What a profile counts: edges tell calls; a PGO profile does not tell which block is the entry."""


@dataclass(frozen=True)
class Promise:
    """What is held against the binary.

    ``inlined`` says where functions have gone that have no code of their own, or whose own never
    ran. ``excuse`` is why not every hot function can be expected in the training; empty if it can.
    ``pinned`` are names of hot.txt that a person keeps there.
    ``shared`` are static names that several sources use: no list can mean one of them. ``counted``
    says what the heat is.
    """

    lists: SymbolLists
    marked_hot: Collection[str]
    marked_cold: Collection[str]
    inlined: Mapping[str, list[str]]
    excuse: str = ""
    pinned: Collection[str] = ()
    shared: Collection[str] = ()
    counted: str = CALLS


def check_layout(text: TextMap, promise: Promise) -> list[Finding]:
    """Return all findings, rule by rule; the contract holds if none of them is broken."""
    hot = [f for name in promise.lists.hot if (f := text.find(name)) is not None]
    return [
        *_there(text, promise),
        *_order("order", "hot.txt", hot),
        *_contiguous(text, hot, promise),
        *_lines(hot),
        *_profiled(hot, text, promise),
        *_listed(text, promise),
        *_cold(text, hot, promise),
        *_marks(promise),
    ]


def share(function: Function, text: TextMap) -> float:
    """Return the function's part of all calls that were counted, 0..1; 0 if unknown."""
    total = sum(f.heat.entries for f in text.functions if f.heat)
    return function.heat.entries / total if function.heat and total else 0.0


def vanished(text: TextMap, lists: SymbolLists) -> list[str]:
    """Return the listed names that have no code of their own."""
    return [name for name in (*lists.hot, *lists.cold) if text.find(name) is None]


def never_ran(text: TextMap, lists: SymbolLists) -> list[str]:
    """Return the names of hot.txt whose own code the training never ran, as far as it is known."""
    found = [(name, text.find(name)) for name in lists.hot]
    return [name for name, one in found if one and one.heat and not one.heat.blocks]


def ran_inside(name: str, text: TextMap, promise: Promise) -> list[str]:
    """Return the functions that ran and that a function is inlined into."""
    ran = {n.partition(".")[0] for f in text.functions if f.heat and f.heat.blocks for n in f.names}
    return [holder for holder in promise.inlined.get(name, ()) if holder in ran]


def _there(text: TextMap, promise: Promise) -> Iterator[Finding]:
    for name in vanished(text, promise.lists):
        holders = promise.inlined.get(name)
        where = f"inlined into {', '.join(holders)}" if holders else "gone: in no function's code"
        broken = not holders and name in promise.lists.hot
        yield Finding(rule="there", symbol=name, text=where, broken=broken)


def _order(rule: Rule, file: str, functions: list[Function]) -> Iterator[Finding]:
    for before, after in pairwise(functions):
        if after.address < before.address:
            text = f"lies before {before.name}, against {file}"
            yield Finding(rule=rule, symbol=after.name, text=text, broken=True)


def _contiguous(text: TextMap, hot: list[Function], promise: Promise) -> Iterator[Finding]:
    """Name strangers in the hot range, and gaps that are more than padding."""
    if not hot:
        return
    first, last = min(f.address for f in hot), max(f.end for f in hot)
    inside = [f for f in text.functions if first <= f.address < last]
    for function in inside:
        if function not in hot:
            what = _stranger(function, promise)
            yield Finding(
                rule="contiguous",
                symbol=function.name,
                text=f"{what} lies in the hot range",
                broken=True,
            )
    for before, after in pairwise(inside):
        if (gap := after.address - before.end) >= LINE:
            text_ = f"{gap} bytes of nothing in front of it, more than padding"
            yield Finding(rule="contiguous", symbol=after.name, text=text_, broken=True)


def _stranger(function: Function, promise: Promise) -> str:
    if function.part == "cold":
        return f"the cold half of {function.parent}"
    if function.name in promise.lists.cold:
        return "a function of cold.txt"
    never = function.heat is not None and function.heat.blocks == 0
    return "a function that never ran in the training" if never else "a function that is not listed"


def _lines(hot: list[Function]) -> Iterator[Finding]:
    for function in hot:
        if function.address % LINE:
            text = f"starts {function.address % LINE} bytes behind the start of a cache line"
            yield Finding(rule="line", symbol=function.name, text=text, broken=True)


def _profiled(hot: list[Function], text_map: TextMap, promise: Promise) -> Iterator[Finding]:
    """Name hot functions that never ran; one whose copies inside of others ran is only told."""
    excuse = promise.excuse
    if hot and all(function.heat is None for function in hot):
        text = "unknown: no profile beside this library"
        yield Finding(rule="profiled", symbol=hot[0].name, text=text, broken=False, unknown=True)
    for name in never_ran(text_map, promise.lists):
        if inside := ran_inside(name, text_map, promise):
            text = f"its own code never ran: it ran inlined into {', '.join(inside)}"
        else:
            text = f"listed hot, and never ran in the training{f' ({excuse})' if excuse else ''}"
        broken = not (inside or excuse)
        yield Finding(rule="profiled", symbol=name, text=text, broken=broken)


def hot_outside(text: TextMap, promise: Promise) -> list[Function]:
    """Return the functions that are hot by the profile and not listed so, hottest first.

    A static name that several files use cannot be listed: which one is meant, nobody knows. With
    LTO the compiler numbers all but one of them; else they are there under the same name.
    """
    listed = set(promise.lists.hot)
    present = Counter(f.name for f in text.functions if f.part != "cold")
    several = {name for name, number in present.items() if number > 1}
    numbered = {f.name.rpartition(".")[0] for f in text.functions} | several | {*promise.shared}
    found = [
        f
        for f in text.functions
        if share(f, text) >= HOT_SHARE
        and not listed & set(f.names)
        and f.name not in numbered | FOREIGN
        and "." not in f.name
    ]
    return sorted(found, key=lambda f: -share(f, text))


def _listed(text: TextMap, promise: Promise) -> Iterator[Finding]:
    """Tell of hot functions outside the list: worth a look, but nothing was promised about them."""
    for function in hot_outside(text, promise):
        name = function.name
        rate = f"{share(function, text) * 1e6:,.0f} of a million {promise.counted}"
        if name in promise.marked_cold:  # no proposal: the author has to decide
            part = f"{rate}, and marked HAK_COLD in the source"
            yield Finding(rule="marks", symbol=name, text=part, broken=False)
            continue
        part = f"{rate}, and {'in cold.txt' if name in promise.lists.cold else 'not in hot.txt'}"
        yield Finding(rule="listed", symbol=name, text=part, broken=False, often=rate)


def _cold(text: TextMap, hot: list[Function], promise: Promise) -> Iterator[Finding]:
    cold = [f for name in promise.lists.cold if (f := text.find(name)) is not None]
    first = min((f.address for f in hot), default=0)
    last = max((f.end for f in hot), default=0)
    yield from _order("cold", "cold.txt", [f for f in cold if f.address < first])
    yield from _order("cold", "cold.txt", [f for f in cold if f.address >= first])
    for function in cold:
        if first <= function.address < last:
            finding = "lies inside the hot range"
            yield Finding(rule="cold", symbol=function.name, text=finding, broken=True)


def _marks(promise: Promise) -> Iterator[Finding]:
    lists = promise.lists
    wrong = {
        "has HAK_HOT and is not in hot.txt": set(promise.marked_hot) - set(lists.hot),
        "has HAK_COLD and is not in cold.txt": set(promise.marked_cold) - set(lists.cold),
        "has HAK_HOT and is in cold.txt": set(promise.marked_hot) & set(lists.cold),
        "has HAK_COLD and is in hot.txt": set(promise.marked_cold) & set(lists.hot),
    }
    for text, names in wrong.items():
        for name in sorted(names):
            yield Finding(rule="marks", symbol=name, text=text, broken=True)
