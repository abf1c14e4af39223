"""Counts the system calls by which an allocator gets and gives back memory."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.harness.allocators import Allocator
from bench.harness.runner import RunFailed, run_child

CALLS = ("mmap", "munmap", "madvise", "mremap", "mprotect", "brk")


def available() -> bool:
    """Whether strace is installed."""
    return shutil.which("strace") is not None


def parse_summary(text: str) -> dict[str, int]:
    """Read the table of `strace -c`: calls by name; names that did not occur are 0."""
    counts = dict.fromkeys(CALLS, 0)
    for line in text.splitlines():
        fields = line.split()
        if len(fields) >= 5 and fields[-1] in counts:
            counts[fields[-1]] = int(fields[3])
    return counts


def count_calls(
    program: Path, arguments: Sequence[str], allocator: Allocator, timeout_s: float
) -> dict[str, int]:
    """Run a program once under strace, in all its threads; raise RunFailed as measure() does."""
    with tempfile.NamedTemporaryFile(mode="r", prefix="hakmem-strace-") as summary:
        preload = [f"--env=LD_PRELOAD={allocator.library}"] if allocator.library else []
        trace = f"--trace={','.join(CALLS)}"
        command = ["strace", "-f", "-c", trace, "-o", summary.name, *preload, str(program)]
        run_child([*command, *arguments], allocator.variables, timeout_s=timeout_s)
        text = summary.read()
    if "syscall" not in text:
        raise RunFailed("strace wrote no summary")
    return parse_summary(text)
