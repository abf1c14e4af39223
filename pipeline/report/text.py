"""How numbers are written in every report: unknown is a word, never a zero."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the judge's numpy would take a second of every command that writes a number
    from pipeline.evidence.model import LayoutNull
    from pipeline.judge.counts import Measured
    from pipeline.judge.known import Bloat, Dose
    from pipeline.judge.statistics import Interval

UNKNOWN = "unknown"
ONCE = "counted once"
WROTE = "ended well and wrote to stderr"
MOST_DIGITS = 6
"""Behind the point: less than that is next to nothing."""


def number(value: float | None, digits: int = 2) -> str:
    """Return a number with thousands set apart by a comma, or "unknown"."""
    return UNKNOWN if value is None else f"{value:,.{digits}f}"


def place(null: LayoutNull) -> str:
    """Return where the version stands among random layouts; the share alone in old records."""
    if null.rank is None or null.p_value is None:
        share = number(null.percentile, 0)
        return f"{share} % of {len(null.misses)} have as few misses as this version or fewer"
    return f"this version has rank {null.rank} of {1 + len(null.misses)}, p = {null.p_value:.2g}"


def rounded(value: float | None) -> str:
    """Return a number without digits behind the point, or "unknown"."""
    return number(value, 0)


def figure(value: float | None) -> str:
    """Return a measured number with four digits that count, below 1 with three, or "unknown".

    Digits in front of the point are never left out. Further ones behind it would be noise.
    """
    if value is None or not value:
        return UNKNOWN if value is None else "0"
    order = int(f"{value:.3e}".partition("e")[2])  # of the rounded value: 9.9996 is 10.00
    return number(value, min(max(0, 3 - order if order >= 0 else 2 - order), MOST_DIGITS))


def ratio(value: float | None, interval: Interval | None = None) -> str:
    """Return tuned / baseline with three digits behind the point and its interval, or "unknown"."""
    ends_ = f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else ""
    return UNKNOWN if value is None else f"{value:.3f}{ends_}"


def change(value: float | None) -> str:
    """Return a ratio as a signed change in per cent, or "unknown"."""
    return UNKNOWN if value is None else f"{(value - 1) * 100:+.2f} %"


def between(low: float | None, high: float | None) -> str:
    """Return the ends of an interval as changes."""
    return f"[{change(low)}, {change(high)}]"


def ends(interval: Interval | None) -> str:
    """Return the ends of an interval as changes, "counted once" without spread, or "unknown"."""
    if interval is None:
        return UNKNOWN
    return ONCE if interval.low == interval.high else between(interval.low, interval.high)


def judged(word: str) -> str:
    """Return a judgement of two versions in the words that people read elsewhere in a report."""
    return {"unclear": "undecided", "info": "for information"}.get(word, word)


def spread(interval: Interval | None) -> str:
    """Return the change with the ends of its interval, or a dash where there is none."""
    if interval is None:
        return "-"
    known = ends(interval)
    return f"{change(interval.value)} {known if known != ONCE else f'({ONCE})'}"


def measured(value: Measured | None, digits: int = 3) -> str:
    """Return a count per operation, with its spread where it has one."""
    if value is None:
        return UNKNOWN
    alone = value.low == value.high
    ends_ = "" if alone else f" ({value.low:.{digits}f}..{value.high:.{digits}f})"
    return f"{value.value:,.{digits}f}{ends_}"


def quotient(baseline: Measured | None, tuned: Measured | None) -> float | None:
    """Return tuned / baseline, or None when either is unknown or the baseline is zero."""
    if baseline is None or tuned is None or not baseline.value:
        return None
    return tuned.value / baseline.value


def quantity(value: float | None, unit: str) -> str:
    """Return a quantity as its unit wants it: bytes are whole."""
    return number(value, 0) if unit == "bytes" else figure(value)


def kib(size: int) -> str:
    """Return a number of bytes as B, KiB or MiB, with a digit behind the point where it tells."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.1f}".removesuffix(".0") + f" {unit}"
    return f"{size} B"


def address(place: int | None) -> str:
    """Return an address in hexadecimal, or a dash for a function that is not there."""
    return "-" if place is None else f"{place:#x}"


def pace(rate: float, kind: str) -> str:
    """Return a rate by the second: runs of a whole program, or millions of operations of a loop."""
    return f"{figure(rate)}/s" if kind == "program" else f"{figure(rate / 1e6)} M/s"


def percent(fraction: float | None, digits: int = 1) -> str:
    """Return a fraction as per cent, or "unknown"."""
    return UNKNOWN if fraction is None else f"{fraction * 100:.{digits}f} %"


def short(count: int | None) -> str:
    """Return a large count with three digits and a letter: 12.3 k, 4.56 M, 7.89 G."""
    if count is None:
        return UNKNOWN
    for letter, factor in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= factor:
            value = count / factor
            return f"{value:,.{2 if value < 10 else 1 if value < 100 else 0}f} {letter}"
    return str(count)


def many(count: int, one: str) -> str:
    """Return a number with its noun: "1 place", "3 places"."""
    return f"{count:,} {one}" if count == 1 else f"{count:,} {one}s"


def first_of(names: Sequence[str], most: int) -> str:
    """Return names in a row, and of more than ``most`` how many are left: "a, b and 3 more"."""
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left} more" if left > 0 else "")


def injected(doses: Sequence[Dose | Bloat]) -> str:
    """Return by how much a known copy was made worse: "2.0 % in each of 15 workloads"."""
    parts = sorted(one.loss if hasattr(one, "loss") else one.rise for one in doses)
    least, most = percent(parts[0]), percent(parts[-1])
    amount = least if least == most else f"{least} to {most}"
    return f"{amount} in {many(len(parts), 'workload')}"


def day(moment: str) -> str:
    """Return an ISO time to the minute, as people read it: 2026-01-02 03:04 UTC."""
    return moment[:16].replace("T", " ") + " UTC"


def played_by(argv: Sequence[str]) -> tuple[str, ...]:
    """Return what a workload plays: recordings lie in folders that are named by their key."""
    return tuple(word.rpartition("/record/")[2] for word in argv[1:] if "/record/" in word)


def names_apart(then: Iterable[str], now: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names that were dropped between the two, and those that were added; sorted."""
    before, after = set(then), set(now)
    return tuple(sorted(before - after)), tuple(sorted(after - before))


def workloads_apart(dropped: Sequence[str], added: Sequence[str]) -> str:
    """Return in words how a set of workloads differs from another one; "" where it does not."""
    parts = (("without", dropped), ("with", added))
    return " and ".join(f"{word} {', '.join(names)}" for word, names in parts if names)


def hyphenated(name: str, room: int) -> str:
    """Return a name in lines of at most ``room``, broken behind hyphens alone."""
    lines = [""]
    for part in re.split("(?<=-)", name):
        if lines[-1] and len(lines[-1]) + len(part) > room:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def sentence(text: str) -> str:
    """Return ``text`` with a capital at its beginning and one full stop at its end."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""


def cell(text: object) -> str:
    """Return ``text`` fit for a cell of a Markdown table."""
    return str(text).replace("|", "\\|").replace("\n", " ")
