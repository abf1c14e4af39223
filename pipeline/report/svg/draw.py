"""What all drawings share: scales, ticks, and elements whose text is escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

Number = float | int


@dataclass(frozen=True)
class Scale:
    """A straight line from values (``low`` to ``high``) to places (``start`` to ``end``)."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the place of ``value``; values beyond the scale are put at its end."""
        inside = min(max(value, min(self.low, self.high)), max(self.low, self.high))
        share = (inside - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 2)

    def holds(self, value: float) -> bool:
        """Return whether ``value`` lies on the scale."""
        return min(self.low, self.high) <= value <= max(self.low, self.high)


def element(tag: str, content: object = "", /, **attributes: object) -> Markup:
    """Return an SVG element; content that is not markup is escaped, and so are attributes.

    ``class_`` is written class, ``font_size`` font-size. What is None is left out.
    """
    names = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    spelled = Markup("").join(
        Markup(' {}="{}"').format(name, _spelled(value))
        for name, value in names.items()
        if value is not None
    )
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(tag), spelled, content)


def _spelled(value: object) -> object:
    """Return a number with two digits behind the point at most: more cannot be seen."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def drawing(
    name: str, title: str, description: str, width: Number, height: Number, parts: Iterable[Markup]
) -> Markup:
    """Return an ``svg`` with title and description, as screen readers want it.

    ``name`` is the stem of its ids and has to be unique in the page.
    """
    head = [
        element("title", title, id=f"{name}-title"),
        element("desc", description, id=f"{name}-desc"),
    ]
    return element(
        "svg",
        Markup("").join([*head, *parts]),
        class_="drawing",
        id=name,
        role="img",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        aria_labelledby=f"{name}-title {name}-desc",
    )


def small(title: str, width: Number, height: Number, parts: Iterable[Markup]) -> Markup:
    """Return a drawing for a cell of a table: its title says all that it shows."""
    return element(
        "svg",
        Markup("").join([element("title", title), *parts]),
        class_="small",
        role="img",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
    )


def line(x1: Number, y1: Number, x2: Number, y2: Number, class_: str) -> Markup:
    """Return a straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def box(x: Number, y: Number, width: Number, height: Number, class_: str) -> Markup:
    """Return a rectangle."""
    return element("rect", x=x, y=y, width=max(width, 0), height=height, class_=class_)


def words(x: Number, y: Number, content: object, class_: str, anchor: str = "start") -> Markup:
    """Return text; ``anchor`` is start, middle or end."""
    return element("text", content, x=x, y=y, class_=class_, text_anchor=anchor)


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round values between ``low`` and ``high``, about so many."""
    span = max(high - low, 1e-12)
    power = 10 ** math.floor(math.log10(span / about))
    step = next(s for s in (1, 2, 5, 10) if span / (s * power) <= about) * power
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def tick_labels(ticks: Sequence[float]) -> list[str]:
    """Return the values of one axis, all with the same number of digits behind the point."""
    spelled = [f"{value:.12f}".rstrip("0") for value in ticks]
    digits = max((len(one.partition(".")[2]) for one in spelled), default=0)
    return [f"{value:,.{digits}f}" for value in ticks]


def grid(up: Scale, left: Number, right: Number, whole: bool = False) -> list[Markup]:
    """Return labelled lines across at round values; ``whole``: at whole numbers alone."""
    ticks = [one for one in nice_ticks(up.low, up.high, 5) if not (whole and one % 1)]
    marks = []
    for value, label in zip(ticks, tick_labels(ticks), strict=True):
        y = up(value)
        marks += [line(left, y, right, y, "grid"), words(left - 8, y + 4, label, "tick", "end")]
    return marks


def path(points: Sequence[tuple[float, float]], class_: str) -> Markup:
    """Return a line through points."""
    return element("path", d="M" + "L".join(f"{x},{y}" for x, y in points), class_=class_)
