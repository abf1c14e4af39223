"""A quantity of several versions over time: one dot for each, with its interval where known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from markupsafe import Markup

from pipeline.report.svg.draw import (
    Scale,
    drawing,
    element,
    grid,
    line,
    path,
    words,
)
from pipeline.report.text import figure

WIDTH, HEIGHT = 640, 260
LEFT, RIGHT, TOP, BOTTOM = 72, 40, 28, 66
ROOM = 0.08
"""Room above and below the values, as a share of their span."""
LEAST_SPAN = 0.05
"""A share of the largest value: a smaller swing is no full height, lest noise look like news."""
LABEL = 100
"""Labels below the dots stand as far from each other."""


@dataclass(frozen=True)
class Dot:
    """One version: its name, its value as number and in words, and the ends of its interval."""

    name: str
    value: float
    words: str
    low: float | None = None
    high: float | None = None


Place = tuple[float, float]
Label = tuple[str, str]
"""What stands below a dot: the day and the version."""


def series_chart(
    name: str,
    title: str,
    dots: Sequence[Dot | None],
    labels: Sequence[Label],
    breaks: Sequence[str] = (),
    meanings: Mapping[str, str] = MappingProxyType({}),
) -> Markup:
    """Return the values from the oldest to the newest; a version without one leaves a gap.

    ``breaks`` has a sign for each version that does not continue the one before: no line leads
    there, and the sign stands above its dot. The foot says what the signs mean that there are.
    """
    signs = breaks or [""] * len(dots)
    known = [(place, dot) for place, dot in enumerate(dots) if dot is not None]
    across = Scale(-0.5, max(len(dots), 1) - 0.5, LEFT, WIDTH - RIGHT)
    up = _scale([dot for _, dot in known])
    runs = _runs([None if dot is None else (across(place), up(dot.value))
                  for place, dot in enumerate(dots)], signs)  # fmt: skip
    parts = [
        *grid(up, LEFT, WIDTH - RIGHT),
        *(path(run, "curve after") for run in runs if len(run) > 1),
    ]
    for place, dot in known:
        parts += _mark(across(place), up, dot)
        if signs[place]:
            parts.append(_sign(across(place), up(_top(dot)), signs[place]))
    parts.append(words(LEFT, TOP - 12, title, "label after"))
    parts += _labels(across, labels)
    parts.append(
        words(LEFT, HEIGHT - 8, "; ".join((_begin(up), *_legend(signs, meanings))), "tick")
    )
    told = "; ".join(f"{dot.name}: {dot.words}" for _, dot in known)
    return drawing(name, title, told or "unknown for all versions", WIDTH, HEIGHT, parts)


def _runs(points: Sequence[Place | None], signs: Sequence[str]) -> list[list[Place]]:
    """Return the places that one line connects each: none leads over a gap, or to a break."""
    runs: list[list[Place]] = [[]]
    for point, sign in zip(points, signs, strict=True):
        if sign or point is None:
            runs.append([])
        if point is not None:
            runs[-1].append(point)
    return runs


def _top(dot: Dot) -> float:
    return dot.value if dot.high is None else dot.high


def _sign(x: float, y: float, sign: str) -> Markup:
    return words(x, y - 8, sign, "label after", "middle")


def _labels(across: Scale, labels: Sequence[Label]) -> list[Markup]:
    """Return the days and versions, so many as there is room for; the newest is among them."""
    each = math.ceil(LABEL * len(labels) / (WIDTH - RIGHT - LEFT))
    shown = [
        (place, said) for place, said in enumerate(labels) if not (len(labels) - 1 - place) % each
    ]
    return [
        words(across(place), HEIGHT - BOTTOM + 18 + 16 * line_, part, "tick", "middle")
        for place, said in shown
        for line_, part in enumerate(said)
    ]


def _legend(signs: Sequence[str], meanings: Mapping[str, str]) -> list[str]:
    """Return what the signs mean that are there, for a drawing may stand alone."""
    said = [f"{sign} {meaning}" for sign, meaning in meanings.items() if sign in signs]
    return [", ".join(said)] if said else []


def _begin(up: Scale) -> str:
    """Return where the axis begins, lest its foot be taken for nothing."""
    return f"oldest to newest; the axis begins at {figure(up.low)}, not at 0"


def _scale(dots: Sequence[Dot]) -> Scale:
    ends = [end for dot in dots for end in (dot.value, dot.low, dot.high) if end is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    span = max(high - low, LEAST_SPAN * abs(high)) or 1.0
    middle, half = (low + high) / 2, span * (0.5 + ROOM)
    return Scale(middle - half, middle + half, HEIGHT - BOTTOM, TOP)


def _mark(x: float, up: Scale, dot: Dot) -> list[Markup]:
    title = element("title", f"{dot.name}: {dot.words}")
    circle = element("circle", title, cx=x, cy=up(dot.value), r=4.5, class_="dot after")
    if dot.low is None or dot.high is None:
        return [circle]
    return [line(x, up(dot.low), x, up(dot.high), "bar after"), circle]
