"""What the dynamic linker reads of an ELF file, by the standard library alone.

header --> program headers --+-> PT_INTERP    path of the dynamic linker: which libc
                             +-> PT_DYNAMIC   DT_NEEDED, DT_SONAME: offsets of names
                             |                DT_VERNEED: which versions of others' symbols
                             +-> PT_NOTE      the build-id
header --> section headers ----> SHT_DYNSYM   the names that others see
                                 SHT_SYMTAB   all names, where the file is not stripped
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MACHINES = {3: "i386", 40: "arm", 62: "x86-64", 183: "aarch64", 243: "riscv64"}
_PT_DYNAMIC, _PT_INTERP, _PT_NOTE, _PT_LOAD = 2, 3, 4, 1
_DT_NEEDED, _DT_STRTAB, _DT_SONAME = 1, 5, 14
_DT_VERNEED, _DT_VERNEEDNUM = 0x6FFFFFFE, 0x6FFFFFFF
_SHT_SYMTAB, _SHT_DYNSYM = 2, 11
_NT_GNU_BUILD_ID = 3
_CLASS_64, _LITTLE = 2, 1
_GO = b"\xff Go buildinf:"
"""What Go's linker writes into each program, also where it is stripped (debug/buildinfo)."""

_OURS = b"hakmem\0refill\0"
"""The note of a probe (docs/probes.md): stripping keeps it, so it tells of a library linked in."""


class NotElf(ValueError):
    """The file is no ELF file, or damaged."""


@dataclass(frozen=True)
class Elf:
    """What one file says of itself. For other than 64-bit little-endian files, only ``bits``."""

    bits: int
    machine: str = "?"
    interpreter: str | None = None
    dynamic: bool = False
    needed: tuple[str, ...] = ()
    soname: str = ""
    build_id: str = ""
    versions: tuple[str, ...] = ()
    is_go: bool = False
    has_ours: bool = False
    exported: frozenset[str] = field(default=frozenset(), repr=False)
    names: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def is_static(self) -> bool:
        """Whether no dynamic linker loads it, so that nothing can be preloaded."""
        return self.bits == 64 and self.interpreter is None

    @property
    def libc(self) -> str:
        """Which libc its dynamic linker belongs to, or its needs: "glibc", "musl" or "?"."""
        if "musl" in (self.interpreter or "") or "libc.so" in self.needed:
            return "musl"
        if any(name.startswith("libc.musl") for name in self.needed):
            return "musl"
        known = "ld-linux" in (self.interpreter or "") or "libc.so.6" in self.needed
        return "glibc" if known else "?"

    @property
    def glibc(self) -> tuple[int, ...]:
        """The newest glibc that it asks for, such as (2, 34); () if none."""
        found = (re.fullmatch(r"GLIBC_(\d+(?:\.\d+)*)", one) for one in self.versions)
        return max((numbers(one[1]) for one in found if one), default=())


def numbers(version: str) -> tuple[int, ...]:
    """Return 2.34 as (2, 34)."""
    return tuple(int(part) for part in version.split("."))


def read(path: Path) -> Elf:
    """Read a file; NotElf if it is none, OSError if it cannot be read."""
    data = path.read_bytes()
    if data[:4] != b"\x7fELF" or len(data) < 52:
        raise NotElf(f"{path} is no ELF file")
    if data[4] != _CLASS_64 or data[5] != _LITTLE:
        return Elf(bits=64 if data[4] == _CLASS_64 else 32)
    try:
        return _parse(data)
    except (struct.error, IndexError) as error:
        raise NotElf(f"{path} is a damaged ELF file: {error}") from error


@dataclass(frozen=True)
class _Segment:
    kind: int
    offset: int
    address: int
    size: int


