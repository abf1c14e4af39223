"""A trace on the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.trace.statistics import Bin, Statistics
from pipeline.trace.words import facts, share, size, warnings

BAR_WIDTH = 40
SHOWN_THREADS = 12
SHOWN_TIMES = 12


def render(found: Statistics) -> str:
    """Return the statistics of a process as plain text."""
    parts = [
        *(f"warning: {text}" for text in warnings(found.process)),
        *(f"{name:24} {value}" for name, value in facts(found)),
        "",
        "requests by size (bytes up to, number, share of requests, share of bytes)",
        *_size_lines(found.sizes),
        "",
        "how long blocks live (calls of malloc and free meanwhile, up to; number; share)",
        *_life_lines(found.lives),
        "",
        "live memory over time (seconds, bytes, objects)",
        *_time_lines(found),
        *_thread_lines(found),
        *_site_lines(found),
    ]
    return "\n".join(parts) + "\n"


def _bar(part: float, most: float) -> str:
    return "#" * round(BAR_WIDTH * part / most) if most else ""


def _size_lines(bins: Iterable[Bin]) -> list[str]:
    rows = list(bins)
    count, total = sum(b.count for b in rows), sum(b.bytes for b in rows)
    most = max((b.count for b in rows), default=0)
    return [
        f"{size(b.top):>10} {b.count:>12,} {share(b.count, count):>8} {share(b.bytes, total):>8}  "
        f"{_bar(b.count, most)}"
        for b in rows
    ]


def _life_lines(bins: Iterable[Bin]) -> list[str]:
    rows = list(bins)
    count = sum(b.count for b in rows)
    most = max((b.count for b in rows), default=0)
    return [
        f"{b.top:>10,} {b.count:>12,} {share(b.count, count):>8}  {_bar(b.count, most)}"
        for b in rows
    ]


def _time_lines(found: Statistics) -> list[str]:
    points = found.timeline[:: max(1, len(found.timeline) // SHOWN_TIMES)]
    return [
        f"{p.seconds:>10.3f} {size(p.bytes):>12} {p.objects:>12,}  "
        f"{_bar(p.bytes, found.peak_bytes)}"
        for p in points
    ]


def _thread_lines(found: Statistics) -> list[str]:
    if len(found.threads) < 2:
        return []
    busiest = sorted(found.threads, key=lambda t: t.births + t.frees, reverse=True)
    rest = len(busiest) - SHOWN_THREADS
    return [
        "",
        "threads (number, allocations, frees, frees of other threads' objects)",
        *(
            f"{t.number:>10} {t.births:>12,} {t.frees:>12,} {t.remote:>12,}"
            for t in busiest[:SHOWN_THREADS]
        ),
        *([f"           and {rest:,} more"] if rest > 0 else []),
    ]


def _site_lines(found: Statistics) -> list[str]:
    if not found.sites:
        return []
    return [
        "",
        "call sites (hash, allocations, bytes)",
        *(f"    {s.hash:06x} {s.count:>12,} {size(s.bytes):>12}" for s in found.sites),
    ]
