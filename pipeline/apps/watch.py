"""Watches the processes of a run: which there are, how large they grow, what is loaded in them.

The kernel's figures are read every few milliseconds, so a process that lives shorter may go
unseen. Whatever a run leaves behind, also what made itself a daemon, becomes our child
(PR_SET_CHILD_SUBREAPER) and is ended with the run.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from pipeline.core.descendants import descendants, status_kib
from pipeline.core.errors import ChildError
from pipeline.core.repeating import repeating

INTERVAL_S = 0.03
# A process without the library at this age has started without it, and had the time to.
GRACE_S = 0.5
# One that gets no processor maps it later: it is looked for again after this part of the age.
AGAIN_AFTER = 0.25
# How long ended processes may take to be collected.
REAP_LIMIT_S = 10.0
_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass
class Seen:
    """One process (up to an exec): when, how large in KiB, and whether the library was in it.

    ``looked`` is when the library was looked for last.
    """

    executable: str
    first: float
    last: float = 0.0
    looked: float = 0.0
    peak_kib: int = 0
    loaded: bool = False


@dataclass
class Watch:
    """A context in which all our descendants are watched; ``library`` is the file to look for."""

    library: Path
    processes: dict[tuple[int, str], Seen] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Prepare the looks."""
        self._ourselves = Path("/proc/self/cmdline").read_bytes()
        self._looking = repeating(self._look_at_all, INTERVAL_S)

    def __enter__(self) -> Watch:
        """Begin to watch, and adopt what our children leave behind."""
        if _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
            raise ChildError(
                "the kernel refuses PR_SET_CHILD_SUBREAPER",
                hint="run the suite outside of a sandbox that forbids prctl",
            )
        self._looking.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop watching and end every process that is left."""
        self._looking.__exit__(None, None, None)
        end_all()

    def _look_at_all(self) -> None:
        for pid in descendants(os.getpid()):
            self._look_at(pid)

    def _look_at(self, pid: int) -> None:
        folder = Path(f"/proc/{pid}")
        try:
            if (folder / "cmdline").read_bytes() == self._ourselves:
                return  # a copy of us between fork and exec, as large as we are
            executable = (folder / "exe").readlink().name
            peak = status_kib((folder / "status").read_text(encoding="utf-8"), "VmHWM")
            now = time.monotonic()
            seen = self.processes.setdefault((pid, executable), Seen(executable, now))
            if not seen.loaded and now - seen.looked >= AGAIN_AFTER * (seen.looked - seen.first):
                maps = (folder / "maps").read_text(encoding="utf-8", errors="replace")
                seen.loaded, seen.looked = str(self.library) in maps, now
        except OSError:
            return  # it has ended meanwhile
        seen.last = now
        seen.peak_kib = max(seen.peak_kib, peak)

    def peaks(self) -> dict[str, int]:
        """Return the peak RSS in KiB of the largest process of each executable."""
        found: dict[str, int] = {}
        for seen in self.processes.values():
            found[seen.executable] = max(found.get(seen.executable, 0), seen.peak_kib)
        return found

    def with_library(self) -> set[str]:
        """Return the executables in which the library was seen."""
        return {seen.executable for seen in self.processes.values() if seen.loaded}

    def without_library(self) -> set[str]:
        """Return the executables of which a process lived long enough without the library."""
        return {
            seen.executable
            for seen in self.processes.values()
            if not seen.loaded and seen.looked - seen.first >= GRACE_S
        }


def end_all() -> None:
    """Kill and collect every descendant; ChildError if one cannot be ended."""
    deadline = time.monotonic() + REAP_LIMIT_S
    while left := list(descendants(os.getpid())):
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        _reap()
        if time.monotonic() > deadline:
            raise ChildError(
                f"processes that do not end: {left}",
                hint="end them by hand, then run the app again",
            )
        time.sleep(0.005)


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return