def _parse(data: bytes) -> Elf:
    segments = [*_segments(data)]
    dynamic = [*_dynamic(data, segments)]
    machine = struct.unpack_from("<H", data, 18)[0]
    return Elf(
        bits=64,
        machine=MACHINES.get(machine, str(machine)),
        interpreter=_interpreter(data, segments),
        dynamic=any(one.kind == _PT_DYNAMIC for one in segments),
        needed=_texts(data, segments, dynamic, _DT_NEEDED),
        soname="".join(_texts(data, segments, dynamic, _DT_SONAME)[:1]),
        build_id=_build_id(data, segments),
        is_go=_GO in data,
        has_ours=_OURS in data,
        versions=tuple(_versions(data, segments, dict(dynamic))),
        exported=frozenset(_symbols(data, _SHT_DYNSYM)),
        names=frozenset(_symbols(data, _SHT_SYMTAB)),
    )


def _segments(data: bytes) -> Iterator[_Segment]:
    start, size, count = *struct.unpack_from("<Q", data, 32), *struct.unpack_from("<HH", data, 54)
    for place in range(start, start + size * count, size):
        kind, _flags, offset, address, _physical, length = struct.unpack_from(
            "<IIQQQQ", data, place
        )
        yield _Segment(kind, offset, address, length)


def _interpreter(data: bytes, segments: list[_Segment]) -> str | None:
    for one in segments:
        if one.kind == _PT_INTERP:
            return data[one.offset : one.offset + one.size].rstrip(b"\0").decode(errors="replace")
    return None


def _dynamic(data: bytes, segments: list[_Segment]) -> Iterator[tuple[int, int]]:
    for one in segments:
        if one.kind == _PT_DYNAMIC:
            for place in range(one.offset, one.offset + one.size - 15, 16):
                tag, value = struct.unpack_from("<QQ", data, place)
                if tag == 0:
                    return
                yield tag, value


def _texts(
    data: bytes, segments: list[_Segment], dynamic: list[tuple[int, int]], wanted: int
) -> tuple[str, ...]:
    table = next((value for tag, value in dynamic if tag == _DT_STRTAB), None)
    base = None if table is None else _file_offset(segments, table)
    if base is None:
        return ()
    return tuple(_text(data, base + value) for tag, value in dynamic if tag == wanted)


def _versions(data: bytes, segments: list[_Segment], tags: dict[int, int]) -> Iterator[str]:
    """Yield the versions of symbols that it wants of other libraries, such as GLIBC_2.34."""
    names = _file_offset(segments, tags.get(_DT_STRTAB, 0))
    place = _file_offset(segments, tags.get(_DT_VERNEED, 0))
    if names is None or place is None:
        return
    for _library in range(tags.get(_DT_VERNEEDNUM, 0)):
        _, count, _, first, following = struct.unpack_from("<HHIII", data, place)
        one = place + first
        for _version in range(count):
            _, _, _, name, step = struct.unpack_from("<IHHII", data, one)
            yield _text(data, names + name)
            one += step
        place += following


def _file_offset(segments: list[_Segment], address: int) -> int | None:
    for one in segments:
        if one.kind == _PT_LOAD and one.address <= address < one.address + one.size:
            return address - one.address + one.offset
    return None


def _text(data: bytes, place: int) -> str:
    return data[place : data.index(b"\0", place)].decode(errors="replace")


def _build_id(data: bytes, segments: list[_Segment]) -> str:
    for one in segments:
        place, end = one.offset, one.offset + one.size
        while one.kind == _PT_NOTE and place + 12 <= end:
            name, size, kind = struct.unpack_from("<III", data, place)
            content = place + 12 + (name + 3) // 4 * 4
            if kind == _NT_GNU_BUILD_ID and data[place + 12 : place + 16] == b"GNU\0":
                return data[content : content + size].hex()
            place = content + (size + 3) // 4 * 4
    return ""


def _symbols(data: bytes, wanted: int) -> Iterator[str]:
    """Yield the names that a table of symbols defines."""
    start, size, count = *struct.unpack_from("<Q", data, 40), *struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQII", data, start + i * size) for i in range(count)]
    for _name, kind, _flags, _address, offset, length, link, _info in sections:
        if kind != wanted:
            continue
        names = sections[link][4]
        for place in range(offset, offset + length, 24):
            name, _kind, _other, section = struct.unpack_from("<IBBH", data, place)
            if section != 0 and name:
                yield _text(data, names + name)
