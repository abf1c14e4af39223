"""What somebody's program leaves behind: it is waited for, named, and ended if the user asks."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading

from pipeline.core import interrupts
from pipeline.core.descendants import children, descendants, name_of

PATIENCE_S = 1.0
"""After so long what a program left behind is named. Many end at once."""
GRACE_S = 1.0
"""So long a process has to end by a signal, before it gets the next one."""


def wait_for_the_rest(others: set[int]) -> None:
    """Wait for all children but ``others``, and end them if ctrl-C is pressed."""
    ending = _Ending(others)
    teller = threading.Timer(PATIENCE_S, _tell_of_the_rest, [others])
    teller.start()
    with interrupts.calling(ending.go_on):
        while left := _children_beside(others):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(left.pop(), 0)
    teller.cancel()
    ending.over()


class _Ending:
    """Ends all children but ``others``: by SIGINT, and by SIGTERM and SIGKILL if they go on."""

    def __init__(self, others: set[int]) -> None:
        self._others = others
        self._ways = iter((signal.SIGINT, signal.SIGTERM))
        self._next: threading.Timer | None = None

    def go_on(self) -> None:
        """Send the next signal. Called by a handler of signals, too, so it prints nothing."""
        self.over()
        way = next(self._ways, signal.SIGKILL)
        for child in _children_beside(self._others):
            for one in (*descendants(child), child):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, way)
        if way != signal.SIGKILL:
            self._next = threading.Timer(GRACE_S, self._insist, [way])
            self._next.daemon = True
            self._next.start()

    def _insist(self, way: signal.Signals) -> None:
        if names := _names(self._others):
            then = signal.SIGTERM if way == signal.SIGINT else signal.SIGKILL
            sys.stderr.write(f"not ended by {way.name}, so now by {then.name}: {names}\n")
            self.go_on()

    def over(self) -> None:
        """Send nothing more by itself."""
        if self._next is not None:
            self._next.cancel()


def _tell_of_the_rest(others: set[int]) -> None:
    if names := _names(others):
        sys.stderr.write(
            f"the command has ended, and has left behind: {names}; this waits until you stop that, "
            "or press ctrl-C to end it\n"
        )


def _names(others: set[int]) -> str:
    left = sorted(_children_beside(others))
    return ", ".join(f"{name_of(one) or 'a process'} (process {one})" for one in left)


def _children_beside(others: set[int]) -> set[int]:
    """Return our children without ``others``. The kernel's list may lack one while another ends."""
    return set(children(os.getpid())) - others or set(children(os.getpid())) - others
