"""What a published shared library must be like as an ELF file: rules with a name each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.constants import P_FLAGS
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import NoteSection, SymbolTableSection

from pipeline.core.architecture import ALL, HERE, Architecture, by_elf
from pipeline.core.errors import ArtifactError
from pipeline.core.variant import LIBRARY_NAMES, PRODUCTION, shared_name
from pipeline.toolchain.elf import read_facts
from pipeline.toolchain.elf_file import UNREADABLE, ElfFacts

# docs/install.md says so. With an older glibc than a library needs, no program starts.
NEWEST_GLIBC = (2, 34)
SHOWN_NAMES = 6


@dataclass(frozen=True)
class Check:
    """One rule, whether it holds, and what was found."""

    rule: str
    holds: bool
    found: str = ""


@dataclass(frozen=True)
class _File:
    """What the rules look at. ``exports`` are (name, whether it is a function)."""

    facts: ElfFacts
    machine: str
    kind: str
    tags: tuple[tuple[str, str], ...]
    writable_code: bool
    shadow_stacks: bool
    exports: tuple[tuple[str, bool], ...]
    glibc: tuple[tuple[int, ...], ...]
    defines_versions: bool

    def tag(self, name: str) -> list[str]:
        return [value for tag, value in self.tags if tag == name]


def check_elf(library: Path, expected: frozenset[str]) -> list[Check]:
    """Return the outcome of every rule; ``expected`` are the names that it shall export.

    ArtifactError if it is no ELF file at all.
    """
    file = _read(library)
    wanted = library.name if library.name in LIBRARY_NAMES else shared_name(PRODUCTION)
    return [*_identity(file, wanted), *_safety(file), *_exports(file, expected)]


def architecture_of(library: Path) -> Architecture:
    """Return what a library was compiled for; this machine's architecture for an unknown one."""
    return by_elf(_read(library).machine) or HERE


def needed_glibc(library: Path) -> tuple[int, ...]:
    """Return the newest version of glibc that a library asks for, such as (2, 34)."""
    return max(_read(library).glibc, default=(2, 17))


def family_names(definitions: Path) -> frozenset[str]:
    """Return the names of libc and C++ that the library replaces (front/family.def)."""
    return frozenset(re.findall(r"^HAK_FAMILY\((\w+)\)", definitions.read_text("utf-8"), re.M))


