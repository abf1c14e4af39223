"""Reading a library's text map: from its own symbols, or from its split debug file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from pipeline.core.errors import ArtifactError
from pipeline.toolchain.elf import read_build_id
from pipeline.toolchain.text_model import Function, Heat, Section, TextMap

# What compilers and BOLT call the half of a function that they have moved away.
_COLD = re.compile(r"(?P<parent>.+?)\.(?:cold|warm)(?:\.\d+)?")
_Place = tuple[int, int, int]  # address, size, section index


def read_text_map(library: Path, heat: Mapping[str, Heat] | None = None) -> TextMap:
    """Return the functions of ``library`` by address, with their ``heat`` if a profile is given.

    A stripped library is read by its debug file. ArtifactError if that is missing or of another
    build, or if a file is no ELF file.
    """
    build_id = read_build_id(library)
    symbols = library if _has_symbols(library) else find_debug_file(library)
    if symbols != library and read_build_id(symbols) != build_id:
        raise ArtifactError(
            f"{symbols} is the debug file of another build than {library}",
            hint="take both files from the same published version",
        )
    with symbols.open("rb") as stream:
        elf = ELFFile(stream)
        sections = {
            number: Section(name=s.name, address=s["sh_addr"], size=s["sh_size"])
            for number, s in enumerate(elf.iter_sections())
            if s["sh_flags"] & SH_FLAGS.SHF_EXECINSTR and s["sh_size"]
        }
        functions = _functions(_names(elf, sections), sections, heat)
    return TextMap(build_id=build_id, sections=tuple(sections.values()), functions=functions)


def find_debug_file(library: Path) -> Path:
    """Return the debug file as a debugger would find it: by build-id, then beside the library."""
    build_id = read_build_id(library)
    below = Path(".build-id") / build_id[:2] / f"{build_id[2:]}.debug"
    candidates = [
        library.parent / "debug" / below,
        library.parent / f"{library.name}.debug",
        Path("/usr/lib/debug") / below,
    ]
    found = next((path for path in candidates if path.is_file()), None)
    if found is None:
        raise ArtifactError(
            f"{library} is stripped and has no debug file",
            hint="it was looked for at " + ", ".join(map(str, candidates)),
        )
    return found


def _has_symbols(path: Path) -> bool:
    with path.open("rb") as stream:
        return ELFFile(stream).get_section_by_name(".symtab") is not None


def _names(elf: ELFFile, sections: Mapping[int, Section]) -> dict[_Place, list[str]]:
    """Return the names of functions by place, in the order of the symbol table."""
    table = elf.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        raise ArtifactError(
            "no symbol table: not even the debug file has one",
            hint="build again, which makes both files anew",
        )
    places: dict[_Place, list[str]] = defaultdict(list)
    for symbol in table.iter_symbols():
        if symbol["st_info"]["type"] != "STT_FUNC" or symbol["st_shndx"] not in sections:
            continue
        if symbol["st_size"]:
            place = (symbol["st_value"], symbol["st_size"], symbol["st_shndx"])
            places[place].append(symbol.name)
    return places


def _functions(
    places: Mapping[_Place, list[str]],
    sections: Mapping[int, Section],
    heat: Mapping[str, Heat] | None,
) -> tuple[Function, ...]:
    found = [_function(place, names, sections, heat) for place, names in sorted(places.items())]
    split = {function.parent for function in found if function.parent}
    return tuple(
        function.model_copy(update={"part": "hot"}) if function.name in split else function
        for function in found
    )


def _function(
    place: _Place,
    names: Iterable[str],
    sections: Mapping[int, Section],
    heat: Mapping[str, Heat] | None,
) -> Function:
    name, *aliases = sorted(set(names), key=_rank)
    address, size, section = place
    cold = _COLD.fullmatch(name)
    return Function(
        name=name,
        aliases=tuple(aliases),
        address=address,
        size=size,
        section=sections[section].name,
        part="cold" if cold else "whole",
        parent=cold["parent"] if cold else None,
        heat=None if heat is None or cold else _heat((name, *aliases), heat),
    )


def _heat(names: Iterable[str], heat: Mapping[str, Heat]) -> Heat:
    """Return what was counted under any of a function's names."""
    known = [heat[name] for name in names if name in heat]
    return known[0] if known else Heat(entries=0, blocks=0)


def _rank(name: str) -> tuple[bool, bool, str]:
    """Order the names of one function: its own (hak_malloc) before aliases (malloc)."""
    return (not name.startswith("hak_"), name.startswith("__"), name)
