"""Evidence from counts and files that are there: costs per operation, shares, size of the code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pipeline.core.errors import ArtifactError
from pipeline.evidence.model import PerOperation, ProgramShare, StaticText
from pipeline.judge.counts import Counting, RealProgram, WorkloadCounts
from pipeline.judge.means import mean_count
from pipeline.judge.pressure import presses
from pipeline.judge.request import Side
from pipeline.judge.samples import SIDES
from pipeline.toolchain.elf_file import reading, text_bytes
from pipeline.toolchain.symbols import SymbolLists
from pipeline.toolchain.text_map import read_text_map
from pipeline.toolchain.text_model import LINE, Function

PAGE = 4096
FIELDS = ("instructions", "branches", "i1_misses", "lines")
UNLIKELY = (".text.unlikely", ".text.cold")


def per_operation(counting: Counting) -> tuple[PerOperation, ...]:
    """Return what both builds cost per operation, with and without instruction pressure."""
    groups = (
        (True, [one for one in counting.workloads if presses(one.baseline, one.tuned)]),
        (False, [one for one in counting.workloads if not presses(one.baseline, one.tuned)]),
    )
    return tuple(_mean(side, pressure, rows) for pressure, rows in groups if rows for side in SIDES)


def _mean(side: Side, pressure: bool, rows: Sequence[WorkloadCounts]) -> PerOperation:
    means = {
        name: mean_count((row.weight, getattr(getattr(row, side), name)) for row in rows)
        for name in FIELDS
    }
    names = tuple(row.name for row in rows)
    return PerOperation(build=side, pressure=pressure, workloads=names, **means)


def program_shares(programs: Sequence[RealProgram]) -> tuple[ProgramShare, ...]:
    """Return the library's part of all instructions and misses of each program."""
    return tuple(_share(one) for one in programs)


def _share(program: RealProgram) -> ProgramShare:
    parts: dict[str, float | None] = {}
    for side in SIDES:
        counts = getattr(program, side)
        if counts is not None:
            whole, misses = counts.total_instructions, counts.total_i1_misses
            parts[f"{side}_instructions"] = counts.instructions / whole
            parts[f"{side}_i1_misses"] = counts.i1_misses / misses if misses else None
    return ProgramShare(
        name=program.name,
        command=program.command,
        status=program.status,
        detail=program.detail,
        total_instructions=program.tuned.total_instructions if program.tuned else None,
        **parts,
    )


def static_text(
    build: Literal["baseline", "tuned"], library: Path, lists: SymbolLists
) -> StaticText:
    """Return the bytes, lines and pages of a library's hot and cold code, without running it."""
    code = reading(library, text_bytes)
    try:
        functions = read_text_map(library).functions
    except ArtifactError:  # no symbols: only the size is known
        return StaticText(build=build, text_bytes=code)
    listed = set(lists.hot)
    is_hot = [one.part != "cold" and not listed.isdisjoint(one.names) for one in functions]
    hot = [one for one, hot in zip(functions, is_hot, strict=True) if hot]
    others = [one for one, hot in zip(functions, is_hot, strict=True) if not hot]
    cold = [one for one in others if _is_cold(one, lists)]
    return StaticText(
        build=build,
        text_bytes=code,
        hot_bytes=sum(one.size for one in hot),
        cold_bytes=sum(one.size for one in cold),
        hot_lines=_spanned(hot, LINE),
        hot_pages=_spanned(hot, PAGE),
    )


def _is_cold(function: Function, lists: SymbolLists) -> bool:
    return (
        function.part == "cold"
        or function.section.startswith(UNLIKELY)
        or bool(set(function.names) & set(lists.cold))
    )


def _spanned(functions: Sequence[Function], unit: int) -> int | None:
    """Return the blocks of ``unit`` bytes from the first byte to the last; None for no code."""
    if not functions:
        return None
    first, last = min(one.address for one in functions), max(one.end for one in functions) - 1
    return last // unit - first // unit + 1
