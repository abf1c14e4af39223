"""Values of the library's options: which of them it would refuse, said before a program starts.

A library that refuses a value goes on with the default. For a limit that means none, so nobody
would notice. The ranges are those of the table in the library's own file (policy/option.h).
"""

from __future__ import annotations

import os
import re
import stat
import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from pipeline.core.errors import UsageError
from pipeline.core.spelling import did_you_mean

PREFIX = "HAKMEM_"
SIZES = ("HAKMEM_SOFT_LIMIT", "HAKMEM_HARD_LIMIT")
"""Options that take units and shares: those of kind SIZE in policy/options.def."""
_ENTRY = struct.Struct("<32s3Q")
_FIRST = b"HAKMEM_PURGE_DELAY".ljust(32, b"\0")
_SHIFTS = {"": 0, "k": 10, "m": 20, "g": 30}
_SIZE = re.compile(r"(\d+)(?:([kmg])(?:i?b)?)?", re.ASCII | re.IGNORECASE)
_SHARE = re.compile(r"(\d+)%", re.ASCII)
_NAMES = re.compile(rb"HAKMEM_[A-Z0-9_]+(?==?\0)")
_PAGE, _LONGEST_SOCKET, _LONGEST_FILE = 65536, 107, 4094
Ranges = Mapping[str, tuple[int, int]]


def variable(name: str) -> str:
    """Return the variable that a name means: purge-delay and purge_delay are the same."""
    return PREFIX + name.upper().replace("-", "_").removeprefix(PREFIX)


def ranges(library: bytes) -> dict[str, tuple[int, int]]:
    """Return the lowest and the highest value of each number, from the table in the library."""
    found, at = dict[str, tuple[int, int]](), library.find(_FIRST)
    while at >= 0 and library.startswith(PREFIX.encode(), at):
        if at + _ENTRY.size > len(library):
            break
        name, standard, lowest, highest = _ENTRY.unpack_from(library, at)
        if not lowest <= standard <= highest:
            break
        found[name.rstrip(b"\0").decode()] = lowest, highest
        at += _ENTRY.size
    return found


def require(name: str, value: str, known: Ranges) -> None:
    """Raise UsageError where the library would refuse a value."""
    why = _why_text(name, value, known) if name in TEXTS else why_number(name, value, known)
    if why:
        raise UsageError(
            f"{name}={value} cannot be used: {why}",
            hint="docs/options.md has all options, with the values that they take",
        )


def names(library: bytes) -> set[str]:
    """Return the names of all options that a library has."""
    return {name.decode() for name in _NAMES.findall(library)}


def why_number(name: str, value: str, known: Ranges) -> str:
    """Return why the library would refuse a value of an option that is a number; or ""."""
    if name not in known:
        return ""
    lowest, highest = known[name]
    if name in SIZES:
        return _why_size(value, highest, 1 if name == "HAKMEM_SOFT_LIMIT" else _PAGE)
    good = re.fullmatch(r"[0-9]+", value) and lowest <= int(value) <= highest
    return "" if good else f"it takes a whole number from {lowest} to {highest}"


def _why_size(value: str, highest: int, least: int) -> str:
    share, size = _SHARE.fullmatch(value), _SIZE.fullmatch(value)
    if share and 1 <= int(share[1]) <= 100:
        return ""
    size_bytes = int(size[1]) << _SHIFTS[(size[2] or "").lower()] if size else highest + 1
    if size_bytes > highest:
        return "it takes a number of bytes, also with K, M or G, or a share from 1% to 100%"
    if 0 < size_bytes < least:
        return f"a limit of {size_bytes} bytes is too small for any program; write {value}M"
    return ""


def _why_text(name: str, value: str, known: Ranges) -> str:
    return TEXTS[name](value, known) if value else ""


def _why_socket(value: str, _: Ranges) -> str:
    if len(value.encode()) > _LONGEST_SOCKET:
        return f"the path of a socket has at most {_LONGEST_SOCKET} bytes"
    return _why_path(value)


def _why_path(value: str, _: Ranges | None = None) -> str:
    """Return why no file can be made at a path."""
    folder = value.rpartition("/")[0] or "/"
    if not value.startswith("/"):
        return "the path must be absolute: begin it with /"
    there = "%p" in folder or Path(folder).is_dir()
    return "" if there else f"there is no folder {folder}: make it first"


def _why_conf(value: str, known: Ranges) -> str:
    for name, said in entries(value):
        why = _why_file(said, known) if name == "file" else _why_entry(name, said, known)
        if why:
            return why
    return ""


def entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and values of a string or file of options: policy/conf.h says how it reads."""
    for line in text.split("\n"):
        for part in line.split(","):
            if part.strip().startswith("#"):
                break
            name, _, value = part.partition("=")
            if name.strip():
                yield name.strip(), value.strip()


def _why_entry(name: str, value: str, known: Ranges) -> str:
    if not known:
        return ""
    full = variable(name)
    if full not in known:
        there = [one.removeprefix(PREFIX).lower() for one in known]
        is_path = name.startswith("/")
        meant = f"did you mean file={name}?" if is_path else did_you_mean(name, there)
        return f"{name} is no option of such a string or file{'; ' if meant else ''}{meant}"
    why = why_number(full, value, known)
    return f"{name}={value}: {why}" if why else ""


def _why_file(value: str, known: Ranges) -> str:
    path = Path(value)
    if not path.is_absolute():
        return f"file={value} is not an absolute path"
    try:
        about, text = path.stat(), path.read_bytes() if path.is_file() else b""
    except OSError as error:
        return f"{value} cannot be read: {error.strerror}"
    if why := _doubt(about, len(text)):
        return f"{value} {why}"
    found = (_why_entry(*one, known) for one in entries(text.decode(errors="replace")))
    return next((f"{value}: {why}" for why in found if why), "")


def _doubt(about: os.stat_result, length: int) -> str:
    """Return why the library would not believe a file."""
    if not stat.S_ISREG(about.st_mode):
        return "is no regular file"
    if about.st_uid not in (0, os.geteuid()):
        return "belongs to another user"
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "may be written to by others: chmod go-w mends that"
    return f"has more than {_LONGEST_FILE:,} bytes" if length > _LONGEST_FILE else ""


TEXTS: dict[str, Callable[[str, Ranges], str]] = {
    "HAKMEM_STATS_SOCKET": _why_socket,
    "HAKMEM_PROFILE_HEAP": _why_path,
    "HAKMEM_CONF": _why_conf,
}
