"""A profile as sums: by stack, by function, and as a tree of calls. Two give what has grown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from pipeline.heap.read import Profile
from pipeline.heap.symbols import Names

Stack = tuple[str, ...]
"""Functions, outermost first."""
Sums = Mapping[Stack, float]


class What(Enum):
    """Which bytes count: those that live, or all since the start."""

    LIVE = "live"
    ALLOCATED = "allocated"


@dataclass
class Node:
    """A function as called from those above it: bytes asked for by itself, and below it too."""

    name: str
    own: float = 0.0
    total: float = 0.0
    calls: dict[str, Node] = field(default_factory=dict)

    def sorted_calls(self) -> list[Node]:
        """Return what it calls, that with the most bytes first."""
        return sorted(self.calls.values(), key=lambda node: (-abs(node.total), node.name))


@dataclass(frozen=True)
class Function:
    """A function wherever it was called: bytes asked for by itself, and below it too."""

    name: str
    own: float
    total: float


def by_stack(profile: Profile, names: Names, what: What) -> dict[Stack, float]:
    """Return the bytes of each stack."""
    sums: dict[Stack, float] = defaultdict(float)
    for site in profile.sites:
        stack = [name for address in site.stack for name in names[address]]
        sums[tuple(reversed(stack))] += site.live if what is What.LIVE else site.allocated
    return {stack: value for stack, value in sums.items() if value}


def growth(before: Sums, after: Sums) -> dict[Stack, float]:
    """Return how many bytes more each stack has; fewer are negative."""
    grown = {s: after.get(s, 0.0) - before.get(s, 0.0) for s in (*before, *after)}
    return {stack: value for stack, value in grown.items() if value}


def tree(sums: Iterable[tuple[Stack, float]]) -> Node:
    """Return the tree of calls; its root stands for the whole program."""
    root = Node("all")
    for stack, value in sums:
        node = root
        node.total += value
        for name in stack:
            node = node.calls.setdefault(name, Node(name))
            node.total += value
        node.own += value
    return root


def functions(sums: Sums, passes_on: Callable[[str], bool] = lambda _: False) -> list[Function]:
    """Return all functions, that with the most bytes of its own first.

    What a function asks for that only passes requests on is its caller's own.
    """
    own: dict[str, float] = defaultdict(float)
    total: dict[str, float] = defaultdict(float)
    for stack, value in sums.items():
        asks = next((name for name in reversed(stack) if not passes_on(name)), None)
        own[asks or (stack[-1] if stack else "?")] += value
        for name in set(stack) or {"?"}:  # one that calls itself counts once
            total[name] += value
    found = [Function(name, own[name], total[name]) for name in total]
    return sorted(found, key=lambda one: (-abs(one.own), -abs(one.total), one.name))
