"""Doing something now and then, in a thread, while other work goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def repeating(act: Callable[[], None], every_s: float) -> Iterator[None]:
    """Call ``act`` each time that so many seconds have gone by, until the block is over."""
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(every_s):
            act()

    beside = threading.Thread(target=repeat, daemon=True)
    beside.start()
    try:
        yield
    finally:
        over.set()
        beside.join()
