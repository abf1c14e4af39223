"""Which processes come from one, as they are now: its children, their children and so on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def descendants(pid: int) -> Iterator[int]:
    """Yield the children of a process, their children and so on."""
    for child in children(pid):
        yield child
        yield from descendants(child)


def children(pid: int) -> list[int]:
    """Return the children of all threads of a process; none if it has ended."""
    found: list[int] = []
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            text = (thread / "children").read_text(encoding="ascii")
            found += [int(word) for word in text.split()]
    except OSError:
        return found
    return found


def status_kib(status: str, key: str) -> int:
    """Return a figure in KiB of the text of /proc/PID/status; 0 if it has none, as of the dead."""
    for line in status.splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1])
    return 0
