"""The instruction cache of this machine, as the kernel describes it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pipeline.judge.request import CacheGeometry

SYSFS = Path("/sys/devices/system/cpu/cpu0/cache")
FALLBACK = CacheGeometry(size=32 * 1024, ways=8, line=64)
"""The commonest L1I of x86-64; used when the kernel does not say, as in many containers."""

SWEEP = tuple(CacheGeometry(size=512 << step, ways=8) for step in range(8))
"""Caches from 512 B to 64 KiB: the curve of misses over size. 8 ways, as most L1Is have; the
smallest is one set, fully associative."""


def machine_l1i(sysfs: Path = SYSFS) -> tuple[CacheGeometry, Literal["sysfs", "fallback"]]:
    """Return the L1 instruction cache of CPU 0 and where that was found."""
    for index in sorted(sysfs.glob("index*")):
        geometry = _read_index(index)
        if geometry is not None:
            return geometry, "sysfs"
    return FALLBACK, "fallback"


def without_conflicts(cache: CacheGeometry) -> CacheGeometry:
    """Return a cache of as many lines in one set: it misses by what does not fit, never by where.

    A line of a real cache may lie in one set alone. When hot lines of a program, of libc and of the
    library meet there by chance, they drive each other out: another build of the program would meet
    elsewhere (docs/verdicts.md).
    """
    return CacheGeometry(size=cache.size, ways=cache.size // cache.line, line=cache.line)


def _read_index(index: Path) -> CacheGeometry | None:
    """Return the geometry when ``index`` is a level-1 instruction cache that can be simulated."""
    try:
        level, kind = _read(index / "level"), _read(index / "type")
        if (level, kind) != ("1", "Instruction"):
            return None
        return CacheGeometry(
            size=_bytes(_read(index / "size")),
            ways=int(_read(index / "ways_of_associativity")),
            line=int(_read(index / "coherency_line_size")),
        )
    except (OSError, ValueError):
        return None


def _bytes(text: str) -> int:
    return int(text.removesuffix("K")) * 1024 if text.endswith("K") else int(text)


def _read(path: Path) -> str:
    return path.read_text(encoding="ascii").strip()
