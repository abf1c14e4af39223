"""The history of a profile as text for terminals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table

from pipeline.report import text
from pipeline.report.columns import narrow
from pipeline.report.history_model import OTHER, QUANTITIES, SAME, UNSURE, History, Point
from pipeline.report.svg.series import LEAST_SPAN
from pipeline.report.terminal import fitted, plain

VERSION = "version"
HEADINGS = (
    *("", VERSION, "judged", "mode", "throughput", "interval"),
    *("I-cache\nmisses", "instructions\nper op", "peak\nMiB", "text\nbytes", ""),
)
FIRST_FIGURE = 4  # of the headings
SPARED = ("text\nbytes", "instructions\nper op", "mode", "peak\nMiB", "judged", "interval")
"""Columns that a narrow terminal does without, the first one first."""
LEVELS = "▁▂▃▄▅▆▇█"
GAP = "·"


def render_history(history: History) -> str:
    """Return a row for each version, the newest last, and a line of bars for each quantity.

    On a narrow terminal columns move to a second table; those without room there are named below,
    and no figure is cut. What became of a version stands below, too, for a reason may be long.
    """
    cells = [row[:-1] for row in rows(history)]
    table, moved = fitted(HEADINGS[:-1], cells, SPARED, FIRST_FIGURE)
    more, out = _second(cells, moved)
    said = [f"{one.version}: {what}" for one in history.points if (what := remark(one))]
    bars = Table(box=None, pad_edge=False, show_header=False)
    for quantity in QUANTITIES:
        values = history.series(quantity.field)
        better = "more is better" if quantity.more_is_better else "less is better"
        line = sparkline(values, history.breaks(quantity.field))
        bars.add_row(quantity.heading, line, better)
    further = (f"note: {one}" for one in notes(history))
    return plain(table, *more, *said, "", bars, *narrow(out), *further)


def _second(
    cells: Sequence[Sequence[str]], moved: Sequence[str]
) -> tuple[list[RenderableType], list[str]]:
    """Return a table of what the first one had no room for, and the headings still left out."""
    if not moved:
        return [], []
    kept = [i for i, heading in enumerate(HEADINGS[:-1]) if heading in (VERSION, *moved)]
    headings, rows = [HEADINGS[i] for i in kept], [[row[i] for i in kept] for row in cells]
    figures = sum(i < FIRST_FIGURE for i in kept)
    table, out = fitted(headings, rows, [one for one in SPARED if one in moved], figures)
    return ["", table], out


def rows(history: History) -> list[tuple[str, ...]]:
    """Return the cells of each version, the newest last.

    First are the mark of the current version, and the sign of one that does not continue another.
    """
    signs = history.breaks("gain")
    return [_cells(point, sign) for point, sign in zip(history.points, signs, strict=True)]


def _cells(point: Point, sign: str) -> tuple[str, ...]:
    interval = (
        text.UNKNOWN
        if point.gain_low is None or point.gain_high is None
        else text.between(point.gain_low, point.gain_high)
    )
    return (
        ("*" if point.current else "") + sign,
        point.version,
        text.day(point.created),
        point.mode or text.UNKNOWN,
        text.change(point.gain),
        interval,
        text.figure(point.misses),
        text.figure(point.instructions),
        text.figure(point.memory_mib),
        text.rounded(point.text_bytes),
        remark(point),
    )


def remark(point: Point) -> str:
    """Return what became of a version other than being published, and how it differs; or ""."""
    damaged = "DAMAGED" if point.damaged else ""
    absent = "removed" if point.removed else "not published"
    said = ("" if point.published else absent, damaged, point.mark, differs(point))
    return "; ".join(filter(None, said))


def differs(point: Point) -> str:
    """Return why a version does not continue the one before it; "" where it does."""
    library = "same library as the version before" if point.same_library else ""
    apart = text.workloads_apart(point.dropped, point.added)
    workloads = f"other workloads than the version before: {apart}" if apart else ""
    recorded = "recordings made anew" if point.recorded_anew else ""
    counts = text.workloads_apart(point.uncounted, point.newly_counted)
    counted = f"misses of other programs: {counts}" if counts else ""
    replaced = f"another program than before: {', '.join(point.replaced)}" if point.replaced else ""
    return "; ".join(filter(None, (library, workloads, recorded, counted, replaced)))


def sparkline(values: Sequence[float | None], breaks: Sequence[str] = ()) -> str:
    """Return a bar for each value between the least and the largest; a dot for an unknown one.

    In front of a bar that does not continue the one before stands why.
    """
    known = [value for value in values if value is not None]
    low, high = min(known, default=0), max(known, default=0)
    span = max(high - low, LEAST_SPAN * abs(high)) or 1
    steps = len(LEVELS) - 1
    return "".join(
        sign + (GAP if value is None else LEVELS[round((value - low) / span * steps)])
        for sign, value in zip(breaks or [""] * len(values), values, strict=True)
    )


def notes(history: History) -> list[str]:
    """Return what a reader has to know before comparing two rows."""
    unread = [f"{file} cannot be read; it is left out" for file in history.unreadable]
    return [*_judged_apart(history), *_signs(history), *unread]


def _judged_apart(history: History) -> Iterator[str]:
    """Yield in what the judgements of the versions differ."""
    points = history.points
    if len({point.baseline for point in points}) > 1:
        yield (
            "not all versions were judged against the same baseline, so their gains cannot be "
            f"compared; `.venv/bin/pipeline diff -p {history.profile} OLDER NEWER --measure` "
            "compares two of them directly"
        )
    if len({point.processor for point in points}) > 1:
        yield "not all versions were judged on the same kind of processor"
    kinds = {point.misses_of for point in points if point.misses_of}
    if len(kinds) > 1:
        yield f"misses were measured in several ways: {'; '.join(sorted(kinds))}"
    if len({point.mode for point in points}) > 1:
        yield "not all versions were judged in the same mode"


_MEANINGS = {
    OTHER: "judged by other workloads, recordings or programs than the version before, so what has "
    "this sign cannot be compared with it",
    UNSURE: "unknown whether judged by the workloads of the version before",
    SAME: "the library of the version before; what differs between the two is the measuring",
}


def _signs(history: History) -> Iterator[str]:
    """Yield what the signs mean that the rows have."""
    signs = {sign for quantity in QUANTITIES for sign in history.breaks(quantity.field)}
    for sign, meaning in _MEANINGS.items():
        if sign in signs:
            yield f"{sign}: {meaning}"
