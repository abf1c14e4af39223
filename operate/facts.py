"""What is known of a process: whose malloc it has, which library, and what it may have."""

from __future__ import annotations

import filecmp
import hashlib
from pathlib import Path
from typing import Any

from operate import allocators, libraries, rejections, system
from operate.elf import Elf
from operate.in_force import without_effect
from operate.libraries import Library
from operate.processes import GONE, Process, file_name, is_gone


def facts(process: Process) -> dict[str, Any]:
    """Return all that is known of a process."""
    mapped, server = process.files(), process.server()
    ours = ours_in(mapped)
    failed = missing(process, mapped)
    started_with, limits = options(process), system.limits(process)
    elf = process.program_elf()
    linked_in = _is_linked_in(process, server)
    hidden = server not in (ours, process.program()) and _is_hidden(process, ours)
    unloaded = ours is None and not server and not (elf and elf.is_static)
    unknown = hidden or unloaded  # of a file that may not be read; or none is mapped yet
    return {
        "schema_version": 1,
        "pid": process.pid,
        "command": process.command(),
        "program": process.program(),
        "is_static": elf.is_static if elf else None,
        "is_go": elf.is_go if elf else None,
        "library": None if ours is None else library(process, ours),
        "serves_malloc": None if unknown else server == ours or linked_in,
        "malloc_from": None if hidden else process.program() if linked_in else server or None,
        "other_allocators": others(process, mapped, "" if hidden else server),
        "options": started_with,
        "options_without_effect": without_effect(process, ours, started_with, limits),
        "preload_failed": failed,
        "preload_reasons": {path: _refusal(process, path, elf) for path in failed},
        "huge_pages": system.huge_pages(process),
        "memory": system.memory(process),
        "limits": limits,
    }


def library(process: Process, path: str) -> dict[str, Any]:
    """Return what is known of the library: by its file, and the manifest of its bytes."""
    elf, known = process.elf(path), library_at(process, path)
    return {
        "path": path,
        "replaced_since": is_gone(path),
        "removed_since": is_gone(path) and not process.seen(path).exists(),
        "build_id": elf.build_id if elf else None,
        "version": known.version if known else None,
        "profile": known.profile if known else None,
        "level": known.level if known else None,
        "cpu": known.built_for if known else None,
        "rejected": rejections.rejection(known) if known else None,
        "restart_gives_another": restart_gives_another(process, path, known),
    }


def restart_gives_another(process: Process, path: str, now: Library | None) -> bool:
    """Return whether a process would get another library than now, one that is not rejected.

    ``path`` is the file that it has mapped. That of its LD_PRELOAD may lead elsewhere since. A
    version that was judged again has the same bytes under another name.
    """
    named = [one for one in process.preloads() if allocators.is_ours(one) and "/" in one]
    file = process.leads_to((named or [path])[0].removesuffix(GONE))
    if file is None or (not is_gone(path) and filecmp.cmp(file, process.seen(path), shallow=False)):
        return False
    then = libraries.manifest_of(file)
    if then is None:
        return True
    return rejections.rejection(then) is None and (now is None or then.version != now.version)


def ours_in(mapped: list[str]) -> str | None:
    """Return which of the mapped files is our library."""
    return next((path for path in mapped if allocators.is_ours(path)), None)


def published(process: Process) -> Library | None:
    """Return the published library that a process runs; None if nobody knows it."""
    ours = ours_in(process.files())
    return library_at(process, ours) if ours else None


def _is_hidden(process: Process, ours: str | None) -> bool:
    """Return whether our library is mapped from a file that is gone and that we may not read."""
    return ours is not None and is_gone(ours) and process.elf(ours) is None


def library_at(process: Process, path: str) -> Library | None:
    """Return the published library that has the bytes of a mapped file."""
    if not is_gone(path):
        return libraries.manifest_of(process.seen(path))
    try:
        digest = hashlib.sha256(process.mapped(path).read_bytes()).hexdigest()
    except OSError:
        return None
    return libraries.by_digest(process.seen(path), digest)


def _is_linked_in(process: Process, server: str) -> bool:
    """Return whether malloc is that of our static library, which is linked into the program.

    Nobody else can serve a static program that has it. Stripping takes the names away, not the
    probes.
    """
    elf = process.program_elf()
    if elf is None or not (elf.is_static or server == process.program()):
        return False
    return elf.has_ours or "hak_malloc" in elf.exported | elf.names


def others(process: Process, mapped: list[str], server: str) -> list[str]:
    """Return other allocators: libraries that are loaded, and what is linked into the program."""
    found = [
        f"{whose} ({path}){_use(path, server)}"
        for path in mapped
        if (whose := allocators.by_file_name(path))
    ]
    elf = process.elf(process.program())
    if elf is not None and (whose := allocators.inside(elf)):
        serves = ", which serves malloc" if server == process.program() else ""
        found.append(f"{whose} (inside {process.program()}{serves})")
    return found


def _use(path: str, server: str) -> str:
    """Say whether the program's malloc comes from a loaded library; "" where nobody knows."""
    if not server:
        return ""
    return ", which serves malloc" if path == server else ", whose malloc is not used"


def options(process: Process) -> dict[str, str] | None:
    """Return the options it was started with; none count in secure mode. None: nobody knows."""
    if process.variables_are_gone():
        return None
    if process.is_secure():
        return {}
    pairs = process.variables().items()
    return {name: value for name, value in sorted(pairs) if name.startswith("HAKMEM_")}


def missing(process: Process, mapped: list[str]) -> list[str]:
    """Return files of ours that should have been preloaded and are not mapped."""
    names = {file_name(path) for path in mapped}
    return [p for p in process.preloads() if allocators.is_ours(p) and Path(p).name not in names]


def _refusal(process: Process, path: str, program: Elf | None) -> str:
    """Return why the loader did not take a file, as far as that can be seen in the process's root.

    A name without a folder is looked for in many, so nothing is said of it.
    """
    if "/" in path and not process.has_file(path):
        return "there is no such file"
    is_static = program is not None and program.is_static
    return "a statically linked program loads nothing" if is_static else "the loader refused it"
