"""The facts of a process in rows that a person reads, as `hakmem check` prints them."""

from __future__ import annotations

import textwrap
from typing import Any

from operate import rejections
from operate.telling import as_typed
from pipeline.core.huge_pages import meant

_COLUMNS, _NAME = 80, 19
_LIMITS, _CGROUP = ("HAKMEM_SOFT_LIMIT", "HAKMEM_HARD_LIMIT"), "cgroup_"
_TIE = "\u00a0"
"""Holds a name and its figure together in a row."""

_HINT = "`hakmem run -- PROGRAM` starts a program with it"


def lines(found: dict[str, Any]) -> list[str]:
    """Return the facts as a person reads them."""
    rows = [
        ("process", f"{found['pid']}, {found['command']}"),
        ("program", found["program"]),
        ("malloc is hakmem's", _serves(found)),
        *_go_rows(found),
        *_library_rows(found),
        *(("other allocator", one) for one in found["other_allocators"]),
        *(("not preloaded", f"{one}: {why}") for one, why in found["preload_reasons"].items()),
        *_option_rows(found["options"], found["pid"], found["options_without_effect"]),
        *_huge_page_rows(found["huge_pages"]),
        *_rows("memory", found["memory"]),
        *_limit_rows(found["limits"], found["options"] or {}),
    ]
    return [f"{name:<{_NAME}} {text}" for name, text in rows]


def _go_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what a Go program has of any malloc: it serves what cgo code asks C for."""
    said = "Go's own heap is not malloc's: only what its cgo code asks C for is"
    return [("a Go program", said)] if found["is_go"] else []


def _serves(found: dict[str, Any]) -> str:
    """Return who serves malloc, as a person reads it."""
    if found["serves_malloc"] is None and not found["library"]:
        return "unknown: no file that it has loaded has malloc; has it just started? Ask again"
    if found["serves_malloc"] is None:
        return "unknown: its file was replaced since, and root alone may read it"
    if not found["serves_malloc"]:
        return f"NO: {_otherwise(found)}"
    known = found["library"]
    return _by_file(known) if known else f"yes: it comes from {found['malloc_from']}"


def _by_file(known: dict[str, Any]) -> str:
    """Return a yes, with what a restart would change; the file is in the row below."""
    named = f", {known['version']}" if known["version"] else ""
    if known["removed_since"]:
        return f"yes, by a file since removed{named}; after a restart it has libc's malloc"
    if known["replaced_since"]:
        return f"yes, by a file since replaced{named}; restart it to get the new one"
    if _is_outdated(known):
        return f"yes, by a version since replaced{named}; restart it to get the new one"
    return "yes"


def _otherwise(found: dict[str, Any]) -> str:
    """Return where a malloc that is not the library's comes from, or why nobody preloads one."""
    if found["is_static"]:
        return "it is statically linked, so nothing can be preloaded"
    return f"it comes from {found['malloc_from']}"


def _is_outdated(known: dict[str, Any]) -> bool:
    """Return whether the link that a process was started by leads to another version since."""
    named = known["version"] is not None and known["rejected"] is None
    return named and known["restart_gives_another"]


def _option_rows(
    known: dict[str, str] | None, pid: int, idle: dict[str, str] | None = None
) -> list[tuple[str, str]]:
    """Return the environment of the start; what a file changed since, `hakmem top` knows.

    ``idle`` says why some of it has no effect.
    """
    if known is None:
        asks = as_typed(f"`hakmem top --once --json {pid}`").replace(" ", _TIE)
        said = f"unknown: the program wrote over its environment; {asks} has those in force"
        rows = _wrapped("options at start", f"{said}, if the process has a socket")
        return [(name, row.replace(_TIE, " ")) for name, row in rows]
    notes = {name: f"{_TIE}({why})".replace(" ", _TIE) for name, why in (idle or {}).items()}
    said = " ".join(f"{name}={value}{notes.get(name, '')}" for name, value in known.items())
    rows = _wrapped("options at start", said or "none set")
    return [(name, row.replace(_TIE, " ")) for name, row in rows]


def _wrapped(title: str, text: str) -> list[tuple[str, str]]:
    """Return a text in rows that a terminal of 80 columns has room for; words stay whole."""
    width = _COLUMNS - _NAME - 1
    rows = textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)
    return [(title if i == 0 else "", row) for i, row in enumerate(rows)]


def _library_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    known = found["library"]
    if known is None:
        if found["serves_malloc"]:
            return [("library", "linked into the program")]
        can_have_it = found["serves_malloc"] is False and not found["is_static"]
        hint = f"; {as_typed(_HINT)}" if can_have_it else ""
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


def _limit_rows(limits: dict[str, Any], options: dict[str, str]) -> list[tuple[str, str]]:
    """Return who limits memory: the library by its options, where they are set, and others."""
    ours = {name: options[name] for name in _LIMITS if name in options}
    of_cgroup = {name: one for name, one in limits.items() if name.startswith(_CGROUP)}
    of_system = {name: one for name, one in limits.items() if name not in of_cgroup}
    said = " ".join(f"{name}={value}" for name, value in ours.items())
    return [
        *([("limits by options", said)] if ours else []),
        *_rows("limits of system", of_system),
        *_rows("limits of cgroup", {n.removeprefix(_CGROUP): v for n, v in of_cgroup.items()}),
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
