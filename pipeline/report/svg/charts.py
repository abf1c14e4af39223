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
    grid,
    line,
    nice_ticks,
    path,
    tick_labels,
    words,
)

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 84, 16, 44
BINS = 16


def curve_chart(name: str, points: Sequence[CurvePoint]) -> Markup:
    """Return misses per operation over the size of the instruction cache, both builds."""
    across = _sizes(points)
    known = [v for one in points for v in (one.baseline, one.tuned) if v is not None]
    up = Scale(0, max([*known, 1e-9]) * 1.04, HEIGHT - BOTTOM, TOP + 24)
    parts = [*grid(up, LEFT, WIDTH - RIGHT), *_size_axis(across, points)]
    for build, look in (("baseline", "before"), ("tuned", "after")):
        parts += _series(build, look, across, up, points)
    return drawing(
        name,
        "I-cache misses per operation by size of the instruction cache",
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
    up = Scale(0, max(counts), HEIGHT - BOTTOM, TOP + 36)
    parts = [
        *grid(up, LEFT, WIDTH - RIGHT, whole=True),
        *_bars(counts, across, up),
        *_null_axis(across),
        *_null_mark("this version", null.tuned, across, "after", TOP),
        *_null_mark("baseline", null.baseline, across, "before", TOP + 16),
    ]
    title = f"{len(null.misses)} random layouts of the same code"
    return drawing(name, title, null.reason, WIDTH, HEIGHT, parts)


def _null_axis(across: Scale) -> list[Markup]:
    floor, middle = HEIGHT - BOTTOM, (LEFT + WIDTH - RIGHT) / 2
    ticks = nice_ticks(across.low, across.high, 7)
    marks = [
        words(across(value), floor + 16, label, "tick", "middle")
        for value, label in zip(ticks, tick_labels(ticks), strict=True)
    ]
    label = words(middle, HEIGHT - 8, "I-cache misses of the library", "tick", "middle")
    return [line(LEFT, floor, WIDTH - RIGHT, floor, "axis"), *marks, label]


def _null_mark(label: str, value: float, across: Scale, look: str, y: float) -> list[Markup]:
    x = across(value)
    return [
        line(x, y + 4, x, HEIGHT - BOTTOM, f"mark {look}"),
        words(x, y, label, f"label {look}", "middle"),
    ]


def _sizes(points: Sequence[CurvePoint]) -> Scale:
    sizes = [math.log2(one.geometry.size) for one in points]
    low, high = min(sizes), max(sizes)
    return Scale(low, high if high > low else low + 1, LEFT, WIDTH - RIGHT)


def _size_axis(across: Scale, points: Sequence[CurvePoint]) -> list[Markup]:
    sizes = sorted({one.geometry.size for one in points})
    marks = [
        words(across(math.log2(size)), HEIGHT - BOTTOM + 18, f"{size / 1024:g}", "tick", "middle")
        for size in sizes
    ]
    middle = (LEFT + WIDTH - RIGHT) / 2
    return [
        *marks,
        words(middle, HEIGHT - 6, "size of the instruction cache, KiB", "tick", "middle"),
    ]


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
    return [*marks, *_legend(build, look)]


def _legend(build: str, look: str) -> list[Markup]:
    """Return the name of a curve, above the plot."""
    x, y = LEFT + (0 if look == "before" else 130), TOP
    stroke = path([(x, y - 4), (x + 28, y - 4)], f"curve {look}")
    return [
        stroke,
        _marker(x + 14, y - 4, look, Markup()),
        words(x + 38, y, build, f"label {look}"),
    ]


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
