"""One run per tree, one hand at ``current``: locks that the kernel drops when their holder dies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from pipeline.core.errors import BusyError


@contextmanager
def tree_lock(folder: Path, *, wait: bool, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of the tree's state ``folder``.

    When another run has it: with ``wait`` say so once and wait, else raise BusyError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / "lock")
    holder = folder / "lock-holder"
    try:
        lock.acquire(timeout=0)
    except Timeout:
        sentence = f"another pipeline run works in this tree ({_describe(holder)})"
        if not wait:
            raise BusyError(sentence, hint="wait until it has ended") from None
        say(f"{sentence}; waiting for it")
        lock.acquire()
    try:
        holder.write_text(f"process {os.getpid()}", encoding="utf-8")
        yield
    finally:
        lock.release()


@contextmanager
def marks_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of ``current`` and of the marks, in the tree's state ``folder``.

    Nobody holds it while something is measured: a rollback beside a running build waits for
    seconds at most. Who needs the lock of the tree as well takes that one first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "marks-lock"):
        yield


def _describe(holder: Path) -> str:
    try:
        return holder.read_text(encoding="utf-8")
    except OSError:
        return "process unknown"
