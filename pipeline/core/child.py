"""A child process from its start to its end: its environment, its group, its death with ours."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from pipeline.core import interrupts
from pipeline.core.descendants import last_of_line
from pipeline.core.errors import ToolError

# Everything else in the caller's environment stays outside.
KEPT_VARIABLES = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR")
# One language and one time zone: messages are parsed, and outputs are compared.
FIXED_VARIABLES = {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
# With these, what is counted in python3 and perl is the same each time.
SAME_HASHES = {"PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0"}
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.PyDLL(None)


class _Running:
    """The children that somebody waits for; none is begun any more once they are to end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pids: set[int] = set()
        self._over = False

    def add(self, pid: int) -> None:
        with self._lock:
            self._pids.add(pid)
            if self._over:
                kill_group(pid)

    def remove(self, pid: int) -> None:
        with self._lock:
            self._pids.discard(pid)

    def end(self, over: bool) -> None:
        with self._lock:
            self._over = over
            for pid in self._pids if over else ():
                kill_group(pid)


_running = _Running()


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment children get: a kept few, fixed locale and zone, then ``extra``."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    if "TMPDIR" in kept:
        kept["TMPDIR"] = tempfile.gettempdir()  # the same as ours, where that is none to write to
    return kept | FIXED_VARIABLES | dict(extra or {})


def start(
    words: tuple[str, ...],
    env: Mapping[str, str] | None,
    cwd: Path | None,
    stdin: Path | None,
    out: IO[bytes],
    err: IO[bytes],
    tied: bool,
) -> subprocess.Popen[bytes]:
    """Start a child in a group of its own; ``tied``: it does not outlive a SIGKILL of ours."""
    source: IO[bytes] | int = stdin.open("rb") if stdin else subprocess.DEVNULL
    try:
        return subprocess.Popen(
            words,
            env=clean_environment(env),
            cwd=cwd,
            stdin=source,
            stdout=out,
            stderr=err,
            start_new_session=True,
            # System calls alone, no lock of Python; but with it Python forks where it could vfork.
            preexec_fn=partial(die_with, os.getpid()) if tied else None,  # noqa: PLW1509
        )
    except OSError as error:
        raise cannot_start(words, error) from error
    finally:
        if not isinstance(source, int):
            source.close()


def die_with(parent: int) -> None:
    """Run in the child before exec: a SIGKILL of the pipeline takes the child along."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was killed before the kernel knew of our wish
        os.kill(os.getpid(), signal.SIGKILL)


@contextlib.contextmanager
def ended() -> Iterator[None]:
    """Kill all children that other threads wait for, and those that they begin in this block."""
    _running.end(over=True)
    try:
        yield
    finally:
        _running.end(over=False)


@dataclass(frozen=True)
class End:
    """How a child ended: not by itself if it was killed when its time was over.

    ``running`` names what it waited for then: its descendants without children of their own.
    """

    by_itself: bool
    returncode: int
    seconds: float
    cpu_seconds: float
    running: tuple[str, ...] = ()


def run_to_end(start: Callable[[], subprocess.Popen[bytes]], timeout_s: float | None) -> End:
    """Start a child and wait until it is dead; whatever is raised meanwhile, it does not live on.

    An interrupt may come between any two lines, also between the start and the wait.
    """
    child: subprocess.Popen[bytes] | None = None
    started = time.monotonic()  # the child may run for a while before we know that it does
    try:
        with interrupts.held():
            child = start()
            _running.add(child.pid)
        by_itself = _wait(child, timeout_s)
        running = () if by_itself else last_of_line(child.pid)
        seconds = time.monotonic() - started
        cpu_seconds = _reap(child)
    except BaseException:
        if child is not None and child.returncode is None:
            with contextlib.suppress(ChildProcessError):
                _reap(child)
        raise
    return End(by_itself, child.returncode, seconds, cpu_seconds, running)


def _wait(child: subprocess.Popen[bytes], timeout_s: float | None) -> bool:
    """Wait until the child is dead or the time is over; True when it ended by itself.

    A pidfd wakes us at once; Popen.wait with a time-out would sleep in steps of up to 50 ms.
    """
    interrupts.check()
    descriptor = os.pidfd_open(child.pid)
    try:
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        return bool(poller.poll(None if timeout_s is None else timeout_s * 1000))
    finally:
        os.close(descriptor)


def _reap(child: subprocess.Popen[bytes]) -> float:
    """Kill what is left of the group, collect the child; return its CPU seconds."""
    _running.remove(child.pid)
    kill_group(child.pid)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def kill_group(pid: int) -> None:
    """Kill a process and its group, if it is still there."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def cannot_start(words: Sequence[str], error: OSError) -> ToolError:
    """Return what to raise for a program of ours that cannot be started."""
    return ToolError(
        f"cannot start {words[0]}: {error.strerror or error}",
        hint="`./bootstrap doctor` shows which tools are missing and how to install them",
    )
