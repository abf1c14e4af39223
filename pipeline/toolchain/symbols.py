"""Functions of a library in the order of their addresses, and the symbol lists of layouts/."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pipeline.core.errors import ArtifactError, ProfileError
from pipeline.core.process import run

_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_.$]*")


@dataclass(frozen=True)
class Function:
    """A function in a library: name, address and size in bytes."""

    name: str
    address: int
    size: int


@dataclass(frozen=True)
class SymbolLists:
    """hot.txt and cold.txt of a layout, as lists of names in the order of the files."""

    hot: tuple[str, ...]
    cold: tuple[str, ...]


@dataclass(frozen=True)
class OrderReport:
    """How a library compares with the lists: what was placed, and which names are not there."""

    placed: int
    vanished_hot: tuple[str, ...]
    vanished_cold: tuple[str, ...]


def read_lists(folder: Path) -> SymbolLists:
    """Read hot.txt and cold.txt; ProfileError names file and line of a bad or repeated name."""
    lists = SymbolLists(_read_list(folder / "hot.txt"), _read_list(folder / "cold.txt"))
    both = sorted(set(lists.hot) & set(lists.cold))
    if both:
        raise ProfileError(
            f"{folder}: both hot and cold: {', '.join(both)}",
            hint="take it out of one of the two lists",
        )
    return lists


def functions(nm: Path, library: Path, log: Path) -> list[Function]:
    """Return the functions of an unstripped library by address; cold halves keep their suffix."""
    command: list[str | Path] = [nm, "--numeric-sort", "--print-size", "--defined-only", library]
    lines = run(command, log=log, timeout_s=60).stdout.splitlines()
    rows = [line.split() for line in lines]
    return [
        Function(row[3], int(row[0], 16), int(row[1], 16))
        for row in rows
        if len(row) == 4 and row[2] in "tTwW"
    ]


def read_spelling(nm: Path, library: Path, log: Path) -> dict[str, list[str]]:
    """Return each function's name with how BOLT spells it: local ones get ``/1``, ``/2`` ...

    In the order of addresses. A name that several files use for static functions has several.
    """
    lines = run(
        [nm, "--numeric-sort", "--defined-only", library], log=log, timeout_s=60
    ).stdout.splitlines()
    spelling: dict[str, list[str]] = {}
    for _address, kind, name in (line.split() for line in lines):
        if kind in "TW":
            spelling.setdefault(name, []).append(name)
        elif kind == "t":
            local = sum("/" in text for text in spelling.get(name, ())) + 1
            spelling.setdefault(name, []).append(f"{name}/{local}")
    return spelling


def in_section(library: Path, section: str, present: list[Function]) -> set[str]:
    """Return the names of those functions of ``library`` that lie in ``section``, if it has one."""
    from elftools.elf.elffile import ELFFile

    with library.open("rb") as stream:
        found = ELFFile(stream).get_section_by_name(section)
        start, size = (found["sh_addr"], found["sh_size"]) if found else (0, 0)
    return {function.name for function in present if start <= function.address < start + size}


def check_order(library: Path, present: list[Function], lists: SymbolLists) -> OrderReport:
    """Check that functions lie in the order of their lists, with no cold ones among hot ones.

    Cold functions may lie on both sides of the hot ones, in order on each. Raises ArtifactError
    with the first name that is out of place. Names that are not in the library (inlined, or never
    compiled) are reported, not refused.
    """
    address = {function.name: function.address for function in reversed(present)}
    hot = [name for name in lists.hot if name in address]
    cold = [name for name in lists.cold if name in address]
    first = address[hot[0]] if hot else 0
    before = [name for name in cold if address[name] < first]
    behind = [name for name in cold if address[name] >= first]
    for names, file in ((hot, "hot.txt"), (before, "cold.txt"), (behind, "cold.txt")):
        for one, other in pairwise(names):
            if address[one] > address[other]:  # equal: two names of one function
                raise ArtifactError(
                    f"{library}: {other} lies before {one}, against {file}",
                    hint="the symbol order was not honoured; read the stage's log",
                )
    inside = [
        name
        for name in cold
        if hot and address[name] < address[hot[-1]] and address[name] > address[hot[0]]
    ]
    if inside:
        raise ArtifactError(
            f"{library}: cold {', '.join(inside)} lies between hot functions",
            hint="the symbol order was not honoured; read the stage's log",
        )
    return OrderReport(
        placed=len(hot) + len(cold),
        vanished_hot=tuple(name for name in lists.hot if name not in address),
        vanished_cold=tuple(name for name in lists.cold if name not in address),
    )


def order_names(lists: SymbolLists, known: list[str], present: list[Function]) -> list[str]:
    """Return hot names, then all other ``known`` names, then cold names; each once.

    ``present`` tells which names are aliases of listed functions. They stay out: a function goes
    where the first of its names stands, and malloc_info would pull hak_malloc_info out of cold.txt.
    """
    listed = {*lists.hot, *lists.cold}
    places = {function.address for function in present if function.name in listed}
    aliases = {function.name for function in present if function.address in places}
    middle = [name for name in dict.fromkeys(known) if name not in listed | aliases]
    return [*lists.hot, *middle, *lists.cold]


def _read_list(path: Path) -> tuple[str, ...]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ProfileError(
            f"{path}: {error.strerror}; a layout has hot.txt and cold.txt",
            hint="`layout.name` in the profile names a folder of layouts/",
        ) from error
    except UnicodeDecodeError as error:
        raise ProfileError(
            f"{path}: it is not UTF-8 text: {error}",
            hint="a line has the name of one function; # begins a comment",
        ) from error
    names: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        name = line.split("#", 1)[0].strip()
        if not name:
            continue
        if not _SYMBOL.fullmatch(name):
            raise ProfileError(
                f"{path}:{number}: {name!r} is not a symbol name",
                hint="a line has the name of one function; # begins a comment",
            )
        if name in names:
            raise ProfileError(
                f"{path}:{number}: {name} stands on line {names[name]} already",
                hint="remove one of the two lines",
            )
        names[name] = number
    return tuple(names)
