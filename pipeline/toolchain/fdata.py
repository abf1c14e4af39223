"""BOLT's profile text: reading, weighting, adding up.

A line of it is a branch and two counts: where it comes from (kind, function, offset), where it
goes to (the same), how often it was mispredicted, how often it was taken. LLVM's merge-fdata adds
files but knows no weights, which is why this is here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_LINE = re.compile(r"(\d \S+ [0-9a-f]+ \d \S+ [0-9a-f]+) (\d+) (\d+)")


@dataclass(frozen=True)
class Edges:
    """Counts of branches: how often each was taken, and mispredicted."""

    taken: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)

    def add_file(self, path: Path, factor: int) -> bool:
        """Add a file's counts, times ``factor``; False, and nothing added, if it is corrupt."""
        try:
            return self.add_lines(path.read_text("utf-8").splitlines(), factor)
        except (OSError, UnicodeDecodeError):
            return False

    def add_lines(self, lines: Iterable[str], factor: int) -> bool:
        """Add the counts of lines, times ``factor``; False, and nothing added, if one is no count.

        No lines at all are no profile.
        """
        matches = [_LINE.fullmatch(line) for line in lines]
        if not matches or not all(matches):
            return False
        for match in filter(None, matches):
            self.missed[match[1]] += factor * int(match[2])
            self.taken[match[1]] += factor * int(match[3])
        return True

    def write(self, path: Path) -> None:
        """Write the counts, sorted so that equal profiles are equal files."""
        lines = (
            f"{branch} {self.missed[branch]} {count}\n"
            for branch, count in sorted(self.taken.items())
            if count
        )
        path.write_text("".join(lines), encoding="utf-8")

    def functions(self) -> set[str]:
        """Return the functions that a branch comes from or goes to, without BOLT's ``/1``."""
        names: set[str] = set()
        for branch in self.taken:
            fields = branch.split()
            names.update(name.split("/")[0] for name in (fields[1], fields[4]))
        return names
