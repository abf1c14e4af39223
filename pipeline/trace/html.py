"""A trace as one self-contained HTML page: numbers, and plots as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from pipeline.trace.read import Process
from pipeline.trace.statistics import Bin, Statistics
from pipeline.trace.words import facts, share, size, warnings

WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM = 560, 240, 84, 16, 72
LABEL_STEP = 22
"""Labels of bars stand as far from each other, or there would be no telling them apart."""
SHOWN_THREADS = 100
NOTHING = share(0, 1)
"""A share that is too small to be written."""


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram: what stands below it, its share of the highest, its tooltip."""

    label: str
    height: float
    title: str


def render_page(name: str, processes: Sequence[Process], found: Statistics) -> str:
    """Return the page about the trace file ``name``, showing one of its ``processes``."""
    environment = Environment(
        loader=PackageLoader("pipeline.trace", "."), undefined=StrictUndefined, autoescape=True
    )
    environment.globals.update(size=size, share=share)
    return environment.get_template("page.html.j2").render(
        name=name,
        processes=sorted(enumerate(processes), key=lambda row: -row[1].about_events),
        found=found,
        facts=facts(found),
        warnings=warnings(found.process),
        size_plot=histogram(_bars(found.sizes, "requests", size)),
        rows=size_rows(found),
        byte_plot=histogram(_bars(found.sizes, "bytes", size, by_bytes=True)),
        life_plot=histogram(_bars(found.lives, "objects", lambda top: f"{top:,.0f}")),
        live_plot=live_plot(found),
        threads=sorted(found.threads, key=lambda t: -t.births - t.frees)[:SHOWN_THREADS],
    )


def histogram(bars: Sequence[Bar]) -> str:
    """Return bars side by side as SVG; what they say is in their tooltips and in the table.

    Labels hang to the left of their bar, so none leaves the drawing at its right edge.
    """
    step = (WIDTH - LEFT - RIGHT) / max(1, len(bars))
    labelled = math.ceil(LABEL_STEP / step)
    room, floor = HEIGHT - BOTTOM - 10, HEIGHT - BOTTOM
    parts = []
    for place, bar in enumerate(bars):
        left, tall = LEFT + place * step, bar.height * room
        middle = left + step * 0.43
        label = (
            f'<text class="axis" x="{middle + 4:.1f}" y="{floor + 12}" '
            f'transform="rotate(-50 {middle + 4:.1f} {floor + 12})">{bar.label}</text>'
        )
        parts.append(
            f'<g><title>{bar.title}</title><rect x="{left:.1f}" y="{floor - tall:.1f}" '
            f'width="{step * 0.86:.1f}" height="{tall:.1f}"/>'
            f"{'' if place % labelled else label}</g>"
        )
    return _svg("".join(parts))


def size_rows(found: Statistics) -> tuple[list[Bin], list[Bin]]:
    """Return the sizes that have a share one can see, and those that have none."""
    count = sum(one.count for one in found.sizes)
    total = sum(one.bytes for one in found.sizes)

    def seen(one: Bin) -> bool:
        shares = share(one.count, count), share(one.bytes, total)
        return shares != (NOTHING, NOTHING)

    return list(filter(seen, found.sizes)), [one for one in found.sizes if not seen(one)]


def live_plot(found: Statistics) -> str:
    """Return live bytes over time as SVG, in steps: an idle program stays level."""
    points, most = found.timeline, max(1, found.peak_bytes)
    if not points:
        return _svg("")
    end = max(points[-1].seconds, 1e-9)
    room = HEIGHT - BOTTOM - 10
    floor = HEIGHT - BOTTOM
    line, level = [], f"{floor}"
    for p in points:
        place = f"{LEFT + (WIDTH - LEFT - 10) * p.seconds / end:.1f}"
        before, level = level, f"{floor - room * p.bytes / most:.1f}"
        line += [f"{place},{before}", f"{place},{level}"]
    return _svg(
        f'<polygon points="{LEFT},{floor} {" ".join(line)} {WIDTH - 10},{floor}"/>'
        f'<text class="axis" x="{LEFT - 6}" y="16">{size(most)}</text>'
        f'<text class="axis" x="{LEFT - 6}" y="{floor}">0</text>'
        f'<text class="axis" x="{WIDTH - 10}" y="{floor + 16}">{end:.3g} s</text>',
        height=floor + 22,
    )


def without_gaps(bins: Sequence[Bin]) -> list[Bin]:
    """Return the bins with empty ones between them, so that each step of the axis is a doubling."""
    there = {one.top: one for one in bins}
    exponents = [top.bit_length() - 1 for top in there]
    span = range(min(exponents, default=0), max(exponents, default=-1) + 1)
    return [there.get(1 << power, Bin(1 << power, 0, 0)) for power in span]


def _bars(
    found: Sequence[Bin], noun: str, label: Callable[[float], str], *, by_bytes: bool = False
) -> list[Bar]:
    bins = without_gaps(found)
    values = [b.bytes if by_bytes else b.count for b in bins]
    most, total = max(values, default=1) or 1, sum(values)
    return [
        Bar(
            label(b.top),
            value / most,
            f"up to {label(b.top)}: {value:,} {noun}, {share(value, total)}",
        )
        for b, value in zip(bins, values, strict=True)
    ]


def _svg(content: str, height: int = HEIGHT) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img">{content}</svg>'
