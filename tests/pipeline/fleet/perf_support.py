"""What perf prints of samples in a library, for a perf that is a script."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pipeline.fleet.samples import executable

BASE = 0x7F9F81500000
"""Where the library's first byte is."""


def mapped(library: Path) -> str:
    """Return the lines that say where the code of ``library`` is."""
    return "".join(
        f" PERF_RECORD_MMAP2 7/7: [{hex(BASE + low + shift)}({hex(high - low)}) @ {hex(low)} "
        f"fe:00 11 0]: r-xp {library}\n"
        for low, high, shift in executable(library)
    )


def sampled(library: Path, addresses: Iterable[int]) -> str:
    """Return a line for a sample at each of these addresses of the library's file."""
    return "".join(f"    {BASE + one:x} [unknown] ({library})\n" for one in addresses)
