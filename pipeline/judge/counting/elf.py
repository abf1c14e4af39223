"""What the judge reads out of ELF files: executable sections and the interpreter."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.segments import InterpSegment

from pipeline.core.errors import ArtifactError


@dataclass(frozen=True)
class ElfFacts:
    """What one file says of itself.

    ``text_bytes`` sums all executable sections. ``interpreter`` is the dynamic linker that a
    program asks for, None in a library.
    """

    text_bytes: int
    interpreter: str | None


def read_elf(path: Path) -> ElfFacts:
    """Return the facts of ``path``. Raises ArtifactError when it is no ELF file."""
    try:
        with path.open("rb") as stream:
            return _facts(ELFFile(stream))
    except (OSError, ELFError) as error:
        raise ArtifactError(f"cannot read {path} as an ELF file: {error}") from error


def _facts(elf: ELFFile) -> ElfFacts:
    text = sum(
        section["sh_size"]
        for section in elf.iter_sections()
        if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR
    )
    named = [one.get_interp_name() for one in elf.iter_segments() if isinstance(one, InterpSegment)]
    return ElfFacts(text_bytes=text, interpreter=named[0] if named else None)
