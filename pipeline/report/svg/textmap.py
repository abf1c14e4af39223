"""The text map: a row for each 4 KiB page, a box for each function, coloured by heat.

Pages without functions are drawn as one thin row, whatever their number: BOLT leaves the code as
it was before in the file, and nothing of that is executed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from pipeline.report import text
from pipeline.report.code_model import CodeMap, MapFunction
from pipeline.report.rows import anchor
from pipeline.report.svg.draw import box, drawing, element, line, words

PAGE = 4096
LINE = 64
LEVELS = 6
Why = Mapping[str, str]
GUTTER, ROW, GAP, THIN, HEAD = 96, 26, 6, 16, 4
NOTE = 12
"""Room below the row where the hot code ends, for the words that say so."""
PER_UNIT = 4  # bytes of a unit of the drawing
WIDTH = GUTTER + PAGE // PER_UNIT + 8
# Letters of the names in boxes are about so wide, and are left out where they do not fit.
LETTER = 6.4


@dataclass(frozen=True)
class Row:
    """A page with functions at its height in the drawing, or ``pages`` without any."""

    page: int
    y: float
    functions: tuple[MapFunction, ...]
    pages: int = 1


def text_map(name: str, code: CodeMap, why: Why) -> Markup:
    """Return the map of one library; ``why`` has a sentence for each function of the table."""
    rows, height = _rows(code)
    hottest = max((one.count or 0 for one in code.functions), default=0)
    parts: list[Markup] = []
    for row in rows:
        parts += _page(row, name) if row.functions else [_empty(row, code)]
    parts += [_function(one, rows, hottest, why) for one in code.functions]
    parts += _border(code, rows)
    return drawing(
        name,
        f"Text map of the {code.build} build",
        f"{len(code.functions)} functions on {sum(bool(r.functions) for r in rows)} pages of 4 KiB"
        f"; colour is heat: {code.counted_by}",
        WIDTH,
        height,
        [_lines_pattern(name), *parts],
    )


def heat_level(count: int | None, hottest: int) -> str:
    """Return the CSS class of a count: unknown, never, or 1 (least) to LEVELS, by its logarithm."""
    if count is None:
        return "heat-unknown"
    if count == 0 or hottest == 0:
        return "heat-never"
    share = math.log(count + 1) / math.log(hottest + 1)
    return f"heat-{max(1, math.ceil(share * LEVELS))}"


def _rows(code: CodeMap) -> tuple[list[Row], float]:
    """Return the rows from the top, and the height of them all."""
    on_page: dict[int, list[MapFunction]] = {}
    for one in code.functions:
        for page in range(one.address // PAGE, (one.address + one.size - 1) // PAGE + 1):
            on_page.setdefault(page, []).append(one)
    rows: list[Row] = []
    y: float = HEAD
    for page in sorted(on_page):
        missing = page - rows[-1].page - 1 if rows else 0
        if missing:
            rows.append(Row(page - missing, y, (), missing))
            y += THIN + GAP
        rows.append(Row(page, y, tuple(on_page[page])))
        y += ROW + GAP + (NOTE if page == _last_hot(code) else 0)
    return rows, y + 14


def _lines_pattern(name: str) -> Markup:
    """Return the ground of a page: a stroke for every cache line."""
    width = LINE / PER_UNIT
    stroke = line(0.25, 0, 0.25, ROW, "lines")
    pattern = element(
        "pattern",
        stroke,
        id=f"{name}-lines",
        x=GUTTER,
        width=width,
        height=ROW,
        patternUnits="userSpaceOnUse",
    )
    return element("defs", pattern)


def _page(row: Row, name: str) -> list[Markup]:
    width = PAGE / PER_UNIT
    return [
        box(GUTTER, row.y, width, ROW, "page"),
        element("rect", x=GUTTER, y=row.y, width=width, height=ROW, fill=f"url(#{name}-lines)"),
        words(GUTTER - 8, row.y + 17, text.address(row.page * PAGE), "address", "end"),
    ]


def _empty(row: Row, code: CodeMap) -> Markup:
    start, end = row.page * PAGE, (row.page + row.pages) * PAGE
    held = [s.name for s in code.sections if s.address < end and s.address + s.size > start]
    what = f"{text.kib(row.pages * PAGE)} without functions"
    label = f"{what} ({', '.join(held)})" if held else what
    return words(GUTTER, row.y + 11, f"⋯ {label}", "tick")


def _function(one: MapFunction, rows: list[Row], hottest: int, why: Why) -> Markup:
    """Return a function: a box on each page it lies on, in a link to its row of the table."""
    look = "heat-cold" if one.part == "cold" else heat_level(one.count, hottest)
    boxes = list(_boxes(one, rows))
    parts: list[Markup] = [element("title", _tells(one, why))]
    parts += [box(x, y, width, ROW - 4, f"fn {look}") for x, y, width in boxes]
    x, y, width = max(boxes, key=lambda place: place[2])
    if len(one.name) * LETTER + 8 < width:
        parts.append(words(x + 4, y + 15, one.name, f"name {look}"))
    return element(
        "a",
        Markup("").join(parts),
        href=f"#{anchor(one.name)}" if one.name in why else None,
        tabindex="-1",
        data_fn=one.parent or one.name,
    )


def _boxes(one: MapFunction, rows: list[Row]) -> Iterator[tuple[float, float, float]]:
    """Yield (x, y, width) of each part of a function; a thin one is still a unit wide."""
    for row in rows:
        start = max(one.address, row.page * PAGE)
        end = min(one.address + one.size, (row.page + 1) * PAGE)
        if row.functions and end > start:
            x = GUTTER + (start - row.page * PAGE) / PER_UNIT
            yield x, row.y + 2, max((end - start) / PER_UNIT - 0.5, 1)


def _tells(one: MapFunction, why: Why) -> str:
    """Return what hovering says."""
    lines = (one.address + one.size - 1) // LINE - one.address // LINE + 1
    facts = [
        one.name,
        f"at {text.address(one.address)} in {one.section}",
        f"{one.size:,} bytes on {lines} cache {'line' if lines == 1 else 'lines'}",
    ]
    if one.part != "cold":
        facts.append("count unknown" if one.count is None else f"count {one.count:,}")
    return " · ".join([*facts, *filter(None, [why.get(one.name)])])


def _last_hot(code: CodeMap) -> int | None:
    """Return the page on which the listed hot code ends."""
    return None if code.hot_end is None else (code.hot_end - 1) // PAGE


def _border(code: CodeMap, rows: list[Row]) -> list[Markup]:
    """Return the line at which the listed hot code ends."""
    last = _last_hot(code)
    if code.hot_end is None or last is None:
        return []
    row = next(one for one in rows if one.page == last and one.functions)
    x = GUTTER + (code.hot_end - last * PAGE) / PER_UNIT
    right = x > WIDTH - 130
    label = words(
        x - 5 if right else x + 5,
        row.y + ROW + 12,
        "hot.txt ends here",
        "border",
        "end" if right else "start",
    )
    return [line(x, row.y - 3, x, row.y + ROW + 13, "border"), label]
