"""A profile as sums: by stack, by function, and as a tree of calls. Two give what has grown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum

from pipeline.heap.read import Profile, Site
from pipeline.heap.stacks import Frame, Stack, Sums
from pipeline.heap.symbols import Names


class What(Enum):
    """Which bytes count: those that live, or all since the start."""

    LIVE = "live"
    ALLOCATED = "allocated"


@dataclass
class Node:
    """A function as called from those above it: bytes asked for by itself, and below it too."""

    frame: Frame
    own: float = 0.0
    total: float = 0.0
    calls: dict[Frame, Node] = field(default_factory=dict)

    def sorted_calls(self) -> list[Node]:
        """Return what it calls, that with the most bytes first."""
        return sorted(self.calls.values(), key=lambda node: (-abs(node.total), node.frame))


@dataclass(frozen=True)
class Function:
    """A function wherever it was called: bytes asked for by itself, and below it too."""

    frame: Frame
    own: float
    total: float


def by_stack(profile: Profile, names: Names, what: What) -> dict[Stack, float]:
    """Return the bytes of each stack, as estimated."""
    return _by_stack(profile, names, lambda s: s.live if what is What.LIVE else s.allocated)


def samples_by_stack(profile: Profile, names: Names, what: What) -> dict[Stack, float]:
    """Return how many samples each stack has."""
    return _by_stack(profile, names, lambda s: s.live_samples if what is What.LIVE else s.samples)


def _by_stack(profile: Profile, names: Names, of: Callable[[Site], float]) -> dict[Stack, float]:
    sums: dict[Stack, float] = defaultdict(float)
    for site in profile.sites:
        stack = [frame for address in site.stack for frame in names[address]]
        sums[tuple(reversed(stack))] += of(site)
    return {stack: value for stack, value in sums.items() if value}


def growth(before: Sums, after: Sums) -> dict[Stack, float]:
    """Return how many bytes more each stack has; fewer are negative."""
    grown = {s: after.get(s, 0.0) - before.get(s, 0.0) for s in (*before, *after)}
    return {stack: value for stack, value in grown.items() if value}


def tree(sums: Iterable[tuple[Stack, float]]) -> Node:
    """Return the tree of calls; its root stands for the whole program."""
    root = Node(Frame("all"))
    for stack, value in sums:
        node = root
        node.total += value
        for frame in stack:
            node = node.calls.setdefault(frame, Node(frame))
            node.total += value
        node.own += value
    return root


def functions(sums: Sums, passes_on: Callable[[str], bool] = lambda _: False) -> list[Function]:
    """Return all functions, that with the most bytes of its own first.

    What a function asks for that only passes requests on is its caller's own.
    """
    own: dict[Frame, float] = defaultdict(float)
    total: dict[Frame, float] = defaultdict(float)
    for known, value in sums.items():
        stack = known or (Frame("?"),)
        asks = next((frame for frame in reversed(stack) if not passes_on(frame.name)), stack[-1])
        own[asks] += value
        for frame in set(stack):  # one that calls itself counts once
            total[frame] += value
    found = [Function(frame, own[frame], total[frame]) for frame in total]
    return sorted(found, key=lambda one: (-abs(one.own), -abs(one.total), one.frame))
