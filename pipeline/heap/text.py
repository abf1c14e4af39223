"""Heap profiles on the terminal, and as folded stacks for other tools."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from pipeline.core.output import hanging
from pipeline.heap.cxx import apart, fold, is_std
from pipeline.heap.stacks import Frame, Sums, at_calls, at_functions, without_places
from pipeline.heap.tree import Node, functions, tree
from pipeline.trace.words import share, size

SHOWN_FUNCTIONS = 30
_NAME, _CALL = 45, 23
"""Where the name of a function begins, and in the tree that of the outermost call."""
LEAST_SHARE = 0.005
"""Branches of the tree with less of the whole are left out."""


def signed_size(value: float) -> str:
    """Return bytes with their unit, also when they are fewer than none."""
    return f"-{size(-value)}" if value < 0 else size(value)


def with_place(name: str, frame: Frame) -> str:
    """Return a name, and behind it where the function calls, if that is known."""
    return f"{name}  {frame.place}" if frame.place else name


def top(sums: Sums, *, full: bool = False, lines: bool = False, width: int = sys.maxsize) -> str:
    """Return the functions that asked for the most, a row each; with ``lines`` for each line.

    A name that has no room in ``width`` goes on below.
    """
    whole = sum(sums.values())
    shown = sums if full else fold(sums)
    shown = shown if lines else at_functions(shown)
    found = functions(shown) if full else functions(shown, is_std)
    brief = {} if full else apart(one.frame.name for one in found)
    rows = [f"{'by itself':>12} {'share':>8} {'and below':>12} {'share':>8}  function"]
    rows += [
        f"{signed_size(one.own):>12} {share(one.own, whole):>8} "
        f"{signed_size(one.total):>12} {share(one.total, whole):>8}  "
        f"{with_place(brief.get(one.frame.name, one.frame.name), one.frame)}"
        for one in found[:SHOWN_FUNCTIONS]
    ]
    rest = len(found) - SHOWN_FUNCTIONS
    rows = [hanging(row, _NAME, width) for row in rows]
    return "\n".join([*rows, *([f"functions not shown: {rest}"] if rest > 0 else [])]) + "\n"


def call_tree(
    sums: Sums, *, full: bool = False, lines: bool = False, width: int = sys.maxsize
) -> str:
    """Return the tree of calls, a row for each call; with ``lines`` for each line that calls."""
    shown = sums if full else fold(sums)
    shown = shown if lines else at_calls(shown)
    root = tree(shown.items())
    least = LEAST_SHARE * sum(abs(value) for value in shown.values())
    rows = _branch(root, "all", 0, root.total, least, full)
    return "".join(f"{hanging(row, _CALL + 2 * depth, width)}\n" for depth, row in rows)


def _branch(
    node: Node, name: str, depth: int, whole: float, least: float, full: bool
) -> Iterator[tuple[int, str]]:
    """Yield the rows of a call and of those below it, each with its depth."""
    indent, said = "  " * depth, with_place(name, node.frame)
    yield depth, f"{signed_size(node.total):>12} {share(node.total, whole):>8}  {indent}{said}"
    small, brief = 0, {} if full else apart(frame.name for frame in node.calls)
    for call in node.sorted_calls():
        if _weight(call) < least:
            small += 1
        else:
            called = brief.get(call.frame.name, call.frame.name)
            yield from _branch(call, called, depth + 1, whole, least, full)
    if small:
        yield depth, f"{'':>12} {'':>8}  {indent}  calls below {LEAST_SHARE:.1%} of all: {small}"


def _weight(node: Node) -> float:
    """Return the bytes that came or went below a call: what cancels out is not small."""
    return abs(node.own) + sum(map(_weight, node.calls.values()))


def folded(sums: Sums, *, lines: bool = False) -> str:
    """Return a line for each stack that has bytes, outermost function first, as flame graphs do."""
    shown = sums if lines else without_places(sums)
    rows = [
        f"{';'.join(_part(frame) for frame in stack) or '?'} {round(value)}\n"
        for stack, value in shown.items()
        if round(value) > 0
    ]
    return "".join(sorted(rows))


def _part(frame: Frame) -> str:
    """Return a function of a folded stack: semicolons part them, and spaces may be in names."""
    place = f" {frame.place}" if frame.place else ""
    return f"{frame.name}{place}".replace(";", ",")
