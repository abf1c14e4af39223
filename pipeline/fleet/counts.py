"""Sums and overlaps of profiles, as llvm-profdata and BOLT's text tell them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import ChildError, DataError
from pipeline.core.process import run
from pipeline.toolchain.fdata import Edges

LIMIT_S = 300.0


@dataclass(frozen=True)
class Overlap:
    """How alike two profiles are: 1 is the same shares everywhere, 0 nothing in common.

    ``mismatched`` is the share of counts in functions whose code has changed in between.
    """

    alike: float
    mismatched: float = 0.0


def total_count(profdata: Path, path: Path) -> int:
    """Return the sum of all counts in a raw or indexed profile; DataError if it is corrupt."""
    try:
        text = run([profdata, "show", path], timeout_s=LIMIT_S).stdout
    except ChildError as error:
        raise DataError(f"{path}: {_reason(path, error)}") from error
    match = re.search(r"^Total count: (\d+)$", text, re.M)
    if match is None or int(match[1]) == 0:
        raise DataError(
            f"{path}: it has no counts",
            hint="it must come from a run of the instrumented library that ended by itself",
        )
    return int(match[1])


def overlap(profdata: Path, base: Path, test: Path) -> Overlap:
    """Return how alike two indexed profiles are; DataError if one of them cannot be read."""
    try:
        text = run([profdata, "overlap", base, test], timeout_s=LIMIT_S).stdout
    except ChildError as error:
        raise DataError(f"{test}: {_reason(test, error)}") from error
    return parse_overlap(text)


def _reason(path: Path, error: ChildError) -> str:
    """Return why llvm-profdata refuses a file: the sentence of its error, not the notes behind."""
    lines = [line.strip() for line in error.message.splitlines()]
    said = next((line for line in lines if line.startswith("error: ")), lines[-1])
    return said.removeprefix("error: ").removeprefix(f"{path}: ")


def parse_overlap(text: str) -> Overlap:
    """Read what `llvm-profdata overlap` prints; DataError if it says no share."""
    alike = re.search(r"^ *Edge profile overlap: ([\d.]+)%", text, re.M)
    changed = re.search(r"^ *Mismatched count percentage \(Edge\): ([\d.]+)%", text, re.M)
    if alike is None:
        raise DataError(
            "llvm-profdata says nothing about the overlap of the two profiles",
            hint="`.venv/bin/pipeline doctor` shows which LLVM is taken",
        )
    return Overlap(float(alike[1]) / 100, float(changed[1]) / 100 if changed else 0.0)


def edge_overlap(base: Edges, test: Edges) -> Overlap:
    """Return how alike two BOLT profiles are: the sum of the smaller share of each branch."""
    sums = base.taken.total(), test.taken.total()
    if not all(sums):
        return Overlap(0.0)
    alike = sum(
        min(count / sums[0], test.taken[branch] / sums[1]) for branch, count in base.taken.items()
    )
    return Overlap(alike)
