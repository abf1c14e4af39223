"""Runs one benchmark program with one allocator and reads its line of results."""

from __future__ import annotations

import mmap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench.harness.allocators import Allocator
from pipeline.core.errors import PipelineError
from pipeline.core.process import run

NAMES = ("bench", "command")
"""Fields of a line that are words."""

MADV_POPULATE_WRITE = 23
"""Touches pages. From linux/mman.h; the module mmap has no name for it."""


class RunFailed(Exception):
    """A program did not do what it should; the message says which and how."""


@dataclass(frozen=True)
class Sample:
    """One run: the program's numbers, as printed."""

    values: Mapping[str, float]

    @property
    def ns_per_op(self) -> float:
        """Wall time of one operation, in nanoseconds."""
        return self.values["seconds"] * 1e9 / self.values["ops"]

    @property
    def cpu_ns_per_op(self) -> float:
        """Processor time of all threads for one operation, in nanoseconds."""
        return self.values["cpu_seconds"] * 1e9 / self.values["ops"]

    @property
    def peak_rss_kib(self) -> float:
        """Highest resident memory of the process up to the end of the measured part."""
        return self.values["peak_rss_kib"]


def warm_memory(mib: int) -> None:
    """Have the system hold `mib` MiB of memory ready for the next program: write to it, free it.

    A virtual machine gives memory that was free for some seconds back to its host, and waits for
    the host at the next touch: three times the time of a program that uses 200 MiB, for whoever
    comes first. In huge pages, where there are any: freed small pages need not lie together, and
    a program that then takes huge ones would get others, which the host has.
    """
    if not mib:
        return
    with mmap.mmap(-1, mib << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        with suppress(OSError):  # a system without huge pages
            memory.madvise(mmap.MADV_HUGEPAGE)
        try:
            memory.madvise(MADV_POPULATE_WRITE)
        except OSError:  # Linux before 5.14
            memory.write(bytes(len(memory)))


def run_child(command: Sequence[str], environment: Mapping[str, str], timeout_s: float) -> str:
    """Run a command in a clean environment, return its stdout; raise RunFailed.

    Also when hakmem complains: an option that it does not understand would change nothing.
    """
    try:
        done = run(command, env=environment, timeout_s=timeout_s)
    except PipelineError as error:
        raise RunFailed(" ".join(error.message.split())) from None
    for line in done.stderr.splitlines():
        if line.startswith("hakmem: "):
            raise RunFailed(line)
    return done.stdout


def read_line(stdout: str, allocator: Allocator) -> Sample:
    """Read the last line; raise RunFailed if malloc did not come from the allocator's file.

    The dynamic linker only warns when it cannot preload a library, and goes on with libc's.
    """
    lines = stdout.strip().splitlines()
    fields = dict(pair.split("=", 1) for pair in lines[-1].split() if "=" in pair) if lines else {}
    if "seconds" not in fields:
        raise RunFailed("the program printed no line of results")
    came_from = fields.pop("allocator", "nowhere")
    if allocator.library and came_from not in allocator.file_names:
        raise RunFailed(f"malloc came from {came_from}: {allocator.library} was not preloaded")
    return Sample({key: float(value) for key, value in fields.items() if key not in NAMES})


def measure(
    program: Path, arguments: Sequence[str], allocator: Allocator, timeout_s: float
) -> Sample:
    """Run a program once with an allocator preloaded; raise RunFailed with what went wrong."""
    preload = {"LD_PRELOAD": str(allocator.library)} if allocator.library else {}
    stdout = run_child(
        [str(program), *arguments], {**allocator.variables, **preload}, timeout_s=timeout_s
    )
    return read_line(stdout, allocator)
