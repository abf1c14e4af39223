"""The history of a profile as one HTML file or one drawing, which open offline."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from pipeline.report import text
from pipeline.report.history_model import QUANTITIES, SIGNS, History, Point, Quantity
from pipeline.report.history_text import HEADINGS, differs, notes, rows
from pipeline.report.svg.draw import element
from pipeline.report.svg.series import HEIGHT, WIDTH, Dot, series_chart
from pipeline.report.templating import TEMPLATES, environment

CURRENT, REJECTED = "* ", "✕ "
"""Before the name of a version below its dot."""
TEMPLATE = "history.html.j2"


def render_history_html(history: History) -> str:
    """Return a page with a chart for each quantity and the table, the newest version last."""
    return (
        environment(html=True)
        .get_template(TEMPLATE)
        .render(
            profile=history.profile,
            style=_style(),
            charts=charts(history),
            headings=HEADINGS,
            rows=rows(history),
            notes=notes(history),
            crossed=any(point.rejected for point in history.points),
        )
    )


def render_history_svg(history: History) -> str:
    """Return all charts, one below the other, as one SVG file."""
    drawn = [
        element("g", chart, transform=f"translate(0 {number * HEIGHT})")
        for number, chart in enumerate(charts(history))
    ]
    height = HEIGHT * len(drawn)
    return (
        element(
            "svg",
            Markup("").join([element("style", _style()), *drawn]),
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {WIDTH} {height}",
            width=WIDTH,
            height=height,
        )
        + "\n"
    )


def charts(history: History) -> list[Markup]:
    """Return a chart for each quantity."""
    labels = list(zip(_moments(history.points), map(_short, history.points), strict=True))
    return [
        series_chart(
            f"plot-{quantity.field}",
            _title(quantity),
            [
                _dot(point, quantity, value)
                for point, value in zip(history.points, history.series(quantity.field), strict=True)
            ],
            labels,
            history.breaks(quantity.field),
            SIGNS,
        )
        for quantity in QUANTITIES
    ]


def _moments(points: Sequence[Point]) -> list[str]:
    """Return the day of each version; where days come twice, the time as well."""
    days = [one.created[:10] for one in points]
    if len(set(days)) == len(days):
        return days
    return [f"{one.created[5:10]} {one.created[11:16]}" for one in points]


def _short(point: Point) -> str:
    """Return the end of a version's name, with * if it is current, and ✕ if it was rejected."""
    name = point.version.rpartition("-")[2]
    return f"{CURRENT if point.current else REJECTED if point.rejected else ''}{name}"


def _title(quantity: Quantity) -> str:
    better = "more is better" if quantity.more_is_better else "less is better"
    return f"{quantity.heading}{f', {quantity.unit}' if quantity.unit else ''} ({better})"


def _dot(point: Point, quantity: Quantity, value: float | None) -> Dot | None:
    if value is None:
        return None
    said = differs(point)
    name = f"{point.version}, judged {text.day(point.created)}{f' ({said})' if said else ''}"
    if quantity.field == "gain":
        return Dot(name, value, text.change(value), point.gain_low, point.gain_high)
    return Dot(name, value, text.quantity(value, quantity.unit))


def _style() -> Markup:
    return Markup((TEMPLATES / "style.css").read_text("utf-8"))
