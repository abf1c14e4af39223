"""What the tests of traces share: the recorder, a program to record, and a way to count."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipeline.core.paths import Tree
from pipeline.trace.read import Kind, Trace, processes, read
from pipeline.trace.record import EVERYTHING, Wishes, record
from pipeline.trace.tools import RecorderTools, recorder_tools

HERE = Path(__file__).parent
EARLY, LATE, CHILD, EXECED, HANDED, LOOPED, PASSED = range(30001, 30008)
EXCHANGED = 40000


@dataclass(frozen=True)
class Recorder:
    """The recorder's files, the program traced.c, and a folder for traces."""

    tools: RecorderTools
    program: Path
    folder: Path

    def record(self, *arguments: str, name: str = "a", wishes: Wishes = EVERYTHING) -> Path:
        """Record a run of the program; it must end well."""
        output = self.folder / f"{name}.trace"
        code = record(self.tools, [str(self.program), *arguments], output, wishes)
        assert code == 0
        return output

    def read(self, path: Path, number: int | None = None) -> Trace:
        """Return the events of one process."""
        return read(self.tools, path, number)

    def every(self, path: Path) -> list[Trace]:
        """Return the events of all processes."""
        return [self.read(path, n) for n in range(len(processes(self.tools, path)))]


def make_recorder(folder: Path, traces: Path) -> Recorder:
    """Build the recorder and the program."""
    program = folder / "traced"
    flags = ["-O1", "-fno-builtin", "-pthread", "-D_GNU_SOURCE"]
    subprocess.run(["cc", *flags, HERE / "traced.c", "-o", program], check=True)
    return Recorder(recorder_tools(Tree.here()), program, traces)


def births(trace: Trace, size: int) -> int:
    """Return how many objects were born with this size."""
    born = trace.rows["kind"] <= Kind.ALIGNED
    return int(np.count_nonzero(born & (trace.rows["size"] == size)))


def deaths(trace: Trace, size: int) -> int:
    """Return how many objects of this size were freed."""
    return int(np.count_nonzero((trace.rows["kind"] == Kind.FREE) & (trace.rows["before"] == size)))
