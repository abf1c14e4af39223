"""Where files were mapped in a process that perf has watched."""

from __future__ import annotations

import re
from bisect import bisect_right, insort

_MAPPING = re.compile(
    r"PERF_RECORD_MMAP2? .*\[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ (0x[0-9a-f]+|0) .*\]: \S+ (/.*)$"
)


class Mappings:
    """The mappings of a process so far; a later one takes the place of one at the same address."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._at: dict[int, tuple[int, int, str]] = {}

    def add_line(self, line: str) -> bool:
        """Take in a line of `perf script --show-mmap-events`; False if it tells of no mapping."""
        found = _MAPPING.search(line)
        if found is None:
            return False
        start, length, offset = (int(found[i], 16) for i in (1, 2, 3))
        if start not in self._at:
            insort(self._starts, start)
        self._at[start] = (start + length, offset, found[4])
        return True

    def place(self, address: int) -> tuple[str, int] | None:
        """Return file and file offset of an address; None when its mapping was not recorded."""
        number = bisect_right(self._starts, address) - 1
        if number < 0:
            return None
        start = self._starts[number]
        end, offset, path = self._at[start]
        return (path, address - start + offset) if address < end else None
