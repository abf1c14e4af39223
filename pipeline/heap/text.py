"""Heap profiles on the terminal, and as folded stacks for other tools."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.heap.cxx import fold, is_std, short
from pipeline.heap.tree import Node, Sums, functions, tree
from pipeline.trace.words import share, size

SHOWN_FUNCTIONS = 30
LEAST_SHARE = 0.005
"""Branches of the tree with less of the whole are left out."""


def signed_size(value: float) -> str:
    """Return bytes with their unit, also when they are fewer than none."""
    return f"-{size(-value)}" if value < 0 else size(value)


def top(sums: Sums, *, full: bool = False) -> str:
    """Return the functions that asked for the most, a line each."""
    whole = sum(sums.values())
    found = functions(sums) if full else functions(fold(sums), is_std)
    lines = [f"{'by itself':>12} {'share':>8} {'and below':>12} {'share':>8}  function"]
    lines += [
        f"{signed_size(one.own):>12} {share(one.own, whole):>8} "
        f"{signed_size(one.total):>12} {share(one.total, whole):>8}  "
        f"{one.name if full else short(one.name)}"
        for one in found[:SHOWN_FUNCTIONS]
    ]
    rest = len(found) - SHOWN_FUNCTIONS
    return "\n".join([*lines, *([f"functions not shown: {rest}"] if rest > 0 else [])]) + "\n"


def call_tree(sums: Sums, *, full: bool = False) -> str:
    """Return the tree of calls, a line for each call."""
    root = tree((sums if full else fold(sums)).items())
    least = LEAST_SHARE * sum(abs(value) for value in sums.values())
    return "".join(f"{line}\n" for line in _branch(root, 0, root.total, least, full))


def _branch(node: Node, depth: int, whole: float, least: float, full: bool) -> Iterator[str]:
    indent, name = "  " * depth, node.name if full else short(node.name)
    yield f"{signed_size(node.total):>12} {share(node.total, whole):>8}  {indent}{name}"
    small = 0
    for call in node.sorted_calls():
        if _weight(call) < least:
            small += 1
        else:
            yield from _branch(call, depth + 1, whole, least, full)
    if small:
        yield f"{'':>12} {'':>8}  {indent}  calls below {LEAST_SHARE:.1%} of all: {small}"


def _weight(node: Node) -> float:
    """Return the bytes that came or went below a call: what cancels out is not small."""
    return abs(node.own) + sum(map(_weight, node.calls.values()))


def folded(sums: Sums) -> str:
    """Return a line for each stack that has bytes, outermost function first, as flame graphs do."""
    lines = [
        f"{';'.join(name.replace(';', ',') for name in stack) or '?'} {round(value)}\n"
        for stack, value in sums.items()
        if round(value) > 0
    ]
    return "".join(sorted(lines))
