"""One run per tree, one hand at ``current``: locks that the kernel drops when their holder dies."""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from pipeline.core.errors import BusyError
from pipeline.core.nested import read_json
from pipeline.core.output import on_one_line

_HOLDER = "lock-holder"
_PUBLISHING = (("build",), ("bundle", "import"))
"""Words after which a run may publish a version: a review or an experiment does not."""


@dataclass(frozen=True)
class _Holder:
    """The run that has the lock of a tree, as it has written of itself."""

    process: int
    words: tuple[str, ...]
    since: str

    @classmethod
    def this(cls) -> _Holder:
        """Return this very run."""
        return cls(os.getpid(), tuple(sys.argv[1:]), time.strftime("%H:%M"))

    @classmethod
    def read(cls, file: Path) -> _Holder | None:
        """Return what a file tells of a run; None where nobody can read that."""
        try:
            said = read_json(file)
            return cls(int(said["process"]), tuple(map(str, said["words"])), str(said["since"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @property
    def publishes(self) -> bool:
        """Whether it may publish a version."""
        return any(self.words[: len(begin)] == begin for begin in _PUBLISHING)

    def __str__(self) -> str:
        words = on_one_line(shlex.join(["pipeline", *self.words]))
        return f"process {self.process}, `{words}`, since {self.since}"


@contextmanager
def tree_lock(folder: Path, *, wait: bool, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of the tree's state ``folder``.

    When another run has it: with ``wait`` say so and wait, else raise BusyError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    holder = folder / _HOLDER
    with (folder / "lock").open("a") as lock:
        if not _takes(lock):
            sentence = _sentence(folder)
            if not wait:
                raise BusyError(sentence, hint="wait until it has ended")
            say(f"{sentence}; waiting for it")
            _wait_for(lock, folder, say)
        holder.write_text(json.dumps(asdict(_Holder.this())), encoding="utf-8")
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
    """Return the same of a run that may publish a version."""
    holder = _Holder.read(folder / _HOLDER)
    return other_run(folder) if holder is not None and holder.publishes else ""


def _sentence(folder: Path) -> str:
    holder = _Holder.read(folder / _HOLDER) or "process unknown"
    return f"another pipeline run works in this tree ({holder})"


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
