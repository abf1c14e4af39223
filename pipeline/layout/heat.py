"""How hot each function is: by the edge counts that BOLT was given, or by the PGO profile."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pipeline.core.errors import ChildError, DataError
from pipeline.toolchain.fdata import Edges
from pipeline.toolchain.profdata import read_counts
from pipeline.toolchain.text_model import Heat


def read_heat(fdata: Path) -> dict[str, Heat]:
    """Return the heat of each function in a BOLT profile; DataError if it cannot be read.

    An edge to the first byte of a function is an entry, every other edge inside it leads to one
    more block. Functions that are not in it never ran.
    """
    edges = Edges()
    if not edges.add_file(fdata, 1):
        raise DataError(
            f"{fdata} is not a profile of BOLT's edge counts",
            hint="--data takes an .fdata or .profdata file of a build",
        )
    entries: Counter[str] = Counter()
    blocks: Counter[str] = Counter()
    for branch, count in edges.taken.items():
        _kind, source, _from, _kind, target, offset = branch.split()
        if int(offset, 16) == 0:
            entries[plain(target)] += count
        elif source == target:
            blocks[plain(target)] += count
    return {
        name: Heat(entries=entries[name], blocks=entries[name] + blocks[name])
        for name in sorted({*entries, *blocks})
    }


def read_block_heat(profdata: Path, tool: Path) -> dict[str, Heat]:
    """Return the heat of each function in a PGO profile, by llvm-profdata; DataError if it is none.

    It has blocks, and does not tell which of them is the entry: the hottest one stands for both.
    What ran inlined in others counts as well, for it was counted before it was inlined.
    """
    try:
        counts = read_counts(tool, profdata)
    except ChildError as error:
        raise DataError(
            f"{profdata} is not a profile: {error.message}",
            hint="--data takes an .fdata or .profdata file of a build",
        ) from error
    return {name: Heat(entries=count, blocks=count) for name, count in counts.items()}


def callers(fdata: Path) -> dict[str, Counter[str]]:
    """Return who enters each function, and how often; a caller outside is "[unknown]"."""
    edges = Edges()
    if not edges.add_file(fdata, 1):
        raise DataError(
            f"{fdata} is not a profile of BOLT's edge counts",
            hint="--data takes an .fdata or .profdata file of a build",
        )
    found: dict[str, Counter[str]] = {}
    for branch, count in edges.taken.items():
        _kind, source, _from, _kind, target, offset = branch.split()
        if int(offset, 16) == 0:
            found.setdefault(plain(target), Counter())[plain(source)] += count
    return found


def plain(name: str) -> str:
    """Return a name without BOLT's ``/1``, which it gives to static functions."""
    return name.split("/", 1)[0]
