"""What a command will start, and why a preloaded library would not serve it."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from operate import allocators
from operate.elf import Elf, NotElf, numbers, read
from pipeline.core.errors import PipelineError, UnfitError

_DEEPEST_SCRIPT = 5  # as many interpreters as Linux follows


class NoProgram(PipelineError):
    """The program is not there, or cannot be run: 127 and 126, as shells and env have it."""

    def __init__(self, message: str, code: int) -> None:
        """Keep the exit code, too."""
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Program:
    """A program: the file that the system loads; for a script, that is its interpreter's."""

    name: str
    file: Path
    elf: Elf


def look_up(name: str, path: str | None = None) -> Program:
    """Return the program that ``name`` starts; NoProgram if there is none."""
    file = _file(name, path)
    for _ in range(_DEEPEST_SCRIPT):
        script = _interpreter(file, path)
        if script is None:
            break
        file = script
    try:
        return Program(name, file, read(file))
    except NotElf as error:
        raise NoProgram(f"{file} is neither a program nor a script with #!", 126) from error
    except OSError as error:
        raise NoProgram(f"{file} cannot be read: {error.strerror}", 126) from error


def _file(name: str, path: str | None) -> Path:
    found = shutil.which(name, path=path)
    if found is not None:
        return Path(found)
    there = "/" in name and Path(name).exists()
    raise NoProgram(
        f"{name} cannot be executed" if there else f"there is no program {name}",
        126 if there else 127,
    )


def _interpreter(file: Path, path: str | None) -> Path | None:
    """Return what a script is run by, or None; `/usr/bin/env NAME` means NAME."""
    try:
        with file.open("rb") as stream:
            first = stream.readline(256)
    except OSError as error:
        raise NoProgram(f"{file} cannot be read: {error.strerror}", 126) from error
    words = os.fsdecode(first[2:]).split() if first.startswith(b"#!") else []
    if not words:
        return None
    if Path(words[0]).name == "env":
        names = [w for w in words[1:] if not w.startswith("-") and "=" not in w]
        return _file(names[0], path) if names else Path(words[0])
    return _file(words[0], path)


def require_fit(program: Program, library: Path, libs: Elf) -> None:
    """Raise UnfitError with the first reason why ``library`` cannot serve the program."""
    for reason in _reasons(program, library, libs):
        named = "" if reason.startswith(f"{program.name} ") else f"{program.name}: "
        raise UnfitError(f"{named}{reason}", hint=_instead(program.elf))


def _instead(elf: Elf) -> str:
    """Return what can be done with a program that the library cannot serve."""
    if elf.is_go:
        return "run it as it is: Go's heap is its own, and no malloc makes it faster"
    if elf.has_ours:
        return "start it by itself; HAKMEM_ variables count there, too"
    if elf.is_static:
        return (
            "link it with libhakmem.a (docs/real-programs.md), or run it without hakmem, as it is"
        )
    return "it runs without hakmem, as it is"


def _reasons(program: Program, library: Path, libs: Elf) -> Iterator[str]:
    elf, file = program.elf, program.file
    if elf.bits != 64:
        yield f"{file} is a {elf.bits}-bit program; the library is for 64 bits"
    if elf.machine != libs.machine:
        yield f"{file} is for {elf.machine}; {library} is for {libs.machine}"
    if elf.has_ours:
        yield f"{file} has hakmem linked in, and its own malloc comes first"
    if elf.is_static:
        yield f"{file} is statically linked, so nothing can be preloaded"
    if libs.libc != "?" and elf.libc not in ("?", libs.libc):
        yield f"{file} uses {elf.libc}; {library} was built for {libs.libc}"
    if _is_of_the_system(elf) and libs.glibc > (here := system_glibc()):
        wanted, older = (".".join(map(str, one)) for one in (libs.glibc, here))
        yield f"{library} needs glibc {wanted} or newer, and this system has {older}"
    if privilege := _privilege(file):
        yield f"{file} {privilege}, and the dynamic linker preloads nothing into such a program"
    if whose := allocators.exported(elf):
        yield f"{file} brings {whose}, which comes before every preloaded library"


def system_glibc() -> tuple[int, ...]:
    """Return which glibc this system has, such as (2, 36); a very new one where nobody can tell."""
    with suppress(ValueError, OSError):  # musl knows no such name
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        if name == "glibc":
            return numbers(version)
    return (sys.maxsize,)


def _is_of_the_system(elf: Elf) -> bool:
    """Return whether a program takes the system's libc: those of Nix bring their own."""
    return (elf.interpreter or "").startswith("/lib")


def _privilege(file: Path) -> str:
    """Return why the system would start a file in secure mode, or ""."""
    status = file.stat()
    if status.st_mode & stat.S_ISUID and status.st_uid != os.getuid():
        return "is setuid"
    if status.st_mode & stat.S_ISGID and status.st_gid != os.getgid():
        return "is setgid"
    if os.getuid() != 0 and "security.capability" in _attributes(file):
        return "has file capabilities"
    return ""


def _attributes(file: Path) -> list[str]:
    try:
        return os.listxattr(file)
    except OSError:
        return []


def remarks(program: Program, preloaded: list[str]) -> Iterator[str]:
    """Yield what an operator should know: allocators that stay unused, or serve a part."""
    for path in preloaded:
        if allocators.is_ours(path):
            yield f"LD_PRELOAD has {path} already; the one of this command comes first"
        elif whose := allocators.by_file_name(path):
            yield f"LD_PRELOAD has {whose} ({path}); it stays there, behind hakmem, unused"
    for name in program.elf.needed:
        if whose := allocators.by_file_name(name):
            yield f"{program.file} is linked with {whose} ({name}); hakmem comes first"
    if program.elf.is_go:
        yield f"{program.file} is a Go program: hakmem serves what cgo asks C for, not Go's heap"
    if whose := allocators.inside(program.elf):
        yield f"{program.file} has {whose} inside, and what it allocates there is not hakmem's"
