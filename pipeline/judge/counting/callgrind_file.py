"""Reading callgrind's output, instruction by instruction, and picking out one library.

callgrind knows an object by its ``.text`` section alone. Code of the same file in ``.text.hot``,
``.text.cold`` or ``.bolt.org.text`` comes out under the object ``???`` with absolute addresses,
while known objects have addresses relative to their load base. Summing by object name would lose
exactly the code that a layout tool has moved, so everything here goes by address.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import DataError

UNKNOWN_OBJECT = "???"
BRANCHES = ("Bc", "Bi")
"""Conditional and indirect branches; calls and plain jumps are not simulated."""

HOT_SHARE = 0.99
"""The hot lines are the fewest that hold this share of the library's executed instructions."""


@dataclass(frozen=True)
class Region:
    """Where one library lies in the counted process: absolute ``base``, ``span`` in bytes."""

    path: str
    base: int
    span: int

    def offset(self, obj: str, address: int) -> int | None:
        """Return the offset of ``address`` in the library, or None when it lies elsewhere."""
        if obj == self.path:
            return address
        if obj == UNKNOWN_OBJECT and self.base <= address < self.base + self.span:
            return address - self.base
        return None


@dataclass(frozen=True)
class Profile:
    """What a library executed, and the whole program beside it.

    Instructions and I1 misses per offset in the library; ``branches`` in the library, conditional
    and indirect ones, None where the file does not count them.
    """

    instructions: Counter[int]
    i1_misses: Counter[int]
    total_instructions: int
    total_i1_misses: int = 0
    branches: int | None = None

    def touched(self, unit: int) -> int:
        """Return how many aligned blocks of ``unit`` bytes were executed at least once."""
        return len(self._blocks(unit))

    def hot(self, unit: int) -> int:
        """Return the fewest aligned blocks of ``unit`` bytes that hold HOT_SHARE of all."""
        wanted = HOT_SHARE * self.instructions.total()
        held = 0
        for number, (_, count) in enumerate(self._blocks(unit).most_common(), start=1):
            held += count
            if held >= wanted:
                return number
        return 0

    def _blocks(self, unit: int) -> Counter[int]:
        blocks: Counter[int] = Counter()
        for offset, count in self.instructions.items():
            blocks[offset // unit] += count
        return blocks


def read_profile(path: Path, region: Region) -> Profile:
    """Return what ``region`` executed according to the callgrind file ``path``.

    The file must be written with --dump-instr=yes --compress-strings=no --compress-pos=no.
    Raises DataError when the file is missing, is something else, or its own sum does not agree.
    """
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            return _read(stream, region)
    except (OSError, ValueError) as error:
        raise DataError(
            f"cannot use the counts in {path}: {error}",
            log=path,
            hint="the same command again counts anew; a build needs `--from verify` for that",
        ) from error


def _read(lines: Iterable[str], region: Region) -> Profile:
    instructions: Counter[int] = Counter()
    misses: Counter[int] = Counter()
    total = total_misses = branches = 0
    header = _Header()
    for obj, address, costs in _cost_lines(lines, header):
        executed, missed = costs[0], header.i1_misses(costs)
        total += executed
        total_misses += missed
        offset = region.offset(obj, address)
        if offset is not None:
            instructions[offset] += executed
            misses[offset] += missed
            branches += header.branches(costs)
    if total != header.summary:
        raise ValueError(f"the lines add up to {total}, but its sum says {header.summary}")
    known = branches if header.branch_columns else None
    return Profile(instructions, misses, total, total_misses, known)


class _Header:
    """What the head of the file says: the columns that matter, and the sum of instructions."""

    i1_column: int | None = None
    branch_columns: tuple[int, ...] = ()
    summary: int | None = None

    def i1_misses(self, costs: tuple[int, ...]) -> int:
        """Return the misses of one line; callgrind leaves out the zeros at its end."""
        if self.i1_column is None:
            raise ValueError("there are costs before the line that names them")
        return costs[self.i1_column] if len(costs) > self.i1_column else 0

    def branches(self, costs: tuple[int, ...]) -> int:
        """Return the branches of one line."""
        return sum(costs[column] for column in self.branch_columns if len(costs) > column)

    def take(self, line: str) -> None:
        if line.startswith("positions:") and line.split()[1:] != ["instr"]:
            raise ValueError(f"unexpected {line.strip()!r}")
        if line.startswith("events:"):
            names = line.split()[1:]
            if names[0] != "Ir":
                raise ValueError(f"unexpected {line.strip()!r}")
            self.i1_column = names.index("I1mr")
            self.branch_columns = tuple(n for n, name in enumerate(names) if name in BRANCHES)
        if line.startswith(("summary:", "totals:")):
            self.summary = int(line.split()[1])


def _cost_lines(
    lines: Iterable[str], header: _Header
) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """Yield (object, address, costs) of every line of self cost.

    The line after ``calls=`` is what the callee cost: that is counted where it happened.
    """
    obj, inclusive = "", False
    for line in lines:
        if line.startswith("0x"):
            if not inclusive:
                address, *costs = line.split()
                yield obj, int(address, 16), tuple(map(int, costs))
            inclusive = False
        elif line.startswith("ob="):
            obj = line[3:].strip()
        elif line.startswith("calls="):
            inclusive = True
        else:
            header.take(line)
