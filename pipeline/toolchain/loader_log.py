"""What the dynamic linker tells of the processes of a run: which programs, and where a library lay.

It writes a file PREFIX.NUMBER for each process, and adds to it after an exec.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_BEGINS = re.compile(r"^transferring control: (.*)$", re.MULTILINE)
_MAPPED = re.compile(
    r"file=(\S+) \[\d+\];\s+generating link map\s.*?base: (0x\w+)\s+size: (0x\w+)", re.DOTALL
)


@dataclass(frozen=True)
class Loaded:
    """The last program of a process; base and size of the library in it, None: it has none."""

    program: str
    place: tuple[int, int] | None


def tell_loaded(prefix: Path) -> dict[str, str]:
    """Return the variables by which the linker writes a file for each process."""
    return {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(prefix)}


def files_of(prefix: Path) -> list[Path]:
    """Return what was written."""
    return sorted(prefix.parent.glob(f"{prefix.name}.*"))


def last_programs(prefix: Path, library: Path) -> dict[str, Loaded]:
    """Return the last program of each process, by the number of the process.

    What starts it comes first in the file, and what the process ran before an exec.
    """
    found = {}
    for path in files_of(prefix):
        words = _BEGINS.split(_read(path))
        if len(words) > 2:  # text before each program's first line, and its name, in turn
            found[path.suffix[1:]] = Loaded(words[-2], _mapped(words[-3], library))
    return found


def mapped(path: Path, library: Path) -> tuple[int, int] | None:
    """Return where a process had ``library`` first, by its file: base and size; None: nowhere."""
    return _mapped(_read(path), library)


def _read(path: Path) -> str:
    """Return what a file says, without the number of the process before each line."""
    return re.sub(r"^ *\d+:\t?", "", path.read_text(errors="replace"), flags=re.MULTILINE)


def _mapped(text: str, library: Path) -> tuple[int, int] | None:
    for name, base, size in _MAPPED.findall(text):
        if name == str(library):
            return int(base, 16), int(size, 16)
    return None
