"""Branch stacks of perf: which branches a process took in the library, and what ran in between."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.core.errors import ChildError
from pipeline.core.process import run
from pipeline.fleet.mappings import Mappings
from pipeline.fleet.samples import LIBRARY, LIMIT_S

_BRANCH = re.compile(r"0x([0-9a-f]+)/0x([0-9a-f]+)/")
# A place in the library by file offset; None is a place outside of it.
Place = int | None


@dataclass(frozen=True)
class Stacks:
    """Branches by where they come from and go to, and stretches that ran straight through.

    ``jumps`` has each branch that begins or ends in the library. ``runs`` has, for a branch into
    the library, the branch and the last instruction before the next one.
    """

    jumps: Counter[tuple[Place, Place]] = field(default_factory=Counter)
    runs: Counter[tuple[Place, int, int]] = field(default_factory=Counter)


def read_stacks(perf: Path, data: Path) -> Stacks | None:
    """Return the branch stacks of a perf.data file; None if it was recorded without."""
    try:
        text = run(
            [perf, "script", "-i", data, "--show-mmap-events", "-F", "brstack"],
            timeout_s=LIMIT_S,
        ).stdout
    except ChildError:  # perf says so: "do not have BRSTACK attribute set"
        return None
    found = parse_stacks(text)
    return found if found.jumps or found.runs else None


def parse_stacks(text: str) -> Stacks:
    """Read what `perf script --show-mmap-events -F brstack` prints: the newest branch first."""
    mappings, stacks = Mappings(), Stacks()
    for line in text.splitlines():
        if mappings.add_line(line):
            continue
        branches = [(int(one[1], 16), int(one[2], 16)) for one in _BRANCH.finditer(line)]
        end: int | None = None  # where the next branch comes from: the end of what ran straight
        for source, target in branches:
            _add(stacks, _inside(source, mappings), _inside(target, mappings), end)
            end = _inside(source, mappings)
    return stacks


def _add(stacks: Stacks, source: Place, target: Place, end: Place) -> None:
    if target is not None and end is not None and end >= target:
        stacks.runs[source, target, end] += 1
    elif source is not None or target is not None:
        stacks.jumps[source, target] += 1


def _inside(address: int, mappings: Mappings) -> Place:
    place = mappings.place(address)
    return place[1] if place and LIBRARY.search(place[0]) else None
