"""Reading ELF files by pyelftools: what a file is, its code, what it asks of ld.so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from elftools.common.exceptions import ELFError
from elftools.elf.constants import P_FLAGS, SH_FLAGS
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection
from elftools.elf.segments import InterpSegment

from pipeline.core.errors import ArtifactError

# What pyelftools raises over files that are not what they seem.
UNREADABLE = (ELFError, OSError, ValueError, AssertionError, KeyError)
PIE = 0x08000000  # DF_1_PIE: position-independent, but started, not loaded
Read = TypeVar("Read")


@dataclass(frozen=True)
class ElfFacts:
    """The properties of a shared library that the pipeline insists on."""

    stack_executable: bool
    relro: bool
    bind_now: bool
    text_relocations: bool
    build_id: str


def reading(path: Path, read: Callable[[ELFFile], Read]) -> Read:
    """Return what ``read`` makes of a file; ArtifactError if it is no ELF file."""
    try:
        with path.open("rb") as stream:
            return read(ELFFile(stream))
    except UNREADABLE as error:
        raise ArtifactError(f"{path} is not a readable ELF file: {error}") from error


def kind(elf: ELFFile) -> str:
    """Return in words what a file is."""
    name = str(elf["e_type"])
    dynamic = [s for s in elf.iter_segments() if isinstance(s, DynamicSegment)]
    flags = [tag.entry.d_val for s in dynamic for tag in s.iter_tags("DT_FLAGS_1")]
    if name == "ET_DYN" and not any(flag & PIE for flag in flags):
        return "a shared library" if dynamic else "a file of debug information"
    return {"ET_DYN": "a program", "ET_EXEC": "a program"}.get(name, "an object file")


def facts(elf: ELFFile) -> ElfFacts:
    """Return the properties of a shared library."""
    stack = [s for s in elf.iter_segments() if s["p_type"] == "PT_GNU_STACK"]
    dynamic = {
        tag.entry.d_tag: tag.entry.d_val
        for segment in elf.iter_segments()
        if isinstance(segment, DynamicSegment)
        for tag in segment.iter_tags()
    }
    return ElfFacts(
        # No PT_GNU_STACK at all means an executable stack, too.
        stack_executable=not stack or bool(stack[0]["p_flags"] & P_FLAGS.PF_X),
        relro=any(s["p_type"] == "PT_GNU_RELRO" for s in elf.iter_segments()),
        bind_now="DT_BIND_NOW" in dynamic
        or bool(dynamic.get("DT_FLAGS", 0) & 0x8)
        or bool(dynamic.get("DT_FLAGS_1", 0) & 0x1),
        text_relocations="DT_TEXTREL" in dynamic or bool(dynamic.get("DT_FLAGS", 0) & 0x4),
        build_id=build_id(elf),
    )


def build_id(elf: ELFFile) -> str:
    """Return the build-id of a file; empty if it has none."""
    section = elf.get_section_by_name(".note.gnu.build-id")
    notes = section.iter_notes() if isinstance(section, NoteSection) else ()
    return next((str(note["n_desc"]) for note in notes), "")


def text_bytes(elf: ELFFile) -> int:
    """Return the size of all executable sections."""
    flags = SH_FLAGS.SHF_EXECINSTR
    return sum(one["sh_size"] for one in elf.iter_sections() if one["sh_flags"] & flags)


def interpreter(elf: ELFFile) -> str | None:
    """Return the dynamic linker that a program asks for; None in a library."""
    named = (one for one in elf.iter_segments() if isinstance(one, InterpSegment))
    return next((one.get_interp_name() for one in named), None)
