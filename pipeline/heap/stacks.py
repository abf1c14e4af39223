"""Call stacks with the lines of their calls, and the bytes of each; lines are joined for display.

A function that calls from several lines is one row for a reader, unless the lines are asked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple


class Frame(NamedTuple):
    """A function, and where in the sources it calls: "shop.cc:12", or "" where nobody knows.

    ``folder`` is the one that this file lay in when it was compiled: for tools that look it up.
    """

    name: str
    place: str = ""
    folder: str = ""


Stack = tuple[Frame, ...]
"""Functions, outermost first."""
Sums = Mapping[Stack, float]


def at_calls(sums: Sums) -> dict[Stack, float]:
    """Join the lines of each function as called from those above it: for trees."""
    return _joined(sums, lambda stack, at: tuple(frame.name for frame in stack[: at + 1]))


def at_functions(sums: Sums) -> dict[Stack, float]:
    """Join all lines of each function: for tables."""
    return _joined(sums, lambda stack, at: stack[at].name)


def without_folders(sums: Sums) -> dict[Stack, float]:
    """Return the sums for readers: a line is the same in whichever folder it was compiled."""
    return _summed(sums, lambda stack: tuple(Frame(frame.name, frame.place) for frame in stack))


def without_places(sums: Sums) -> dict[Stack, float]:
    """Return the sums by functions alone."""
    return _summed(sums, lambda stack: tuple(Frame(frame.name) for frame in stack))


def _joined(sums: Sums, key: Callable[[Stack, int], Hashable]) -> dict[Stack, float]:
    """Give all frames with the same key the same place: where most bytes came or went."""
    weights: dict[Hashable, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for stack, value in sums.items():
        for at, frame in enumerate(stack):
            weights[key(stack, at)][frame.place] += abs(value)
    places = {known: _place(by_place) for known, by_place in weights.items()}
    return _summed(
        sums,
        lambda stack: tuple(
            Frame(frame.name, places[key(stack, at)]) for at, frame in enumerate(stack)
        ),
    )


def _place(weights: Mapping[str, float]) -> str:
    known = sorted((place for place in weights if place), key=lambda one: (-weights[one], one))
    more = f" and {len(known) - 1} more" if len(known) > 1 else ""
    return f"{known[0]}{more}" if known else ""


def _summed(sums: Sums, joined: Callable[[Stack], Stack]) -> dict[Stack, float]:
    """Return the sums of stacks that become the same; what cancels out is gone."""
    found: dict[Stack, float] = defaultdict(float)
    for stack, value in sums.items():
        found[joined(stack)] += value
    return {stack: value for stack, value in found.items() if value}
