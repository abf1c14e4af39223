"""``hakmem check``: whether processes use the library, which one, and what it may have."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

from operate import allocators, libraries, rejections, system
from operate.libraries import Library
from operate.processes import GONE, Process, file_name, is_gone, number
from operate.telling import tell
from pipeline.core.errors import ExitCode, UsageError
from pipeline.core.huge_pages import meant
from pipeline.core.output import on_one_line

_COLUMNS, _NAME = 80, 19
_TIE = "\u00a0"
"""Holds a name and its figure together in a row."""

_HINT = "; `hakmem run -- PROGRAM` starts a program with it"

_EXAMPLES = """\
Examples:
  hakmem check $(pidof nginx)
  hakmem check --json 1234

With --json each process is one line, an object. One that has ended, or that you may not
look into, is told on stderr, and the others are checked all the same.

Exit codes: 0 malloc is the library's in each; 18 it is not, or is unknown; 2 it is in
each that was looked into, and one was not; else docs/exit-codes.md."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "pids", metavar="pid", nargs="+", type=number, help="number of a process, or of several"
    )
    parser.add_argument(
        "--json", action="store_true", help="the same for programs: an object in a line for each"
    )
    parser.epilog = _EXAMPLES


def run(args: argparse.Namespace) -> int:
    """Print what is found of each process, and tell whether all have the library's malloc."""
    serves: list[bool | None] = []
    unseen = ExitCode.OK
    for pid in args.pids:
        try:
            found = _looked_into(Process(pid))
        except UsageError as error:
            sys.stdout.flush()
            unseen = tell(error)
            continue
        said = json.dumps(found) if args.json else _page(found)
        print("\n" if serves and not args.json else "", said, sep="")
        serves.append(found["serves_malloc"])
    return unseen if all(serves) else ExitCode.UNUSED


def _looked_into(process: Process) -> dict[str, Any]:
    """Return the facts of a process; UsageError if it cannot be looked into, or ends meanwhile."""
    process.require_readable()
    try:
        found = facts(process)
    except OSError:
        process.require_readable()
        raise
    process.require_readable()  # else what was read last may be of a process that had ended
    return found


def _page(found: dict[str, Any]) -> str:
    return "\n".join(map(on_one_line, lines(found)))


def facts(process: Process) -> dict[str, Any]:
    """Return all that is known of a process."""
    mapped, server = process.files(), process.server()
    ours = ours_in(mapped)
    failed = missing(process, mapped)
    hidden = server not in (ours, process.program()) and _is_hidden(process, ours)
    return {
        "schema_version": 1,
        "pid": process.pid,
        "command": process.command(),
        "program": process.program(),
        "library": None if ours is None else library(process, ours),
        "serves_malloc": None if hidden else server == ours or _is_linked_in(process, server),
        "malloc_from": None if hidden else server or None,
        "other_allocators": others(process, mapped, "" if hidden else server),
        "options": options(process),
        "preload_failed": failed,
        "preload_reasons": {path: _refusal(process, path) for path in failed},
        "huge_pages": system.huge_pages(process),
        "memory": system.memory(process),
        "limits": system.limits(process),
    }


def library(process: Process, path: str) -> dict[str, Any]:
    """Return what is known of the library: by its file, and the manifest of its bytes."""
    elf, known = process.elf(path), _published(process, path)
    return {
        "path": path,
        "replaced_since": is_gone(path),
        "removed_since": is_gone(path) and not process.place(path).exists(),
        "build_id": elf.build_id if elf else None,
        "version": known.version if known else None,
        "profile": known.profile if known else None,
        "level": known.level if known else None,
        "cpu": known.built_for if known else None,
        "rejected": rejections.rejection(known) if known else None,
        "restart_gives_another": restart_gives_another(process, path, known),
    }


def restart_gives_another(process: Process, path: str, now: Library | None) -> bool:
    """Tell whether a process would get another version than now, one that is not rejected.

    ``path`` is the file that it has mapped. That of its LD_PRELOAD may lead elsewhere since.
    """
    named = [one for one in process.preloads() if allocators.is_ours(one) and "/" in one]
    file = process.leads_to((named or [path])[0].removesuffix(GONE))
    if file is None or (not is_gone(path) and file.samefile(process.place(path))):
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
    return _published(process, ours) if ours else None


def _is_hidden(process: Process, ours: str | None) -> bool:
    """Tell whether our library is mapped from a file that is gone and that we may not read."""
    return ours is not None and is_gone(ours) and process.elf(ours) is None


def _published(process: Process, path: str) -> Library | None:
    """Return the published library that has the bytes of a mapped file."""
    if not is_gone(path):
        return libraries.manifest_of(process.place(path))
    try:
        digest = hashlib.sha256(process.mapped(path).read_bytes()).hexdigest()
    except OSError:
        return None
    return libraries.by_digest(process.place(path), digest)


def _is_linked_in(process: Process, server: str) -> bool:
    """Tell whether the program itself serves malloc and has our static library inside."""
    elf = process.elf(server) if server and server == process.program() else None
    return elf is not None and "hak_malloc" in elf.exported | elf.names


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


def _refusal(process: Process, path: str) -> str:
    """Return why the loader did not take a file, as far as that can be seen in the process's root.

    A name without a folder is looked for in many, so nothing is said of it.
    """
    there = "/" not in path or process.has_file(path)
    return "the loader refused it" if there else "there is no such file"


