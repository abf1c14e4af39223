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


def last_of_line(pid: int) -> tuple[str, ...]:
    """Return the names of a process and its descendants that wait for no other: what works yet."""
    names = {one: name_of(one) for one in (pid, *descendants(pid))}
    alive = {one: name for one, name in names.items() if name}
    last = (name for one, name in alive.items() if not alive.keys() & children(one))
    return tuple(dict.fromkeys(last))


def name_of(pid: int) -> str:
    """Return the name of a process; "" if it is gone, or dead and not collected."""
    place = Path(f"/proc/{pid}")
    try:
        state = (place / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
        name = (place / "comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
    return "" if state.split()[0] == "Z" else name


def status_kib(status: str, key: str) -> int:
    """Return a figure in KiB of the text of /proc/PID/status; 0 if it has none, as of the dead."""
    for line in status.splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1])
    return 0
