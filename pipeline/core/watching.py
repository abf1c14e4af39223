"""Looking at what a child has written so far, while it runs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import IO

from pipeline.core.repeating import repeating

PERIOD_S = 0.25
TAIL_BYTES = 2000
_STEP = re.compile(r"^\[(\d+)/(\d+)\] ", re.MULTILINE)

Look = Callable[[str], None]
Parts = Callable[[int, int], None]


def watching(stream: IO[bytes], look: Look | None) -> AbstractContextManager[None]:
    """Give ``look`` the last words of a file that a child writes, now and then, in a thread."""
    if look is None:
        return nullcontext()
    return repeating(lambda: look(_tail(stream.fileno())), PERIOD_S)


def _tail(file: int) -> str:
    """Return the end of a file; who writes it shares the place where it is, so that stays."""
    size = os.fstat(file).st_size
    return os.pread(file, TAIL_BYTES, max(0, size - TAIL_BYTES)).decode("utf-8", "replace")


def steps_of_ninja(tell: Parts) -> Look:
    """Return what tells how many of its steps ninja has done, and of how many."""

    def look(text: str) -> None:
        if steps := _STEP.findall(text):
            done, total = steps[-1]
            tell(int(done), int(total))

    return look
