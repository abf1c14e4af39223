"""Ctrl-C and SIGTERM, held back for the moment in which a child process is started.

Python calls functions of its own between fork and exec, and an exception that a signal handler
raises in one of them is printed and lost: the interrupt would never arrive.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
from collections.abc import Callable, Iterator
from types import FrameType

_held = False
_arrived = False


def install() -> None:
    """Let SIGINT and SIGTERM raise KeyboardInterrupt in the main thread."""
    signal.signal(signal.SIGINT, _arrive)
    signal.signal(signal.SIGTERM, _arrive)


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Note interrupts inside the block instead of raising them; :func:`check` raises them."""
    global _held  # noqa: PLW0603  # signal handlers have no other place
    _held = True
    try:
        yield
    finally:
        _held = False


def check() -> None:
    """Raise KeyboardInterrupt if an interrupt arrived while it was held."""
    global _arrived  # noqa: PLW0603  # as above
    if _arrived:
        _arrived = False
        raise KeyboardInterrupt


@contextlib.contextmanager
def left_to_a_child() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Leave ctrl-C to a child on our terminal and pass SIGTERM on to it; main thread only.

    Enter it before the child starts, and call what it yields with the child: no signal is too
    early then. Both have handlers, for a signal that is ignored would stay so over exec.
    """
    children: list[subprocess.Popen[bytes]] = []
    terminated = False

    def pass_on(_signal: int, _frame: FrameType | None) -> None:
        nonlocal terminated
        terminated = True
        for child in children:
            child.terminate()

    def adopt(child: subprocess.Popen[bytes]) -> None:
        children.append(child)
        if terminated:
            child.terminate()

    before = signal.signal(signal.SIGINT, lambda *_: None), signal.signal(signal.SIGTERM, pass_on)
    try:
        yield adopt
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])


@contextlib.contextmanager
def calling(what: Callable[[], None]) -> Iterator[None]:
    """Call ``what`` at each ctrl-C and SIGTERM inside the block; main thread only."""

    def call(_signal: int, _frame: FrameType | None) -> None:
        what()

    before = signal.signal(signal.SIGINT, call), signal.signal(signal.SIGTERM, call)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])


def _arrive(_signal: int, _frame: FrameType | None) -> None:
    global _arrived  # noqa: PLW0603  # as above
    if not _held:
        raise KeyboardInterrupt
    _arrived = True
