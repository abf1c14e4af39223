"""The socket of the library in a process that wrote over its variables, as redis does."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from operate.processes import Process

_THREAD = "hakmem-stats"  # allocator/report/: it answers at the socket
_LISTENS = 0x10000  # __SO_ACCEPTCON in the column of flags
_MODE = 0o600  # what the library gives its socket; sockets for other users have more


def listening(process: Process) -> list[str]:
    """Return the paths at which the library may answer, as the process names them.

    Nobody else's socket is asked: the thread of the library is there, and the file is the owner's
    alone.
    """
    if not _has_thread(process):
        return []
    mine = set(_descriptors(process))
    found = [path for inode, path in _listeners(process) if inode in mine]
    return [path for path in found if _is_private(process.place(path))]


def _has_thread(process: Process) -> bool:
    names = []
    for file in (process.folder / "task").glob("*/comm"):
        with suppress(OSError):  # a thread that has ended meanwhile
            names.append(file.read_text("utf-8", errors="replace").strip())
    return _THREAD in names


def _descriptors(process: Process) -> Iterator[int]:
    """Yield the numbers of the sockets that it has open."""
    for link in (process.folder / "fd").iterdir():
        with suppress(OSError):  # closed meanwhile
            if found := re.fullmatch(r"socket:\[(\d+)\]", str(link.readlink())):
                yield int(found.group(1))


def _listeners(process: Process) -> Iterator[tuple[int, str]]:
    """Yield numbers and paths of all Unix sockets that wait for clients."""
    for line in process.text("net/unix").splitlines()[1:]:
        words = line.split(maxsplit=7)
        if len(words) == 8 and int(words[3], 16) & _LISTENS and words[7].startswith("/"):
            yield int(words[6]), words[7]


def _is_private(place: Path) -> bool:
    try:
        mode = place.stat().st_mode
    except OSError:
        return False
    return stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == _MODE
