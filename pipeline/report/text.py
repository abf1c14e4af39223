"""How numbers are written in every report: unknown is a word, never a zero."""

from __future__ import annotations

from pipeline.judge.model import Measured
from pipeline.judge.statistics import Interval

UNKNOWN = "unknown"


def number(value: float | None, digits: int = 2) -> str:
    """Return a number with thousands set apart by a comma, or "unknown"."""
    return UNKNOWN if value is None else f"{value:,.{digits}f}"


def ratio(value: float | None) -> str:
    """Return tuned / baseline with three digits behind the point, or "unknown"."""
    return UNKNOWN if value is None else f"{value:.3f}"


def change(value: float | None) -> str:
    """Return a ratio as a signed change in per cent, or "unknown"."""
    return UNKNOWN if value is None else f"{(value - 1) * 100:+.2f} %"


def ends(interval: Interval | None) -> str:
    """Return the ends of an interval as signed changes, "exact" without spread, or "unknown"."""
    if interval is None:
        return UNKNOWN
    if interval.low == interval.high:
        return "exact"
    return f"{change(interval.low)} .. {change(interval.high)}"


def measured(value: Measured | None, digits: int = 3) -> str:
    """Return a count per operation, with its spread where it has one."""
    if value is None:
        return UNKNOWN
    spread = (
        "" if value.low == value.high else f" ({value.low:.{digits}f}..{value.high:.{digits}f})"
    )
    return f"{value.value:,.{digits}f}{spread}"


def quotient(baseline: Measured | None, tuned: Measured | None) -> float | None:
    """Return tuned / baseline, or None when either is unknown or the baseline is zero."""
    if baseline is None or tuned is None or not baseline.value:
        return None
    return tuned.value / baseline.value


def cell(text: object) -> str:
    """Return ``text`` fit for a cell of a Markdown table."""
    return str(text).replace("|", "\\|").replace("\n", " ")
