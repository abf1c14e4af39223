"""A trace on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from pipeline.core.output import hanging
from pipeline.trace.statistics import Bin, Statistics
from pipeline.trace.words import facts, share, size, warnings

BAR_WIDTH = 40
_FACT = 25
"""Where the value of a fact begins."""
SHOWN_THREADS = 12
SHOWN_TIMES = 12


def render(found: Statistics, width: int = sys.maxsize) -> str:
    """Return the statistics of a process as plain text, in lines of at most ``width``."""
    parts = [
        *(hanging(f"warning: {text}", 2, width) for text in warnings(found.process)),
        *(hanging(f"{name:{_FACT - 1}} {value}", _FACT, width) for name, value in facts(found)),
        "",
        "requests by size (up to, in powers of two; number, share, share of bytes)",
        *_size_lines(found.sizes, width),
        "",
        "how long blocks live (calls of malloc and free meanwhile, up to; number; share)",
        *_life_lines(found.lives, width),
        "",
        "live memory over time (seconds, bytes, objects)",
        *_time_lines(found, width),
        *_thread_lines(found),
        *_site_lines(found),
    ]
    return "\n".join(parts) + "\n"


def _with_bar(figures: str, part: float, most: float, width: int) -> str:
    """Return a row with its bar, which is shorter where there is less room."""
    longest = min(BAR_WIDTH, width - len(figures) - 2)
    return f"{figures}  {'#' * round(longest * part / most) if most else ''}".rstrip()


def _size_lines(bins: Iterable[Bin], width: int) -> list[str]:
    rows = list(bins)
    count, total = sum(b.count for b in rows), sum(b.bytes for b in rows)
    most = max((b.count for b in rows), default=0)
    return [
        _with_bar(
            f"{size(b.top):>10} {b.count:>12,} {share(b.count, count):>8} "
            f"{share(b.bytes, total):>8}",
            b.count,
            most,
            width,
        )
        for b in rows
    ]


def _life_lines(bins: Iterable[Bin], width: int) -> list[str]:
    rows = list(bins)
    count = sum(b.count for b in rows)
    most = max((b.count for b in rows), default=0)
    return [
        _with_bar(f"{b.top:>10,} {b.count:>12,} {share(b.count, count):>8}", b.count, most, width)
        for b in rows
    ]


def _time_lines(found: Statistics, width: int) -> list[str]:
    points = found.timeline[:: max(1, len(found.timeline) // SHOWN_TIMES)]
    return [
        _with_bar(
            f"{p.seconds:>10.3f} {size(p.bytes):>12} {p.objects:>12,}",
            p.bytes,
            found.peak_bytes,
            width,
        )
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
