"""One run per tree, one hand at ``current``: locks that the kernel drops when their holder dies."""

from __future__ import annotations

import fcntl
import itertools
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TextIO

from pipeline.core.errors import BusyError
from pipeline.core.output import on_one_line

_PUBLISHING = ("build", "bundle import")


@contextmanager
def tree_lock(folder: Path, *, wait: bool, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of the tree's state ``folder``.

    When another run has it: with ``wait`` say so and wait, else raise BusyError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    holder = folder / "lock-holder"
    with (folder / "lock").open("a") as lock:
        if not _takes(lock):
            sentence = _sentence(folder)
            if not wait:
                raise BusyError(sentence, hint="wait until it has ended")
            say(f"{sentence}; waiting for it")
            _wait_for(lock, folder, say)
        holder.write_text(_self(), encoding="utf-8")
        yield  # closed, the file lets go of the lock


def _wait_for(lock: TextIO, folder: Path, say: Callable[[str], None]) -> None:
    """Take the lock when it is free; say each minute who has it, which may be one more run by then.

    It asks each second, as nothing could be said while the kernel waits.
    """
    for second in itertools.count(1):
        time.sleep(1)
        if _takes(lock):
            return
        if second % 60 == 0:
            say(f"{_sentence(folder)}; waiting for {second // 60} min now")


def _takes(lock: TextIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def other_run(folder: Path) -> str:
    """Return what holds the lock of the tree's state ``folder``, as a sentence; "" if nothing."""
    try:
        with (folder / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _sentence(folder)
    except OSError:  # nobody has made it, or may read it
        pass
    return ""


def publishing_run(folder: Path) -> str:
    """Return the same of a run that may publish a version: a review or an experiment does not."""
    other = other_run(folder)
    return other if any(f"`pipeline {one}" in other for one in _PUBLISHING) else ""


def _sentence(folder: Path) -> str:
    return f"another pipeline run works in this tree ({_describe(folder / 'lock-holder')})"


@contextmanager
def marks_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of ``current`` and of the marks, in the tree's state ``folder``.

    Nobody holds it while something is measured: a rollback beside a running build waits for
    seconds at most. Who needs the lock of the tree as well takes that one first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "marks-lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def folder_lock(folder: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of a folder itself, so that no file of it stays there; say so and wait.

    What is not there, or lies where folders have no locks, as on NFS, is used without one.
    """
    with ExitStack() as held:
        with suppress(OSError):
            opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            held.callback(os.close, opened)
            _take_folder(opened, folder, say)
        yield


def _take_folder(opened: int, folder: Path, say: Callable[[str], None]) -> None:
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say(f"another run installs or removes files below {folder}; waiting for it")
        fcntl.flock(opened, fcntl.LOCK_EX)


def _self() -> str:
    words = shlex.join(["pipeline", *sys.argv[1:]])
    return f"process {os.getpid()}, `{on_one_line(words)}`, since {time.strftime('%H:%M')}"


def _describe(holder: Path) -> str:
    try:
        return holder.read_text(encoding="utf-8")
    except OSError:
        return "process unknown"
