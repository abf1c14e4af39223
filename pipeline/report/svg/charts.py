"""The curve of misses over cache sizes, and the histogram of random layouts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from pipeline.evidence.model import CurvePoint, LayoutNull
from pipeline.report import text
from pipeline.report.svg.draw import (
    Scale,
    box,
    drawing,
    element,
    line,
    nice_ticks,
    path,
    words,
)

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 84, 16, 44
BINS = 16


def curve_chart(name: str, points: Sequence[CurvePoint]) -> Markup:
    """Return misses per operation over the size of the instruction cache, both builds."""
    across = _sizes(points)
    known = [v for one in points for v in (one.baseline, one.tuned) if v is not None]
    up = Scale(0, max([*known, 1e-9]) * 1.08, HEIGHT - BOTTOM, TOP)
    parts = [*_grid(up), *_size_axis(across, points)]
    for build, look in (("baseline", "before"), ("tuned", "after")):
        parts += _series(build, look, across, up, points)
    return drawing(
        name,
        "I1 misses per operation by size of the instruction cache",
        "; ".join(
            f"{text.kib(one.geometry.size)}: baseline {text.number(one.baseline)}, "
            f"tuned {text.number(one.tuned)}"
            for one in points
        ),
        WIDTH,
        HEIGHT,
        parts,
    )


def null_chart(name: str, null: LayoutNull) -> Markup:
    """Return the histogram of the random layouts' misses, with baseline and tuned marked."""
    everything = [*null.misses, null.tuned, null.baseline]
    room = 0.04 * (max(everything) - min(everything) or 1)
    across = Scale(min(everything) - room, max(everything) + room, LEFT, WIDTH - RIGHT)
    counts = _bins(null.misses, across.low, across.high)
    up = Scale(0, max(counts) * 1.25, HEIGHT - BOTTOM, TOP + 24)
    parts = [
        *_bars(counts, across, up),
        line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, "axis"),
    ]
    for value in nice_ticks(across.low, across.high, 7):
        parts.append(words(across(value), HEIGHT - BOTTOM + 16, f"{value:g}", "tick", "middle"))
    parts.append(
        words((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "I1 misses per operation", "tick", "middle")
    )
    for label, value, look, y in (
        ("this version", null.tuned, "after", TOP),
        ("baseline", null.baseline, "before", TOP + 16),
    ):
        parts += [
            line(across(value), y + 4, across(value), HEIGHT - BOTTOM, f"mark {look}"),
            words(across(value), y, label, f"label {look}", "middle"),
        ]
    return drawing(
        name,
        f"{len(null.misses)} random layouts of the same code",
        null.reason,
        WIDTH,
        HEIGHT,
        parts,
    )


def _sizes(points: Sequence[CurvePoint]) -> Scale:
    sizes = [math.log2(one.geometry.size) for one in points]
    low, high = min(sizes), max(sizes)
    return Scale(low, high if high > low else low + 1, LEFT, WIDTH - RIGHT)


def _grid(up: Scale) -> list[Markup]:
    marks = []
    for value in nice_ticks(up.low, up.high, 5):
        y = up(value)
        marks += [
            line(LEFT, y, WIDTH - RIGHT, y, "grid"),
            words(LEFT - 8, y + 4, f"{value:g}", "tick", "end"),
        ]
    return marks


def _size_axis(across: Scale, points: Sequence[CurvePoint]) -> list[Markup]:
    sizes = sorted({one.geometry.size for one in points})
    marks = [
        words(across(math.log2(size)), HEIGHT - BOTTOM + 18, text.kib(size), "tick", "middle")
        for size in sizes
    ]
    middle = (LEFT + WIDTH - RIGHT) / 2
    return [*marks, words(middle, HEIGHT - 6, "size of the instruction cache", "tick", "middle")]


def _series(
    build: str, look: str, across: Scale, up: Scale, points: Sequence[CurvePoint]
) -> list[Markup]:
    known = [
        (across(math.log2(one.geometry.size)), up(value), one.geometry.size, value)
        for one in points
        if (value := getattr(one, build)) is not None
    ]
    if not known:
        return []
    marks = [path([(x, y) for x, y, _, _ in known], f"curve {look}")]
    for x, y, size, value in known:
        title = element("title", f"{build}, {text.kib(size)}: {text.number(value, 3)}")
        marks.append(_marker(x, y, look, title))
    # The curves meet in large caches: they are named where they are furthest apart.
    x, y = known[0][0], known[0][1]
    marks.append(words(x + 10, y - 8 if look == "before" else y + 18, build, f"label {look}"))
    return marks


def _marker(x: float, y: float, look: str, title: Markup) -> Markup:
    """Return a dot or a square, so that colour is not the only difference."""
    if look == "after":
        return element("circle", title, cx=x, cy=y, r=4.5, class_=f"dot {look}")
    return element("rect", title, x=x - 4, y=y - 4, width=8, height=8, class_=f"dot {look}")


def _bins(values: Sequence[float], low: float, high: float) -> list[int]:
    counts = [0] * BINS
    for value in values:
        counts[min(int((value - low) / (high - low) * BINS), BINS - 1)] += 1
    return counts


def _bars(counts: Sequence[int], across: Scale, up: Scale) -> list[Markup]:
    step = (across.end - across.start) / BINS
    return [
        box(across.start + number * step + 1, up(count), step - 2, up(0) - up(count), "bin")
        for number, count in enumerate(counts)
        if count
    ]
