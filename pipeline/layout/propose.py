"""The symbol lists that a profile suggests: the present ones, with lines taken out and put in.

Order and groups are the authors'; a profile says which functions belong there. A function joins
hot.txt from a share of all calls on (HOT_SHARE), behind the group of its busiest caller,
and leaves only when the training never ran it: a list should not flutter.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.layout.check import Promise, hot_outside, ran_inside
from pipeline.layout.pins import name_of, names_of
from pipeline.toolchain.symbols import SymbolLists
from pipeline.toolchain.text_model import Function, TextMap

NEW_GROUP = "# by the profile"


@dataclass(frozen=True)
class Change:
    """One line of a list that comes or goes, with the reason. ``after`` is a name listed now."""

    file: str
    name: str
    reason: str
    comes: bool
    after: str = ""


def propose(
    text: TextMap, promise: Promise, callers: Mapping[str, Counter[str]]
) -> tuple[list[Change], list[str]]:
    """Return the changes that the profile suggests, and sentences on what stands against them."""
    changes: list[Change] = []
    notes: list[str] = []
    for name in promise.lists.hot:
        reason = _reason_to_go(name, text, promise)
        if reason and name in promise.marked_hot:
            notes.append(f"{name}: {reason}, but it is marked HAK_HOT in the source")
        elif reason and name in promise.pinned:
            notes.append(f"{name}: {reason}, but it is pinned in hot.txt")
        elif reason:
            changes.append(Change("hot.txt", name, reason, comes=False))
    for function in hot_outside(text, promise):
        reason, caller = _reason_to_come(function, callers, promise)
        if function.name in promise.marked_cold:
            notes.append(f"{function.name}: {reason}, but it is marked HAK_COLD in the source")
            continue
        if function.name in promise.lists.cold:
            changes.append(Change("cold.txt", function.name, reason, comes=False))
        changes.append(Change("hot.txt", function.name, reason, comes=True, after=caller))
    return changes, notes


def apply_changes(lines: Sequence[str], file: str, changes: Sequence[Change]) -> list[str]:
    """Return the lines of a list after those changes that are for ``file``."""
    mine = [change for change in changes if change.file == file]
    gone = {change.name for change in mine if not change.comes}
    result = [line for line in lines if name_of(line) not in gone]
    for change in (change for change in mine if change.comes):
        _insert(result, change)
    return result


def changed_lists(files: Mapping[str, Sequence[str]], changes: Sequence[Change]) -> SymbolLists:
    """Return the lists whose lines are ``files`` as they are after ``changes``."""
    lines = {file: apply_changes(before, file, changes) for file, before in files.items()}
    return SymbolLists(names_of(lines["hot.txt"]), names_of(lines["cold.txt"]))


def as_diff(file: str, before: list[str], after: list[str]) -> str:
    """Return the difference as `patch -p1` takes it; empty if there is none."""
    lines = difflib.unified_diff(before, after, f"a/{file}", f"b/{file}", lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _reason_to_go(name: str, text: TextMap, promise: Promise) -> str:
    function = text.find(name)
    if function is None:
        return "" if name in promise.inlined else "no code of the library has this name any more"
    if function.heat is None or function.heat.blocks:
        return ""
    kept = promise.excuse or ran_inside(name, text, promise)
    return "" if kept else "the training never ran it"


def _reason_to_come(
    function: Function, callers: Mapping[str, Counter[str]], promise: Promise
) -> tuple[str, str]:
    """Return count and busiest callers as a sentence, and the busiest caller that is listed."""
    calls: Counter[str] = Counter()
    for name in function.names:
        calls.update(callers.get(name, {}))
    busiest = [name for name, _ in calls.most_common(2) if name != "[unknown]"]
    entries = function.heat.entries if function.heat else 0
    counted = "calls" if callers else "times"  # a PGO profile knows no callers, and counts blocks
    origin = f", most from {' and '.join(busiest)}" if busiest else ""
    listed = [name for name, _ in calls.most_common() if name in promise.lists.hot]
    return f"{entries:,} {counted}{origin}", listed[0] if listed else ""


def _insert(lines: list[str], change: Change) -> None:
    """Put a new name behind the group of the name it follows, or into a group of its own."""
    line = f"{change.name}  # {change.reason}"
    place = next((n for n, text in enumerate(lines) if name_of(text) == change.after), None)
    if not change.after or place is None:
        if NEW_GROUP not in lines:
            lines += ["", NEW_GROUP]
        lines.append(line)
        return
    while place < len(lines) and lines[place].strip():
        place += 1
    lines.insert(place, line)
