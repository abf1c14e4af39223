"""Samples added up by address, as perf2bolt and llvm-profgen read them.

Both are given addresses in the unstripped library in place of perf.data, which has those in the
stripped file: that is laid out otherwise. So they need not the host where the process ran, either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from pipeline.fleet.branches import Stacks
from pipeline.fleet.samples import UNMAPPED, Samples, addresses, executable

PAGE = 4096
_Pair = tuple[int, int]


def aggregated_samples(counts: Mapping[int, int]) -> Iterable[str]:
    """Yield samples by address as lines that perf2bolt reads."""
    return (f"S {address:x} {count}\n" for address, count in sorted(counts.items()))


def aggregated_stacks(stacks: Stacks) -> Iterable[str]:
    """Yield branches, and what ran straight behind them, as lines that perf2bolt reads."""
    for (source, target), count in sorted(stacks.jumps.items(), key=str):
        yield f"B {_place(source)} {_place(target)} {count} 0\n"
    for (origin, start, end), count in sorted(stacks.runs.items(), key=str):
        yield f"T {_place(origin)} {start:x} {end:x} {count}\n"


def _place(address: int | None) -> str:
    return "X:0" if address is None else f"{address:x}"


def unsymbolized(library: Path, samples: Samples, stacks: Stacks | None) -> str:
    """Return stretches of code and branches as llvm-profgen reads them: from the first code on.

    A sample is a stretch of one instruction.
    """
    first = min(low + shift for low, _, shift in executable(library)) // PAGE * PAGE
    runs, jumps = _stretches(library, samples, stacks)
    rows = [f"{a - first:x}-{b - first:x}:{count}" for (a, b), count in sorted(runs.items())]
    taken = [f"{a - first:x}->{b - first:x}:{count}" for (a, b), count in sorted(jumps.items())]
    return "\n".join([str(len(rows)), *rows, str(len(taken)), *taken, ""])


def _stretches(
    library: Path, samples: Samples, stacks: Stacks | None
) -> tuple[Counter[_Pair], Counter[_Pair]]:
    """Return what ran straight through, and the branches between."""
    if stacks is None:
        found = known_addresses(samples, library)
        return Counter({(one, one): count for one, count in found.items()}), Counter()
    moved = moved_stacks(stacks, library)
    return _straight(moved), _known_jumps(moved)


def _straight(stacks: Stacks) -> Counter[_Pair]:
    found: Counter[_Pair] = Counter()
    for (_, start, end), count in stacks.runs.items():
        found[start, end] += count
    return found


def _known_jumps(stacks: Stacks) -> Counter[_Pair]:
    found: Counter[_Pair] = Counter()
    for (origin, start, _), count in stacks.runs.items():
        if origin is not None:
            found[origin, start] += count
    for (source, target), count in stacks.jumps.items():
        if source is not None and target is not None:
            found[source, target] += count
    return found


def known_addresses(samples: Samples, library: Path) -> dict[int, int]:
    """Return the samples by address of the library; those of no known mapping are left out."""
    found = addresses(samples.offsets, library)
    return {address: count for address, count in found.items() if address != UNMAPPED}


def moved_stacks(stacks: Stacks, library: Path) -> Stacks:
    """Return the stacks by address of the library instead of its file offsets."""
    segments = executable(library)

    def moved(offset: int | None) -> int | None:
        if offset is None:
            return None
        return next((offset + s for low, high, s in segments if low <= offset < high), None)

    found = Stacks()
    for (source, target), count in stacks.jumps.items():
        found.jumps[moved(source), moved(target)] += count
    for (origin, start, end), count in stacks.runs.items():
        first, last = moved(start), moved(end)
        if first is not None and last is not None:
            found.runs[moved(origin), first, last] += count
    return found
