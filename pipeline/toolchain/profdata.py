"""The compiler's profile, as llvm-profdata shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from pipeline.core.process import run

PROFDATA = "hakmem.profdata"
"""The name of a merged profile, in artifacts and in versions."""

LIMIT_S = 120.0
# A function that only samples know is hot ("PseudoHot") has no counts: it ran, by 1.
_FUNCTION = r"^  (\S.*):\n(?:    .*\n)*?    (?:Block counts: \[(.*)\]|Counters: \d+ +<PseudoHot>)$"


def total_count(tool: Path, profiles: Iterable[Path], log: Path | None = None) -> int:
    """Return the sum of all counts in raw profiles; those that cannot be read add nothing."""
    return sum(_total(tool, profile, log) for profile in profiles)


def _total(tool: Path, profile: Path, log: Path | None) -> int:
    argv: list[str | Path] = [tool, "show", "--detailed-summary", profile]
    done = run(argv, log=log, timeout_s=LIMIT_S, expect=None)
    found = re.search(r"^Total count: (\d+)$", done.stdout, re.M)
    return int(found[1]) if found else 0


def read_counts(
    tool: Path, profdata: Path, log: Path | None = None, *, second: bool = False
) -> dict[str, int]:
    """Return the highest block count of each function; ``second``: of the second pass.

    ChildError if llvm-profdata cannot read the file.
    """
    show = ("show", "--all-functions", "--counts", *(("--showcs",) if second else ()))
    text = run([tool, *show, profdata], log=log, timeout_s=LIMIT_S).stdout
    counts: dict[str, int] = {}
    for match in re.finditer(_FUNCTION, text, re.M):
        name = match[1].rsplit(";", 1)[-1]  # static functions carry their file in front
        top = max((int(n) for n in (match[2] or "").split(", ") if n), default=int(not match[2]))
        counts[name] = max(top, counts.get(name, 0))
    return counts
