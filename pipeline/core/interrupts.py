"""Ctrl-C and SIGTERM, held back for the moment in which a child process is started.

Python calls functions of its own between fork and exec, and an exception that a signal handler
raises in one of them is printed and lost: the interrupt would never arrive.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
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


def _arrive(_signal: int, _frame: FrameType | None) -> None:
    global _arrived  # noqa: PLW0603  # as above
    if not _held:
        raise KeyboardInterrupt
    _arrived = True
