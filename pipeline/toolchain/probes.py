"""The probes of a library (allocator/base/probe.h): where its notes say they are, and the nops."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

from pipeline.core.errors import ArtifactError
from pipeline.toolchain.elf_file import UNREADABLE

SECTION = ".note.stapsdt"
_HEAD = struct.Struct("<III")
_ADDRESSES = struct.Struct("<QQQ")
_NOPS = {"x64": b"\x90", "AArch64": b"\x1f\x20\x03\xd5"}


@dataclass(frozen=True)
class Probe:
    """One note: a name, where its nop lies, its arguments, and what does lie there."""

    name: str
    address: int
    arguments: str
    is_nop: bool


def read_probes(path: Path) -> list[Probe]:
    """Return the probes of a file; ArtifactError if it cannot be read."""
    try:
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            section = elf.get_section_by_name(SECTION)
            return [] if section is None else _probes(elf, section.data())
    except (*UNREADABLE, struct.error) as error:
        raise ArtifactError(f"the probes of {path} cannot be read: {error}") from error


def require_probes(library: Path, before: Path) -> None:
    """Raise ArtifactError unless ``library`` has each probe of ``before``, and a nop at each."""
    found, wanted = read_probes(library), read_probes(before)
    lost = sorted({probe.name for probe in wanted} - {probe.name for probe in found})
    if lost:
        raise ArtifactError(f"{library} has lost probes of {before}: {', '.join(lost)}")
    wrong = [f"{probe.name} at {probe.address:#x}" for probe in found if not probe.is_nop]
    if wrong:
        raise ArtifactError(f"{library}: no nop lies where a probe should: {', '.join(wrong)}")


def _probes(elf: ELFFile, data: bytes) -> list[Probe]:
    found, at = [], 0
    while at < len(data):
        owner, length, _ = _HEAD.unpack_from(data, at)
        body = at + _HEAD.size + _rounded(owner)
        address, _, _ = _ADDRESSES.unpack_from(data, body)
        texts = data[body + _ADDRESSES.size : body + length].split(b"\0")
        _, name, arguments = (text.decode("ascii") for text in texts[:3])
        found.append(Probe(name, address, arguments, _is_nop(elf, address)))
        at = body + _rounded(length)
    return found


def _rounded(length: int) -> int:
    return (length + 3) // 4 * 4


def _is_nop(elf: ELFFile, address: int) -> bool:
    nop = _NOPS.get(elf.get_machine_arch(), b"")
    for offset in elf.address_offsets(address, len(nop)):
        elf.stream.seek(offset)
        return bool(elf.stream.read(len(nop)) == nop)
    return False
