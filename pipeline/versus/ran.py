"""Which processes a command has, looked at while it runs: what `--time-of` would take or leave."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path

from pipeline.core.descendants import descendants, status_kib
from pipeline.core.repeating import repeating
from pipeline.versus.model import Ran

EVERY_S = 0.005
LEAST_S = 0.05
"""The clocks of /proc go in steps of 0.01 s."""


class Watch:
    """All descendants of this process but ``runner``, as they were at the last look at each.

    A child that this process has just forked still has its command line, and is not looked at.
    """

    def __init__(self, runner: str, library: Path) -> None:
        """Look for the file ``library``."""
        self._runner, self._library = runner, str(library)
        self._own = _command_line(Path("/proc/self"))
        self._seen: dict[int, Ran] = {}

    def watching(self) -> AbstractContextManager[None]:
        """Look in a thread of its own while the block works."""
        return repeating(self._look_at_all, EVERY_S)

    def _look_at_all(self) -> None:
        for pid in descendants(os.getpid()):
            self._look(pid)

    def _look(self, pid: int) -> None:
        place = Path(f"/proc/{pid}")
        try:
            line = _command_line(place)
            has = self._library in (place / "maps").read_text("utf-8", "replace")
            seconds = _seconds(place)
            peak = status_kib((place / "status").read_text("utf-8", "replace"), "VmHWM")
        except (OSError, ValueError, IndexError):  # it has ended
            return
        name = line.split("\0")[0]
        if name in ("", self._runner) or line == self._own or not peak:  # or dead, not collected
            return
        self._seen[pid] = Ran(name=Path(name).name, library=has, seconds=seconds, peak_kib=peak)

    def found(self) -> tuple[Ran, ...]:
        """Return what ran by name, with and without the library, the busiest first."""
        names: dict[tuple[str, bool], list[Ran]] = {}
        for one in self._seen.values():
            names.setdefault((one.name, one.library), []).append(one)
        together = (
            all_[0].model_copy(
                update={
                    "seconds": sum(one.seconds for one in all_),
                    "peak_kib": max(one.peak_kib for one in all_),
                }
            )
            for all_ in names.values()
        )
        return tuple(sorted(together, key=lambda one: -one.seconds))


def _command_line(place: Path) -> str:
    return (place / "cmdline").read_text("utf-8", "replace")


def _seconds(place: Path) -> float:
    stat = (place / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def notes_on(ran: tuple[Ran, ...]) -> list[str]:
    """Say where most of the time, or the peak, is not that of a process with the library."""
    timed = next((one for one in ran if one.library), None)
    if timed is None or sum(one.seconds for one in ran) < LEAST_S:
        return []
    others = [one for one in ran if not one.library]
    share = sum(one.seconds for one in others) / sum(one.seconds for one in ran)
    largest = max(ran, key=lambda one: one.peak_kib)
    said = []
    if share > 1 / 2:
        said.append(
            f"{share:.0%} of the processor time is of processes without the library "
            f"({_names(others)}): add `--time-of {timed.name}`, and only {timed.name} is timed"
        )
    if not largest.library:
        said.append(
            f"the peak is that of {largest.name}, which runs without the library: "
            f"`--time-of {timed.name}` takes that of {timed.name}"
        )
    return said


def _names(ran: list[Ran]) -> str:
    most = ", ".join(one.name for one in ran[:3])
    return most if len(ran) <= 3 else f"{most}, ..."
