"""Reading traces: processes of a file, and the events of one as a numpy array."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, TypeAdapter

from pipeline.core.errors import ChildFailed, DataError, SpaceError, UsageError
from pipeline.core.output import on_one_line
from pipeline.core.process import run
from pipeline.trace.tools import RecorderTools

READ_LIMIT_S = 3600.0
# Exit code of trace-tool: it could not write, or had no memory.
TOOL_FAILED = 1
NO_OBJECT = 0xFFFFFFFF
"""The object of free(NULL) and of a thread's end."""


class Kind(IntEnum):
    """What an event is, as in training/recorder/format.h."""

    MALLOC = 1
    CALLOC = 2
    ALIGNED = 3
    FREE = 4
    REALLOC = 5
    END = 7


ROW = np.dtype(
    [
        ("size", "<u8"),  # bytes of the object after the event; 0 after a free
        ("before", "<u8"),  # bytes of the object before it; 0 at its birth
        ("object", "<u4"),  # numbered by birth, from 0; NO_OBJECT: none
        ("thread", "<u4"),
        ("site", "<u4"),  # hash of the call site, 0: not recorded
        ("kind", "u1"),
        ("align", "u1"),  # log2 of the alignment asked for, 0: none
        ("zero", "<u2"),
    ]
)
"""One event; the layout of `row` in training/recorder/show.c."""


class Process(BaseModel):
    """One process of a trace. Times are in nanoseconds; those of a killed process are 0.

    ``about_events`` has an estimate of what a killed process wrote last, ``sealed_events`` not.
    """

    model_config = ConfigDict(frozen=True)

    command: str
    damage: str
    flags: int
    sample: int
    pid: int
    parent: int
    started_ns: int
    sealed_events: int
    about_events: int
    sealed_bytes: int
    lost: int
    left_out: int
    recorder_ns: int
    run_ns: int
    cpu_ns: int
    threads: int
    closed: bool

    @property
    def calls(self) -> int:
        """About how many events there were, also those that a ring has written over."""
        return max(self.sealed_events, self.about_events)

    @property
    def name(self) -> str:
        """The command line on one line that any terminal can show, or a dash."""
        text = self.command.encode("latin-1", "replace").decode("utf-8", "replace")
        return on_one_line(text).strip() or "-"


class Resolved(Process):
    """A process whose events have been read to the end, or up to the damage."""

    events: int
    objects: int
    foreign: int
    unseen: int
    times: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Trace:
    """The events of one process, in order: an array of ROW, on disk until it is looked at."""

    process: Resolved
    rows: NDArray[np.void]

    def seconds(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the times of the events at ``positions``, in seconds since the first one."""
        if not self.process.times:
            return np.zeros(len(positions))
        points = np.array(self.process.times, dtype=np.float64)
        times = np.maximum.accumulate(points[:, 1]) / 1e9
        return np.interp(positions, points[:, 0], times)


def processes(tools: RecorderTools, path: Path) -> list[Process]:
    """Return the processes of a trace. DataError says why a file is not one."""
    text = _tool(tools, "list", path)
    return TypeAdapter(list[Process]).validate_json(text)


def busiest(found: list[Process]) -> int:
    """Return the number of the process with the most events."""
    sizes = [process.about_events for process in found]
    return sizes.index(max(sizes))


def choose(path: Path, found: list[Process], number: int | None) -> int:
    """Return ``number``, or the busiest process without one; UsageError if there is none."""
    if number is None:
        return busiest(found)
    if not 0 <= number < len(found):
        raise UsageError(
            f"{path}: there is no process {number}; it has {len(found)}, numbered from 0",
            hint="`.venv/bin/pipeline trace info FILE` lists them",
        )
    return number


def read(tools: RecorderTools, path: Path, number: int | None = None) -> Trace:
    """Return process ``number`` of a trace, or the one with the most events.

    Raises DataError when the file is no trace, UsageError when there is no such process.
    """
    number = choose(path, processes(tools, path), number)
    with tempfile.TemporaryDirectory(prefix="hakmem-") as folder:
        rows = Path(folder) / "rows"
        process = Resolved.model_validate_json(_tool(tools, "rows", path, str(number), rows))
        # The file is unlinked with its folder; the mapping keeps it as long as it is used.
        array = np.memmap(rows, dtype=ROW, mode="r") if process.events else np.empty(0, dtype=ROW)
        return Trace(process, array)


def change(tools: RecorderTools, command: str, *arguments: str | Path) -> None:
    """Run ``cut``, ``merge`` or ``anonymise`` of trace-tool.

    Raises DataError for what is not a trace, SpaceError when the result cannot be written.
    """
    _tool(tools, command, *arguments)


def _tool(tools: RecorderTools, *arguments: str | Path) -> str:
    try:
        return run([tools.tool, *arguments], timeout_s=READ_LIMIT_S).stdout
    except ChildFailed as error:
        sentence = error.message.splitlines()[-1].strip()
        if error.returncode == TOOL_FAILED:
            room = tempfile.gettempdir()
            raise SpaceError(
                sentence,
                hint=f"is there room, also in {room} (32 bytes an event; TMPDIR names another)?",
            ) from error
        raise DataError(
            sentence, hint="a trace is what `.venv/bin/pipeline record -o FILE` writes"
        ) from error
