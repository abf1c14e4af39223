"""Programs by their bytes: two that say the same version may not do the same.

A compiler is mostly a shared library, which counts as well. What was hashed once is known by its
place, size and times, so that a build that has nothing to do stays quick.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline.core.digest import digest_file, digest_value, stamp_of
from pipeline.core.errors import ChildError
from pipeline.core.files import replace_text
from pipeline.core.nested import read_json
from pipeline.core.process import run

# Libraries that are part of a tool; all others, as libc, are the machine's.
MEMORY = "tools.json"
"""Where digests and versions are remembered, in the folder of what can be made again."""

_OWN_LIBRARIES = re.compile(r"=> (/\S*lib(?:LLVM|clang|lld|bolt)\S*)")


class Identities:
    """Digests of programs, remembered in a file; without it, or if damaged, all is hashed again."""

    def __init__(self, memory: Path) -> None:
        """Use ``memory``, which need not exist."""
        self._memory = memory
        self._known = _read(memory)

    def of(self, program: Path) -> str:
        """Return the digest of a program and of the libraries that are part of it."""
        return str(self._entry(program.resolve())["digest"])

    def said(self, program: Path, ask: Callable[[], str]) -> str:
        """Return what ``ask`` makes a program say about itself; only another file is asked anew.

        One file may have several names, and say something else under each. A script is asked each
        time: what it starts may have changed.
        """
        place = program.resolve()
        if not is_binary(place):
            return ask()
        known = self._entry(place).setdefault("said", {})
        if program.name not in known:
            known[program.name] = ask()
            self._keep()
        return str(known[program.name])

    def _entry(self, place: Path) -> dict[str, Any]:
        stamp = _stamp(place)
        entry = self._known.get(stamp)
        if entry is None or any(_stamp(Path(name)) != old for name, old in entry["with"].items()):
            libraries = _own_libraries(place)
            digest = digest_value([digest_file(path) for path in (place, *libraries)])
            entry = {"digest": digest, "with": {str(path): _stamp(path) for path in libraries}}
            self._known[stamp] = entry
            self._keep()
        return entry

    def _keep(self) -> None:
        replace_text(self._memory, json.dumps(self._known, indent=1) + "\n")


def is_binary(program: Path) -> bool:
    """Return whether a file is a compiled program or library, and no script."""
    try:
        with program.open("rb") as stream:
            return stream.read(4) == b"\x7fELF"
    except OSError:
        return False


def _stamp(path: Path) -> str:
    """Return what changes with every change of a file."""
    try:
        return f"{path} {stamp_of(path)}"
    except OSError:
        return f"{path} is gone"


def _own_libraries(program: Path) -> list[Path]:
    try:
        said = run(["ldd", program], timeout_s=20, expect=None).stdout
    except ChildError:
        return []
    return sorted({Path(name).resolve() for name in _OWN_LIBRARIES.findall(said)})


def _read(memory: Path) -> dict[str, Any]:
    try:
        known = read_json(memory)
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
