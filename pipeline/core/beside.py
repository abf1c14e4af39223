"""Children that are not simply run to their end: those beside us, and somebody else's program."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pipeline.core import interrupts
from pipeline.core.child import kill_group, start
from pipeline.core.descendants import children
from pipeline.core.errors import ToolError
from pipeline.core.left_behind import wait_for_the_rest
from pipeline.core.process import tell

_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.PyDLL(None)


class Beside:
    """A child that works beside us, its output in a file: what it has said can be shown later."""

    def __init__(self, child: subprocess.Popen[bytes], log: Path) -> None:
        self._child = child
        self._log = log
        self._started = time.monotonic()
        self._seconds = 0.0
        self._waiter = threading.Thread(target=self._wait, daemon=True)
        self._waiter.start()

    def _wait(self) -> None:
        """Wait for its end, and leave it to be reaped: until then others count without it."""
        os.waitid(os.P_PID, self._child.pid, os.WEXITED | os.WNOWAIT)
        self._seconds = time.monotonic() - self._started

    def finish(self, show: Callable[[str], None]) -> tuple[int, float, float]:
        """Show what it says until it ends; return its exit code, seconds, and processor seconds."""
        with self._log.open(encoding="utf-8", errors="replace") as said:
            while self._waiter.is_alive():
                self._waiter.join(0.2)
                show(said.read())
            show(said.read())
        before = children_cpu_s()
        return self._child.wait(), self._seconds, children_cpu_s() - before

    def end(self) -> None:
        """Kill it and its group, unless it has ended."""
        if self._waiter.is_alive():
            kill_group(self._child.pid)
            self._waiter.join()
        self._child.wait()


def children_cpu_s() -> float:
    """Return the processor seconds of all children that have ended and were waited for."""
    used = os.times()
    return used.children_user + used.children_system


@contextlib.contextmanager
def running_beside(
    argv: Sequence[str | Path],
    *,
    log: Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Iterator[Beside]:
    """Start ``argv`` with its output in ``log``; it does not outlive the block."""
    words = tuple(str(word) for word in argv)
    tell(words, env, cwd)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as out, interrupts.held():
        child = Beside(start(words, env, cwd, None, out, out, True), log)
    try:
        interrupts.check()
        yield child
    finally:
        child.end()


def run_as_it_is(
    argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> int:
    """Run somebody's program as they would: our own environment, input and output; wait for all.

    Returns its exit code, 128 + N after signal N. Processes that it leaves behind (a daemon) are
    waited for too, which is said on stderr; children that we had before are not. Ctrl-C reaches
    the program and not us; SIGTERM and SIGHUP are passed on. Once it has ended, each ends what it
    has left (left_behind.py).
    """
    tell(argv, env, cwd)
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    before = set(children(os.getpid()))
    with interrupts.left_to_a_child() as adopt:
        try:
            child = subprocess.Popen(list(argv), env=os.environ | dict(env or {}), cwd=cwd)
        except OSError as error:
            raise ToolError(
                f"cannot start {argv[0]}: {error.strerror or error}",
                hint="is its name or path right, and may it be executed?",
            ) from error
        adopt(child)
        code = child.wait()
        wait_for_the_rest(before)
    return code if code >= 0 else 128 - code
