"""Dots with their intervals. The right is always better, whatever the quantity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from pipeline.judge.statistics import Interval
from pipeline.report import text
from pipeline.report.svg.draw import (
    Scale,
    box,
    drawing,
    element,
    line,
    nice_ticks,
    small,
    tick_labels,
    words,
)

KEY_WIDTH, KEY_HEIGHT, KEY_EDGE = 420, 104, 24
CELL_WIDTH, CELL_HEIGHT, CELL_EDGE = 200, 24, 6
# A plot shows at least this much on either side of "no change", as a fraction.
NARROWEST = 0.02


@dataclass(frozen=True)
class Span:
    """What an axis shows: ``limit`` on either side of 1; ``fewer`` turns it, as fewer is better."""

    limit: float
    fewer: bool = False

    def scale(self, start: float, end: float) -> Scale:
        """Return the scale between two places."""
        low, high = 1 - self.limit, 1 + self.limit
        return Scale(high, low, start, end) if self.fewer else Scale(low, high, start, end)


def span_of(intervals: Iterable[Interval], margin: float, fewer: bool = False) -> Span:
    """Return a span that holds all values, twice the margin, and most of the intervals.

    One interval that is very wide must not make dots of all the others: it leaves the plot.
    """
    known = list(intervals)
    ends = sorted(max(abs(one.low - 1), abs(one.high - 1)) for one in known)
    most = ends[(3 * len(ends) - 1) // 4] if ends else 0.0
    values = [abs(one.value - 1) for one in known]
    return Span(1.08 * max([*values, most, 2 * margin, NARROWEST]), fewer)


def key_plot(
    name: str, title: str, interval: Interval, margin: float, look: str, fewer: bool
) -> Markup:
    """Return the drawing of one key: axis, margin, interval and value; ``look`` is its style."""
    span = span_of([interval], margin, fewer)
    scale = span.scale(KEY_EDGE, KEY_WIDTH - KEY_EDGE)
    said = f"{text.change(interval.value)}, interval {text.ends(interval)}"
    middle = 36
    return drawing(
        name,
        title,
        f"{said}, margin ±{margin * 100:.1f} %. Better is to the right.",
        KEY_WIDTH,
        KEY_HEIGHT,
        [
            _margin(scale, margin, 12, 48),
            *_axis(scale, 60, span),
            line(scale(1), 6, scale(1), 66, "zero"),
            *_dot(scale, interval, middle, 7, look),
            words(scale(1), KEY_HEIGHT - 8, "no change", "tick", "middle"),
            words(KEY_EDGE, KEY_HEIGHT - 8, "← worse", "tick"),
            words(KEY_WIDTH - KEY_EDGE, KEY_HEIGHT - 8, "better →", "tick", "end"),
        ],
    )


def cell_plot(
    title: str, interval: Interval | None, span: Span, margin: float, look: str
) -> Markup:
    """Return one row's plot; without an interval, the empty axis."""
    scale = span.scale(CELL_EDGE, CELL_WIDTH - CELL_EDGE)
    marks = _dot(scale, interval, CELL_HEIGHT / 2, 4.5, look) if interval else []
    return small(
        title,
        CELL_WIDTH,
        CELL_HEIGHT,
        [
            _margin(scale, margin, 0, CELL_HEIGHT),
            line(scale(1), 0, scale(1), CELL_HEIGHT, "zero"),
            *marks,
        ],
    )


def cell_axis(span: Span) -> Markup:
    """Return the axis that heads a column of ``cell_plot``."""
    scale = span.scale(CELL_EDGE, CELL_WIDTH - CELL_EDGE)
    ends = "axis of the plots below; better is to the right"
    far = max(nice_ticks(0, 0.9 * span.limit, 3))
    ticks = [-far, 0.0, far]
    marks = [
        words(scale(1 + change), 12, label, "tick", "middle")
        for change, label in zip(ticks, _percents(ticks), strict=True)
    ]
    return small(ends, CELL_WIDTH, 16, marks)


def _percents(changes: Sequence[float]) -> list[str]:
    """Return changes as per cent, all of one axis with the same number of digits."""
    labels = tick_labels([round(100 * abs(change), 9) for change in changes])
    signs = ["" if not change else "+" if change > 0 else "-" for change in changes]
    return [f"{sign}{label} %" for sign, label in zip(signs, labels, strict=True)]


def _margin(scale: Scale, margin: float, top: float, height: float) -> Markup:
    left, right = sorted((scale(1 - margin), scale(1 + margin)))
    return box(left, top, right - left, height, "margin")


def _axis(scale: Scale, y: float, span: Span) -> list[Markup]:
    marks = [line(KEY_EDGE, y, KEY_WIDTH - KEY_EDGE, y, "axis")]
    ticks = nice_ticks(-span.limit, span.limit, 6)
    for change, label in zip(ticks, _percents(ticks), strict=True):
        place = scale(1 + change)
        marks += [
            line(place, y, place, y + 4, "axis"),
            words(place, y + 16, label, "tick", "middle"),
        ]
    return marks


def _dot(scale: Scale, interval: Interval, y: float, radius: float, look: str) -> list[Markup]:
    ends = [scale(end) for end in (interval.low, interval.high)]
    inside = [scale(end) for end in (interval.low, interval.high) if scale.holds(end)]
    left, right = sorted(ends)
    marks = [line(left, y, right, y, f"bar {look}")] if right - left > 1 else []
    return [
        *marks,
        *(
            line(x, y - radius - 2, x, y + radius + 2, f"end {look}")
            for x in (inside if marks else ())
        ),
        element("circle", cx=scale(interval.value), cy=y, r=radius, class_=f"dot {look}"),
    ]