def lines(found: dict[str, Any]) -> list[str]:
    """Return the facts as a person reads them."""
    rows = [
        ("process", f"{found['pid']}, {found['command']}"),
        ("program", found["program"]),
        ("malloc is hakmem's", _serves(found)),
        *_library_rows(found),
        *(("other allocator", one) for one in found["other_allocators"]),
        *(("not preloaded", f"{one}: {why}") for one, why in found["preload_reasons"].items()),
        *_option_rows(found["options"], found["pid"]),
        *_huge_page_rows(found["huge_pages"]),
        *_rows("memory", found["memory"]),
        *_rows("limits", found["limits"]),
    ]
    return [f"{name:<{_NAME}} {text}" for name, text in rows]


def _serves(found: dict[str, Any]) -> str:
    """Return who serves malloc, as a person reads it."""
    known = found["library"]
    if found["serves_malloc"] is None:
        return "unknown: its file was replaced since, and root alone may read it"
    if found["serves_malloc"] and known and known["replaced_since"]:
        named = f", {known['version']}" if known["version"] else ""
        if known["removed_since"]:
            return f"yes, by a file since removed{named}; after a restart it has libc's malloc"
        return f"yes, by a file since replaced{named}; restart it to get the new one"
    if found["serves_malloc"] and known and _is_outdated(known):
        return (
            f"yes, by a version since replaced, {known['version']}; restart it to get the new one"
        )
    if found["serves_malloc"] and known:
        return "yes"  # by the file in the row below
    source = found["malloc_from"]
    where = f"it comes from {source}" if source else "nobody knows where it comes from"
    return f"{'yes' if found['serves_malloc'] else 'NO'}: {where}"


def _is_outdated(known: dict[str, Any]) -> bool:
    """Tell whether the link that a process was started by leads to another version since."""
    named = known["version"] is not None and known["rejected"] is None
    return named and known["restart_gives_another"]


def _option_rows(known: dict[str, str] | None, pid: int) -> list[tuple[str, str]]:
    """Return the environment of the start; what a file changed since, `hakmem top` knows."""
    if known is None:
        asks = f"hakmem top --once --json {pid}".replace(" ", _TIE)
        said = f"unknown: the program wrote over its environment; `{asks}` has those in force"
        rows = _wrapped("options at start", f"{said}, if the process has a socket")
        return [(name, row.replace(_TIE, " ")) for name, row in rows]
    said = " ".join(f"{name}={value}" for name, value in known.items())
    return _wrapped("options at start", said or "none set")


def _wrapped(title: str, text: str) -> list[tuple[str, str]]:
    """Return a text in rows that a terminal of 80 columns has room for; words stay whole."""
    width = _COLUMNS - _NAME - 1
    rows = textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)
    return [(title if i == 0 else "", row) for i, row in enumerate(rows)]


def _library_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    known = found["library"]
    if known is None:
        hint = "" if found["serves_malloc"] else _HINT
        return [("library", f"not loaded{hint}")]
    replaced = "; the file was replaced or removed since" if known["replaced_since"] else ""
    return [
        ("library", f"{known['path']}{replaced}"),
        *_version_rows(known),
        *_rejection_rows(known),
    ]


def _version_rows(known: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the name of the version; where only its build-id is known, what finds the name."""
    build_id = known["build_id"] or "unknown"
    if known["version"]:
        named = f"{known['version']}, profile {known['profile']}"
        return [("version", f"{named}, build-id {build_id}")]
    if not (known["replaced_since"] and known["build_id"]):
        return [("version", f"no manifest, build-id {build_id}")]
    debug = f"dist/*/*/lib/debug/.build-id/{build_id[:2]}/{build_id[2:8]}*"
    return [
        ("version", f"unknown: its manifest went with it; build-id {build_id}"),
        ("its name", f"ls {debug}, where it was built"),
    ]


def _rejection_rows(known: dict[str, Any]) -> list[tuple[str, str]]:
    if known["rejected"] is None:
        return []
    restarts = known["restart_gives_another"]
    return [("warning", rejections.sentence(known["version"], known["rejected"], restarts))]


def _huge_page_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what the process has of huge pages, what the system gives, and the lines for more."""
    forbidden = "" if facts["allowed_in_process"] else "; this process may have none (prctl)"
    return [
        ("huge pages", f"{_said('huge_bytes', facts['huge_bytes'])} in use{forbidden}"),
        ("  of 2 MiB", meant(facts["of_2_MiB"])),
        ("  of 64 KiB", meant(facts["of_64_KiB"])),
        *((name.replace("_", " "), line) for name, line in facts.items() if name[:8] == "to_allow"),
    ]


def _rows(title: str, facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return facts, as many in a row as a terminal of 80 columns has room for."""
    names = {name: name.replace("_", " ").removesuffix(" bytes") for name in facts}
    said = [f"{names[name]} {_said(name, value)}" for name, value in facts.items()]
    whole = ", ".join(one.replace(" ", _TIE) for one in said)
    return [(name, row.replace(_TIE, " ")) for name, row in _wrapped(title, whole)]


def _said(name: str, value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    counts = name in ("mappings", "overcommit")
    if isinstance(value, int) and not counts:
        return f"{value / (1 << 20):.1f} MiB"
    return str(value)
