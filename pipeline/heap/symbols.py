"""Names for addresses of a process that has ended: from the files that were mapped there."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from pipeline.core.errors import ChildError, PipelineError, ToolError
from pipeline.core.process import run
from pipeline.heap import read, rust
from pipeline.heap.stacks import Frame
from pipeline.toolchain.find import INSTALL_HINT, llvm_folders

TOOLS = ("llvm-addr2line", "addr2line")
DEMANGLERS = ("llvm-cxxfilt", "c++filt")
"""Each knows names that the other leaves as they are; addr2line's own would hide what is Rust's."""
MANGLED = ("_Z", "___Z", "_R")
LIMIT_S = 300.0
TAKES_STACKS, THERE = "hak_os_stack", "allocator/os"
"""The library's function that each stack goes through, and the folder of its source."""

Names = Mapping[int, tuple[Frame, ...]]
"""Addresses and their functions, innermost first: several where calls were inlined."""
_PLACE = re.compile(r"(?:(.*)/)?([^/]+:[1-9]\d*)(?: \(discriminator \d+\))?")
"""A file and a line. What is unknown is ??:0, ??:? or FILE:?."""


def names(profile: read.Profile) -> Names:
    """Return the functions of all addresses of a profile; those within the library have none."""
    found: dict[int, tuple[Frame, ...]] = {
        address: (Frame(f"{address:#x}"),) for site in profile.sites for address in site.stack
    }
    tool = _tool()
    by_file: dict[Path, list[tuple[int, int]]] = defaultdict(list)
    for address in found:
        # What is on a stack is where a call returns to: the call lies before it.
        mapping = next((m for m in profile.mappings if m.start <= address - 1 < m.end), None)
        if mapping is not None:
            by_file[mapping.file].append((address, address - 1 - mapping.start + mapping.offset))
    for file, places in by_file.items():
        found |= _names_in(tool, file, places)
    shown = without_ours(found)
    plain = demangled(frame.name for frames in shown.values() for frame in frames)
    return {
        address: tuple(frame._replace(name=plain(frame.name)) for frame in frames)
        for address, frames in shown.items()
    }


def without_ours(found: Names) -> Names:
    """Leave out the library's own functions where a program has it inside: by their sources.

    As a file of its own the library leaves them out by itself, when it takes a stack.
    """
    ours = tuple(
        frame.folder.removesuffix("os")
        for frames in found.values()
        for frame in frames
        if frame.name == TAKES_STACKS and frame.folder.endswith(THERE)
    )
    return {
        address: tuple(frame for frame in frames if not frame.folder.startswith(ours))
        for address, frames in found.items()
    }


def demangled(names: Iterable[str]) -> Callable[[str], str]:
    """Return what gives the plain form of any of these names, as far as a tool knows it."""
    plain: dict[str, str] = {}
    mangled = sorted({name for name in names if name.startswith(MANGLED)})
    for tool in _demanglers():
        if mangled:
            plain |= dict(zip(mangled, _filtered(tool, mangled), strict=False))
        mangled = [name for name in mangled if plain.get(name, name) == name]
    return lambda name: rust.named(name, plain.get(name, name))


def _demanglers() -> Iterator[Path]:
    folders: list[str] = []
    with suppress(PipelineError):
        folders += map(str, llvm_folders())
    for name in DEMANGLERS:
        if path := shutil.which(name, path=os.pathsep.join(folders)) or shutil.which(name):
            yield Path(path)


def _filtered(tool: Path, names: Sequence[str]) -> list[str]:
    try:
        return _lines(tool, (), names)
    except (OSError, ChildError):
        return []


def _lines(tool: Path, options: Sequence[str | Path], asked: Sequence[str]) -> list[str]:
    """Return what a tool says to these lines of input."""
    with tempfile.NamedTemporaryFile("w", suffix=".asked") as file:
        file.write("".join(f"{line}\n" for line in asked))
        file.flush()
        return run([tool, *options], stdin=Path(file.name), timeout_s=LIMIT_S).stdout.splitlines()


def _tool() -> Path:
    """Return llvm-addr2line, which reads separate debug files by build id, or binutils' own."""
    try:
        for folder in llvm_folders():
            if (folder / TOOLS[0]).exists():
                return folder / TOOLS[0]
    except PipelineError:
        pass
    for name in TOOLS:
        if path := shutil.which(name):
            return Path(path)
    raise ToolError("neither llvm-addr2line nor addr2line is there", hint=INSTALL_HINT)


def _names_in(
    tool: Path, file: Path, places: Sequence[tuple[int, int]]
) -> dict[int, tuple[Frame, ...]]:
    """Name addresses, given with their offsets in ``file``; file and offset where it tells none."""
    plain: dict[int, tuple[Frame, ...]] = {a: (Frame(f"{file.name}+{o:#x}"),) for a, o in places}
    try:
        linked = _linked(file, [offset for _address, offset in places])
        answers = _ask(tool, file, linked)
    except (OSError, ELFError, ChildError):
        return plain
    return {
        address: answer or plain[address]
        for (address, _offset), answer in zip(places, answers, strict=True)
    }


def _linked(file: Path, offsets: Iterable[int]) -> list[int]:
    """Return the addresses that the linker gave to what stands at offsets in a file."""
    if not file.is_file():
        raise FileNotFoundError(file)  # a pipe of that name would have us wait for its writer
    with file.open("rb") as stream:
        loads = [s.header for s in ELFFile(stream).iter_segments("PT_LOAD")]
    return [
        next((o - h.p_offset + h.p_vaddr for h in loads if 0 <= o - h.p_offset < h.p_filesz), 0)
        for o in offsets
    ]


def _ask(tool: Path, file: Path, addresses: Sequence[int]) -> list[tuple[Frame, ...]]:
    """Return the functions at each address; none where there is no symbol."""
    asked = [f"{address:#x}" for address in addresses]
    answers: list[list[Frame]] = []
    # An address, then pairs of lines: a function, and where it stands in the sources.
    lines = iter(_lines(tool, ("-a", "-f", "-i", "-e", file), asked))
    for line in lines:
        if line.startswith("0x"):
            answers.append([])
        else:
            answers[-1].append(Frame(line, *_place(next(lines, ""))))
    return [tuple(frame for frame in answer if frame.name != "??") for answer in answers]


def _place(said: str) -> tuple[str, str]:
    """Return file and line, and the folder; "" for both where there is no debug information."""
    found = _PLACE.fullmatch(said)
    return (found[2], found[1] or "") if found else ("", "")
