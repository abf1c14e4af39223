"""Which programs a training started: the dynamic linker tells, for counts are named by number."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

NAME = "started"
_INIT, _PROGRAM = "calling init: ", "initialize program: "


def tell_started(folder: Path) -> dict[str, str]:
    """Return the variables by which the linker writes a file in ``folder`` for each process."""
    return {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(folder / NAME)}


def started(folder: Path, library: Path) -> dict[str, str]:
    """Return the program of each process that had the library, by its number."""
    found = {}
    for path in folder.glob(f"{NAME}.*"):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        if program := _program(lines, library):
            found[path.name.removeprefix(f"{NAME}.")] = program
    return found


def _program(lines: Iterable[str], library: Path) -> str:
    """Return the name of the last program that a process ran; "" where it had no library then."""
    loaded, program = False, ""
    for line in lines:
        if _INIT in line:
            loaded = loaded or line.endswith(f"{_INIT}{library}")
        elif _PROGRAM in line:
            program = Path(line.partition(_PROGRAM)[2]).name if loaded else ""
            loaded = False
    return program
