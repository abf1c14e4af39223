"""A quantity of several versions over time: one dot for each, with its interval where known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from pipeline.report.svg.draw import Scale, drawing, element, line, nice_ticks, path, words

WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 72, 16, 28, 30
ROOM = 0.08
"""Room above and below the values, as a share of their span."""


@dataclass(frozen=True)
class Dot:
    """One version: its name, its value as number and in words, and the ends of its interval."""

    name: str
    value: float
    words: str
    low: float | None = None
    high: float | None = None


def series_chart(name: str, title: str, dots: Sequence[Dot | None]) -> Markup:
    """Return the values from the oldest to the newest; a version without one leaves a gap."""
    known = [(place, dot) for place, dot in enumerate(dots) if dot is not None]
    across = Scale(-0.5, max(len(dots), 1) - 0.5, LEFT, WIDTH - RIGHT)
    up = _scale([dot for _, dot in known])
    points = [(across(place), up(dot.value)) for place, dot in known]
    parts = [*_grid(up), *([path(points, "curve after")] if len(points) > 1 else [])]
    for place, dot in known:
        parts += _mark(across(place), up, dot)
    parts.append(words(LEFT, TOP - 12, title, "label after"))
    parts.append(words(LEFT, HEIGHT - 8, "oldest", "tick"))
    parts.append(words(WIDTH - RIGHT, HEIGHT - 8, "newest", "tick", "end"))
    told = "; ".join(f"{dot.name}: {dot.words}" for _, dot in known)
    return drawing(name, title, told or "unknown for all versions", WIDTH, HEIGHT, parts)


def _scale(dots: Sequence[Dot]) -> Scale:
    ends = [end for dot in dots for end in (dot.value, dot.low, dot.high) if end is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    room = ROOM * ((high - low) or abs(high) or 1.0)
    return Scale(low - room, high + room, HEIGHT - BOTTOM, TOP)


def _grid(up: Scale) -> list[Markup]:
    marks = []
    for value in nice_ticks(up.low, up.high, 5):
        y = up(value)
        marks += [
            line(LEFT, y, WIDTH - RIGHT, y, "grid"),
            words(LEFT - 8, y + 4, f"{value:,.10g}", "tick", "end"),
        ]
    return marks


def _mark(x: float, up: Scale, dot: Dot) -> list[Markup]:
    title = element("title", f"{dot.name}: {dot.words}")
    circle = element("circle", title, cx=x, cy=up(dot.value), r=4.5, class_="dot after")
    if dot.low is None or dot.high is None:
        return [circle]
    return [line(x, up(dot.low), x, up(dot.high), "bar after"), circle]
