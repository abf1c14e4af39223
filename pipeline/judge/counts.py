"""Records of what was counted, in our loops and in whole programs. None is unknown, everywhere."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, FiniteFloat

from pipeline.judge.request import CacheGeometry
from pipeline.judge.samples import Record

CountingSource = Literal["hardware", "valgrind", "static"]


class Measured(Record):
    """A count per operation: the middle one of the repeats, the smallest and the largest."""

    value: FiniteFloat
    low: FiniteFloat
    high: FiniteFloat


class LibraryCounts(Record):
    """What one library did in one workload. Unknown counts are None.

    ``instructions`` to ``dtlb_misses`` are per operation, in the library alone; simulation tells
    instructions, branches (conditional and indirect) and I1 misses, the rest is hardware's.
    ``total_instructions`` are per operation, benchmark and libc included. ``hot_lines`` and
    ``hot_pages`` are the fewest 64 B lines and 4 KiB pages that hold 99 % of the instructions
    executed; ``lines`` and ``pages`` are all that were touched.
    """

    operations: int = Field(gt=0)
    instructions: Measured | None = None
    total_instructions: Measured | None = None
    i1_misses: Measured | None = None
    branches: Measured | None = None
    branch_misses: Measured | None = None
    cycles: Measured | None = None
    itlb_misses: Measured | None = None
    l1d_misses: Measured | None = None
    dtlb_misses: Measured | None = None
    lines: int | None = None
    hot_lines: int | None = None
    pages: int | None = None
    hot_pages: int | None = None

    @property
    def instructions_per_cycle(self) -> Measured | None:
        """Instructions per cycle in the library; the ends are as far apart as both counts allow."""
        done, cycles = self.instructions, self.cycles
        if done is None or cycles is None or not cycles.low:
            return None
        return Measured(
            value=done.value / cycles.value,
            low=done.low / cycles.high,
            high=done.high / cycles.low,
        )


class WorkloadCounts(Record):
    """Counts of one workload in one instruction cache (None for the machine's real one).

    ``env`` are the variables that counted runs have beyond timed ones.
    """

    name: str
    weight: float
    argv: tuple[str, ...]
    env: dict[str, str]
    geometry: CacheGeometry | None
    baseline: LibraryCounts
    tuned: LibraryCounts


class Counting(Record):
    """All counts; ``workloads`` decide.

    ``curve`` has the further cache geometries, for the workload that presses most on the I-cache.
    """

    source: CountingSource
    why: str
    scope: str
    workloads: tuple[WorkloadCounts, ...] = ()
    curve: tuple[WorkloadCounts, ...] = ()
    uncounted: tuple[str, ...] = ()


class ProgramCounts(Record):
    """What one library did in one run of a whole program, and all that the program did beside it.

    ``hot_lines`` are the fewest 64 B lines that hold 99 % of the library's instructions.
    """

    instructions: int = Field(gt=0)
    i1_misses: int = Field(ge=0)
    hot_lines: int = Field(gt=0)
    total_instructions: int = Field(gt=0)
    total_i1_misses: int = Field(ge=0)


class TouchedCounts(ProgramCounts):
    """The same with all 64 B lines and 4 KiB pages of the library whose code the program ran."""

    lines: int
    pages: int


class RealProgram(Record):
    """One task of a real program, simulated as a whole with both libraries.

    The counts are None where the program is not installed or has failed; ``detail`` says so.
    ``own`` tells whether a verify command of the profile runs it, too; older records say it of any
    workload. ``digest`` is one of the program and of the files that its command names. Both are
    None in records that do not know.
    """

    name: str
    command: str
    status: Literal["counted", "skipped", "failed"]
    detail: str
    baseline: ProgramCounts | None = None
    tuned: ProgramCounts | None = None
    weight: float = 1.0
    own: bool | None = None
    digest: str | None = None