def header_names(header: Path) -> frozenset[str]:
    """Return the functions that hakmem.h declares."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text("utf-8"), flags=re.S)
    return frozenset(re.findall(r"\b(hak_\w+)\(", text))


def _identity(file: _File, wanted: str) -> Iterator[Check]:
    known = by_elf(file.machine)
    names = " or ".join(one.name for one in ALL)
    is_library = file.kind == "ET_DYN" and known is not None
    yield Check(f"a shared library for {names}", is_library, f"{file.kind} {file.machine}")
    soname = file.tag("DT_SONAME")
    yield Check(f"soname is {wanted}", soname == [wanted], ", ".join(soname) or "none")
    yield Check("has a build-id", len(file.facts.build_id) == 40, file.facts.build_id or "none")
    needed = file.tag("DT_NEEDED")
    yield Check(
        "needs libc alone", set(needed) <= {"libc.so.6", (known or HERE).loader}, ", ".join(needed)
    )
    newest = max(file.glibc, default=(0,))
    text = ".".join(map(str, newest))
    wanted = ".".join(map(str, NEWEST_GLIBC))
    yield Check(f"starts with glibc {wanted}", newest <= NEWEST_GLIBC, f"needs {text}")


def _safety(file: _File) -> Iterator[Check]:
    facts = file.facts
    executable = "executable" if facts.stack_executable else "read and write"
    yield Check("stack is not executable (PT_GNU_STACK)", not facts.stack_executable, executable)
    yield Check("tables are read-only after start (RELRO)", facts.relro)
    yield Check("symbols are bound at start (BIND_NOW)", facts.bind_now)
    yield Check("code has no relocations (TEXTREL)", not facts.text_relocations)
    yield Check("no memory is writable and executable", not file.writable_code)
    yield Check("is ready for shadow stacks (SHSTK)", file.shadow_stacks)
    paths = file.tag("DT_RPATH") + file.tag("DT_RUNPATH")
    yield Check("no RPATH or RUNPATH", not paths, ", ".join(paths))


def _exports(file: _File, expected: frozenset[str]) -> Iterator[Check]:
    names = {name for name, _ in file.exports}
    missing, excess = sorted(expected - names), sorted(names - expected)
    found = _some("not there", missing) + _some("too many", excess) or f"{len(names)} names"
    yield Check("exports the family and hak_*, nothing else", not missing and not excess, found)
    data = sorted(name for name, is_function in file.exports if not is_function)
    yield Check("exports functions alone", not data, _some("not a function", data))
    # Programs of any age must find malloc: a version would tie them to this library.
    yield Check("exported names have no versions", not file.defines_versions)


def _some(what: str, names: list[str]) -> str:
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return f"{what}: {', '.join(names[:SHOWN_NAMES])}{more} " if names else ""


def _read(library: Path) -> _File:
    facts = read_facts(library)
    try:
        with library.open("rb") as stream:
            elf = ELFFile(stream)
            return _File(
                facts=facts,
                machine=str(elf["e_machine"]),
                kind=str(elf["e_type"]),
                tags=tuple(_tags(elf)),
                writable_code=any(
                    s["p_type"] == "PT_LOAD" and _both(s["p_flags"]) for s in elf.iter_segments()
                ),
                shadow_stacks=_is_marked(elf, *(by_elf(elf["e_machine"]) or HERE).shadow_stacks),
                exports=tuple(_exported(elf)),
                glibc=tuple(_glibc(elf)),
                defines_versions=elf.get_section_by_name(".gnu.version_d") is not None,
            )
    except UNREADABLE as error:
        raise ArtifactError(f"{library} is not a readable ELF file: {error}") from error


def _both(flags: int) -> bool:
    return bool(flags & P_FLAGS.PF_W and flags & P_FLAGS.PF_X)


def _is_marked(elf: ELFFile, kind: str, bit: int) -> bool:
    """Return whether a property has ``bit`` where the loader looks: PT_GNU_PROPERTY, not a name."""
    places = {s["p_offset"] for s in elf.iter_segments() if s["p_type"] == "PT_GNU_PROPERTY"}
    return any(
        entry["pr_type"] == kind and entry["pr_data"] & bit
        for section in elf.iter_sections()
        if isinstance(section, NoteSection) and section["sh_offset"] in places
        for note in section.iter_notes()
        if note["n_type"] == "NT_GNU_PROPERTY_TYPE_0"
        for entry in note["n_desc"]
    )


def _tags(elf: ELFFile) -> Iterator[tuple[str, str]]:
    for segment in elf.iter_segments():
        if isinstance(segment, DynamicSegment):
            for tag in segment.iter_tags():
                name = str(tag.entry.d_tag)
                text = getattr(tag, name.removeprefix("DT_").lower(), None)
                yield name, str(text if text is not None else tag.entry.d_val)


def _exported(elf: ELFFile) -> Iterator[tuple[str, bool]]:
    table = elf.get_section_by_name(".dynsym")
    if isinstance(table, SymbolTableSection):
        for symbol in table.iter_symbols():
            if symbol.name and symbol["st_shndx"] != "SHN_UNDEF":
                yield symbol.name, symbol["st_info"]["type"] == "STT_FUNC"


def _glibc(elf: ELFFile) -> Iterator[tuple[int, ...]]:
    section = elf.get_section_by_name(".gnu.version_r")
    if isinstance(section, GNUVerNeedSection):
        for _file, versions in section.iter_versions():
            for version in versions:
                if match := re.fullmatch(r"GLIBC_([\d.]+)", version.name):
                    yield tuple(int(part) for part in match[1].split("."))
