"""What a running process tells of its memory: the socket of its library, and /proc beside it."""

from __future__ import annotations

import json
import re
from typing import Any

from operate.asking import ask_itself, silent
from operate.processes import Process
from operate.sockets import listening
from pipeline.core.errors import UsageError
from pipeline.core.nested import parse

VARIABLE = "HAKMEM_STATS_SOCKET"
_ROLLUP = {
    "resident_bytes": "Rss",
    "proportional_bytes": "Pss",
    "huge_page_bytes": "AnonHugePages",
    "swapped_bytes": "Swap",
}
Document = dict[str, Any]


def look(process: Process) -> Document:
    """Return all that is known just now; UsageError says what to do where nothing is."""
    process.require_readable()
    told = _ask(process, socket_path(process))
    return {**told, "pid": process.pid, "system": rollup(process)}


def rollup(process: Process) -> dict[str, int | None]:
    """Return what the kernel says of all memory of the process; None: it does not say."""
    text = process.text("smaps_rollup")
    found = {name: re.search(rf"^{key}:\s+(\d+) kB", text, re.M) for name, key in _ROLLUP.items()}
    return {name: int(one.group(1)) * 1024 if one else None for name, one in found.items()}


def _own_number(process: Process) -> int:
    """Return the number that the process has for itself, which is another one in a container."""
    found = re.search(r"^NSpid:.*?(\d+)$", process.text("status"), re.M)
    return int(found.group(1)) if found else process.pid


def socket_path(process: Process) -> str:
    """Return where its socket should be, seen from here; UsageError if it names none."""
    named = "" if process.is_secure() else process.variables().get(VARIABLE, "")
    path = named.replace("%p", str(_own_number(process))) or _found(process)
    return path if process.sees_our_files() else str(process.place(path))


def _found(process: Process) -> str:
    """Return the socket of a process whose variables do not name it."""
    found = listening(process) if process.variables_are_gone() else []
    if not found:
        raise UsageError(
            f"process {process.pid} has no socket for statistics",
            hint=f"`hakmem check {process.pid}` says whether it uses the library. If so, start it "
            f"with {VARIABLE}=/tmp/%p.sock; a forked child, such as nginx's workers, has one once "
            "it has lived for a second and then allocates: docs/statistics.md",
        )
    if len(found) > 1:
        raise UsageError(
            f"process {process.pid} wrote over its variables, and listens at {', '.join(found)}",
            hint="ask the library's own: curl --unix-socket PATH http://localhost/metrics",
        )
    return found[0]


def _ask(process: Process, path: str) -> Document:
    try:
        told = parse(json.loads, ask_itself(process, path, "GET", "/json").body)
    except ValueError as error:
        raise silent(process, path, error) from error
    if not isinstance(told, dict):
        raise UsageError(f"what answers at {path} is not the library")
    return told
