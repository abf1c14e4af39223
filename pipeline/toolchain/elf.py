"""What a finished library must be like as an ELF file, and a proof that it loads and serves."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from elftools.common.exceptions import ELFError
from elftools.elf.constants import P_FLAGS
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection

from pipeline.core.errors import ArtifactError, ChildError
from pipeline.core.preload import preload
from pipeline.core.process import run
from pipeline.core.store import require_content

PROBE_LIMIT_S = 20.0
# What pyelftools raises over files that are not what they seem.
UNREADABLE = (ELFError, OSError, ValueError, AssertionError, KeyError)
PIE = 0x08000000  # DF_1_PIE: position-independent, but started, not loaded
# A program that is on every system and allocates: what it lists is not looked at.
PROBE = ("/bin/ls", "/")
Read = TypeVar("Read")


@dataclass(frozen=True)
class ElfFacts:
    """The properties of a shared library that the pipeline insists on."""

    stack_executable: bool
    relro: bool
    bind_now: bool
    text_relocations: bool
    build_id: str


def read_facts(path: Path) -> ElfFacts:
    """Return the ELF properties of ``path``; ArtifactError if it is no ELF file."""
    return _of(path, _facts)


def read_kind(path: Path) -> tuple[str, str]:
    """Return the machine and, in words, what an ELF file is; ArtifactError if it is none."""
    return _of(path, lambda elf: (str(elf.get_machine_arch()), _kind(elf)))


def _kind(elf: ELFFile) -> str:
    kind = str(elf["e_type"])
    dynamic = [s for s in elf.iter_segments() if isinstance(s, DynamicSegment)]
    flags = [tag.entry.d_val for s in dynamic for tag in s.iter_tags("DT_FLAGS_1")]
    if kind == "ET_DYN" and not any(flag & PIE for flag in flags):
        return "a shared library" if dynamic else "a file of debug information"
    return {"ET_DYN": "a program", "ET_EXEC": "a program"}.get(kind, "an object file")


def read_build_id(path: Path) -> str:
    """Return the build-id of ``path``, which may be a debug file; empty if it has none."""
    return _of(path, _build_id)


def _of(path: Path, read: Callable[[ELFFile], Read]) -> Read:
    try:
        with path.open("rb") as stream:
            return read(ELFFile(stream))
    except UNREADABLE as error:
        raise ArtifactError(f"{path} is not a readable ELF file: {error}") from error


def check_library(path: Path, log: Path) -> ElfFacts:
    """Check that a library is whole, safe and serves ``malloc`` in a real program.

    ``log`` gets what the probe program printed. Raises ArtifactError with the first rule broken.
    """
    require_content(path, "the library")
    facts = read_facts(path)
    _refuse(path, facts.stack_executable, "asks for an executable stack (PT_GNU_STACK)")
    _refuse(path, not facts.relro, "has no RELRO segment")
    _refuse(path, not facts.bind_now, "is not bound at start (BIND_NOW)")
    _refuse(path, facts.text_relocations, "has text relocations")
    _probe(path, log)
    return facts


def _facts(elf: ELFFile) -> ElfFacts:
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
        build_id=_build_id(elf),
    )


def _build_id(elf: ELFFile) -> str:
    section = elf.get_section_by_name(".note.gnu.build-id")
    notes = section.iter_notes() if isinstance(section, NoteSection) else ()
    return next((str(note["n_desc"]) for note in notes), "")


def _refuse(path: Path, broken: bool, what: str) -> None:
    if broken:
        raise ArtifactError(f"{path} {what}", hint="this is a fault of the link or BOLT step")


def _probe(path: Path, log: Path) -> None:
    """Run a program with the library and read from the loader whose malloc it got.

    A library that cannot be preloaded is only a warning to the loader; the program would run on
    with libc's allocator and look fine.
    """
    env = {**preload(path), "LD_DEBUG": "bindings", "LLVM_PROFILE_FILE": os.devnull}
    try:
        done = run(PROBE, env=env, timeout_s=PROBE_LIMIT_S, log=log)
    except ChildError as error:
        raise ArtifactError(
            f"{path}: a program preloaded with it did not run: {error.message}", log=error.log
        ) from error
    wanted = re.escape(str(path)) + r" \[0\]: normal symbol `malloc'"
    if not re.search(wanted, done.stderr):
        raise ArtifactError(f"{path}: preloaded, but malloc is not taken from it", log=log)
