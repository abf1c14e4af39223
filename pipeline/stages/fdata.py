"""BOLT's profile text: reading, weighting, adding up.

A line of it is seven fields and a count: where a branch comes from (kind, function, offset), where
it goes to (the same), how often it was mispredicted, how often it was taken. llvm's merge-fdata
adds files but knows no weights, which is why this is here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

_LINE = re.compile(r"(\d \S+ [0-9a-f]+ \d \S+ [0-9a-f]+ \d+) (\d+)")


def add_file(total: Counter[str], path: Path, factor: int) -> bool:
    """Add the counts of a file, times ``factor``, to ``total``; False if the file is corrupt.

    Of a corrupt file nothing is added.
    """
    try:
        matches = [_LINE.fullmatch(line) for line in path.read_text("utf-8").splitlines()]
    except (OSError, UnicodeDecodeError):
        return False
    if not matches or not all(matches):
        return False
    for match in filter(None, matches):
        total[match[1]] += factor * int(match[2])
    return True


def write(total: Counter[str], path: Path) -> None:
    """Write the counts, sorted so that equal profiles are equal files."""
    lines = (f"{branch} {count}\n" for branch, count in sorted(total.items()) if count)
    path.write_text("".join(lines), encoding="utf-8")


def profiled_functions(total: Iterable[str]) -> set[str]:
    """Return the names of functions that a branch comes from or goes to, without BOLT's ``/1``."""
    names: set[str] = set()
    for branch in total:
        fields = branch.split()
        names.update(name.split("/")[0] for name in (fields[1], fields[4]))
    return names
