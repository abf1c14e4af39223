"""Ctrl-C and what ends us from outside, held back for the moment in which a child is started.

From outside come SIGTERM, and SIGHUP from a terminal that is closed; `nohup` lets us ignore that.

Python calls functions of its own between fork and exec, and an exception that a signal handler
raises in one of them is printed and lost: the interrupt would never arrive.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from types import FrameType

Handler = Callable[[int, FrameType | None], object]

_held = False
_arrived = False


def install() -> None:
    """Let ctrl-C, SIGTERM and SIGHUP raise KeyboardInterrupt in the main thread."""
    signal.signal(signal.SIGINT, _arrive)
    for number in _from_outside():
        signal.signal(number, _arrive)


def _from_outside() -> list[signal.Signals]:
    both = (signal.SIGTERM, signal.SIGHUP)
    return [number for number in both if signal.getsignal(number) != signal.SIG_IGN]


def _may_be_interrupted() -> bool:
    """Return whether this is the main thread: Python runs handlers of signals in no other one."""
    return threading.current_thread() is threading.main_thread()


def interrupt() -> None:
    """Interrupt the main thread from another one, as ctrl-C does: it wakes from any wait."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Note interrupts inside the block instead of raising them; :func:`check` raises them.

    Another thread, which starts a child meanwhile, changes nothing for the main one.
    """
    global _held  # noqa: PLW0603  # signal handlers have no other place
    if not _may_be_interrupted():
        yield
        return
    _held = True
    try:
        yield
    finally:
        _held = False


def check() -> None:
    """Raise KeyboardInterrupt if an interrupt arrived while it was held."""
    global _arrived  # noqa: PLW0603  # as above
    if _arrived and _may_be_interrupted():
        _arrived = False
        raise KeyboardInterrupt


@contextlib.contextmanager
def left_to_a_child() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Leave ctrl-C to a child on our terminal and pass other signals on to it; main thread only.

    Enter it before the child starts, and call what it yields with the child: no signal is too
    early then. Both have handlers, for a signal that is ignored would stay so over exec.
    """
    children: list[subprocess.Popen[bytes]] = []
    arrived: list[int] = []

    def pass_on(number: int, _frame: FrameType | None) -> None:
        arrived.append(number)
        for child in children:
            child.send_signal(number)

    def adopt(child: subprocess.Popen[bytes]) -> None:
        children.append(child)
        for number in arrived:
            child.send_signal(number)

    with _handling(ctrl_c=lambda *_: None, others=pass_on):
        yield adopt


@contextlib.contextmanager
def calling(what: Callable[[], None]) -> Iterator[None]:
    """Call ``what`` at each of these signals inside the block; main thread only."""

    def call(_signal: int, _frame: FrameType | None) -> None:
        what()

    with _handling(ctrl_c=call, others=call):
        yield


@contextlib.contextmanager
def _handling(ctrl_c: Handler, others: Handler) -> Iterator[None]:
    handlers = {signal.SIGINT: ctrl_c} | dict.fromkeys(_from_outside(), others)
    before = {number: signal.signal(number, one) for number, one in handlers.items()}
    try:
        yield
    finally:
        for number, one in before.items():
            signal.signal(number, one)


def _arrive(_signal: int, _frame: FrameType | None) -> None:
    global _arrived  # noqa: PLW0603  # as above
    if not _held:
        raise KeyboardInterrupt
    _arrived = True
