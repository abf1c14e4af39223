"""Programs by their bytes: two that say the same version may not do the same.

A compiler is mostly a shared library, which counts as well. What was hashed once is known by its
place, size and times, so that a build that has nothing to do stays quick.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pipeline.core.digest import digest_file, digest_value
from pipeline.core.errors import ChildError
from pipeline.core.files import replace_text
from pipeline.core.process import run

# Libraries that are part of a tool; all others, as libc, are the machine's.
_OWN_LIBRARIES = re.compile(r"=> (/\S*lib(?:LLVM|clang|lld|bolt)\S*)")


class Identities:
    """Digests of programs, remembered in a file; without it, or if damaged, all is hashed again."""

    def __init__(self, memory: Path) -> None:
        """Use ``memory``, which need not exist."""
        self._memory = memory
        self._known = _read(memory)

    def of(self, program: Path) -> str:
        """Return the digest of a program and of the libraries that are part of it."""
        place = program.resolve()
        stamp = _stamp(place)
        entry = self._known.get(stamp)
        if entry is None or any(_stamp(Path(name)) != old for name, old in entry["with"].items()):
            libraries = _own_libraries(place)
            digest = digest_value([digest_file(path) for path in (place, *libraries)])
            entry = {"digest": digest, "with": {str(path): _stamp(path) for path in libraries}}
            self._known[stamp] = entry
            replace_text(self._memory, json.dumps(self._known, indent=1) + "\n")
        return str(entry["digest"])


def _stamp(path: Path) -> str:
    """Return what changes with every change of a file."""
    try:
        facts = path.stat()
    except OSError:
        return f"{path} is gone"
    return f"{path} {facts.st_ino} {facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns}"


def _own_libraries(program: Path) -> list[Path]:
    try:
        said = run(["ldd", program], timeout_s=20, expect=None).stdout
    except ChildError:
        return []
    return sorted({Path(name).resolve() for name in _OWN_LIBRARIES.findall(said)})


def _read(memory: Path) -> dict[str, Any]:
    try:
        known = json.loads(memory.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
