"""The page that ``hakmem top`` shows: figures of one look, and what changed since the last."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from operate.telling import as_typed

Document = dict[str, Any]
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_PURGED_PAGE = 65536
COLUMNS = (
    *("size", "live", "live bytes", "cached", "slabs", "hot", "draining", "free"),
    "live share",
)
"""Of the table of size classes. docs/statistics.md explains each, and each line of the page."""


def size(value: float | None) -> str:
    """Return bytes in words, "?" where nobody knows."""
    if value is None:
        return "?"
    for unit in _UNITS:
        if abs(value) < 1024 or unit == _UNITS[-1]:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    raise AssertionError("the last unit takes all")


def page(
    now: Document,
    before: Document | None,
    seconds: float,
    rows: int | None = None,
    screen: os.terminal_size | None = None,
    idle: bool = True,
) -> list[str]:
    """Return the lines of the page; ``before`` is what was seen so many seconds ago.

    It has so many rows of size classes, else what a screen has place for, else all. Without
    ``idle``, classes without a live block share one line.
    """
    head, classes = _head(now, before, seconds), now["classes"]
    asleep = [] if idle else [one for one in classes if not one["live_blocks"]]
    classes = [one for one in classes if one not in asleep]
    if rows is None and screen is not None:
        rows = _place(head, len(classes), screen)
    shown = sorted(classes, key=lambda c: c["live_blocks"] * c["size"], reverse=True)[:rows]
    return [
        *head,
        *_table(shown),
        *_left_out(len(classes) - len(shown), now["pid"]),
        *_asleep(asleep),
    ]


def _head(now: Document, before: Document | None, seconds: float) -> list[str]:
    return [
        f"process {now['pid']}{_program(now)}",
        f"hakmem {_library(now)}{_rejected(now)}",
        *_summary(now),
        _changes(now, before, seconds),
        "",
    ]


def _program(now: Document) -> str:
    return f" {now['program']}" if now.get("program") else ""


def _rejected(now: Document) -> str:
    why = now.get("rejected")
    return "" if why is None else f"; this version was rejected: {why}"


def _library(now: Document) -> str:
    """Return which library it is; one from before there was ``build`` tells less."""
    version = f"{now.get('published') or now['hakmem']} ({now['variant']})"
    build = now.get("build")
    if build is None:
        return version
    kind = f", for {build['cpu']}" if build["cpu"] not in (None, "any") else ""
    made = f"profile {build['profile']}{kind}" if build["profile"] else "a plain build"
    number = f", build-id {build['build_id'][:12]}" if build["build_id"] else ""
    return f"{version}, {made}{number}"


def _summary(now: Document) -> list[str]:
    f, system = now["figures"], now["system"]
    apart = sum(f[name] for name in ("large_blocks", "apart_blocks"))
    return [
        f"resident process {size(system['resident_bytes'])}, library {size(f['resident_bytes'])},"
        f" huge pages {size(system['huge_page_bytes'])}, swapped {size(system['swapped_bytes'])}",
        f"live     {size(f['live_bytes'])} in {f['live_blocks']:,} blocks; large"
        f" {size(f['large_bytes'] + f['apart_bytes'])} in {apart:,}",
        _slabs(now),
        f"waiting  magazines {size(f['magazine_bytes'])}, remote {size(f['remote_bytes'])},"
        f" dirty {size(f['dirty_bytes'])}",
        f"heaps    {f['heaps_active']} active, {f['heaps_idle']} idle;"
        f" run caches {size(f['run_cache_bytes'])}",
        *_limits(now),
    ]


def _slabs(now: Document) -> str:
    """Return what slabs hold; what is neither live nor free nor an end is a free block in a cache.

    These are magazines, blocks on their way home, and a quarantine.
    """
    f = now["figures"]
    small = sum(c["size"] * c["live_blocks"] for c in now["classes"])
    free, fresh, ends = (f[f"slab_{name}_bytes"] for name in ("returned", "fresh", "tail"))
    cached = max(0, f["slab_bytes"] - small - free - fresh - ends)
    return (
        f"slabs    {size(f['slab_bytes'])}: {size(small)} live, {size(free)} free again,"
        f" {size(fresh)} never used, {size(cached)} cached, {size(ends)} at ends"
    )


def _limits(now: Document) -> list[str]:
    """Return the limits and the purge delay in force; an older library does not tell them."""
    options, f = now.get("options"), now["figures"]
    if options is None:
        return []
    soft, hard = (_limit(f[name]) for name in ("soft_limit_bytes", "hard_limit_bytes"))
    return [f"limits   soft {soft}, hard {hard}; purge delay {options['purge_delay']} ms"]


def _limit(value: int | None) -> str:
    return "none" if value is None else size(value)


def _changes(now: Document, before: Document | None, seconds: float) -> str:
    epochs, purged = now["figures"]["purge_epochs_total"], now["events"]["purged_pages"]
    text = f"purge    epochs {epochs}, purged {size(purged * _PURGED_PAGE)}"
    if before is None or seconds <= 0:
        return text
    given = (purged - before["events"]["purged_pages"]) * _PURGED_PAGE
    faults = _faults(now) - _faults(before)
    return f"{text}; {size(given / seconds)}/s, {faults / seconds:,.0f} page faults/s"


def _faults(one: Document) -> int:
    figures = one["figures"]
    return int(figures["minor_page_faults_total"] + figures["major_page_faults_total"])


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _place(head: Sequence[str], classes: int, screen: os.terminal_size) -> int:
    """Return how many classes fit below the head, the names of columns and above the cursor."""
    taken = sum(max(1, -(-len(line) // screen.columns)) for line in head)
    place = screen.lines - taken - 2
    return classes if classes <= place else max(1, place - 1)


def _left_out(count: int, pid: int) -> list[str]:
    if count == 0:
        return []
    return [
        f"and {count} more class{'es' if count > 1 else ''}: "
        + as_typed(f"`hakmem top --once --all {pid}` shows all")
    ]


def _asleep(classes: Sequence[Document]) -> list[str]:
    """Return in one line what classes without a live block hold."""
    if not classes:
        return []
    held = size(sum(one["slabs"] * one["slab_bytes"] for one in classes))
    what, have = ("class", "has") if len(classes) == 1 else ("classes", "have")
    return [f"and {len(classes)} more {what} that {have} no live block, {held} in slabs (--all)"]


def _table(classes: Sequence[Document]) -> list[str]:
    table = [COLUMNS, *(_row(c) for c in classes)]
    widths = [max(len(row[i]) for row in table) for i in range(len(COLUMNS))]
    return ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in table]


def _row(c: Document) -> tuple[str, ...]:
    live, slabs = c["live_blocks"], c["slabs"]
    return (
        f"{c['size']} cold" if c.get("cold") else str(c["size"]),
        f"{live:,}",
        size(live * c["size"]),
        f"{c['magazine_blocks']:,}",
        *(f"{c[name]:,}" for name in ("slabs", "slabs_hot", "slabs_draining", "slabs_free")),
        _share(live * c["size"], slabs * c["slab_bytes"] - c["fresh_blocks"] * c["size"]),
    )
