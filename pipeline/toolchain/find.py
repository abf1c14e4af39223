"""Finding the tools: one LLVM whose parts belong together, CMake, Ninja, valgrind, perf."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import PipelineError, ToolError
from pipeline.core.process import run
from pipeline.toolchain.identity import Identities

OLDEST_LLVM, NEWEST_LLVM = 19, 22
LLVM_PARTS = (
    "clang",
    "ld.lld",
    "llvm-ar",
    "llvm-profdata",
    "llvm-bolt",
    "llvm-nm",
    "llvm-objcopy",
)
OTHER_PARTS = ("cmake", "ninja", "valgrind")
INSTALL_HINT = "run `./bootstrap doctor`: it installs what is missing and shows what was found"


@dataclass(frozen=True)
class Tool:
    """A program and the version it reports about itself."""

    name: str
    path: Path
    version: str


@dataclass(frozen=True)
class Toolchain:
    """All tools of a build. ``versions`` is what goes into keys and manifests."""

    tools: tuple[Tool, ...]

    def path(self, name: str) -> Path:
        """Return the path of a tool that :func:`find_toolchain` found; KeyError otherwise."""
        return next(tool.path for tool in self.tools if tool.name == name)

    def has(self, name: str) -> bool:
        """Return whether an optional tool is there."""
        return any(tool.name == name for tool in self.tools)

    @property
    def versions(self) -> dict[str, str]:
        """Tool names and the versions they report."""
        return {tool.name: tool.version for tool in self.tools}


def find_toolchain(memory: Path | None = None) -> Toolchain:
    """Return a complete toolchain, LLVM 22 first; ToolError says what is missing or too old.

    ``HAKMEM_LLVM`` narrows the search to one version (``20``) or one folder of programs. What tools
    say of themselves is remembered in the file ``memory``: to start all of them takes long.
    """
    known = None if memory is None else Identities(memory)
    folder = find_llvm(known)
    tools = [probe(part, folder / part, known) for part in LLVM_PARTS]
    for part in OTHER_PARTS:
        found = shutil.which(part)
        if found is None:
            raise ToolError(f"{part} is missing", hint=INSTALL_HINT)
        tools.append(probe(part, Path(found), known))
    return Toolchain((*tools, *_perf(known)))


def llvm_folders() -> Iterator[Path]:
    """Yield the folders where an LLVM may be, best first."""
    wish = os.environ.get("HAKMEM_LLVM", "")
    if "/" in wish:
        yield Path(wish)
        return
    if wish and wish not in map(str, range(OLDEST_LLVM, NEWEST_LLVM + 1)):
        raise ToolError(
            f"HAKMEM_LLVM={wish} is not one of {OLDEST_LLVM} to {NEWEST_LLVM} nor a folder",
            hint="unset it, or set it to one of them",
        )
    for version in [wish] if wish else range(NEWEST_LLVM, OLDEST_LLVM - 1, -1):
        yield Path(f"/usr/lib/llvm-{version}/bin")
    clang = shutil.which("clang")
    if clang and not wish:
        yield Path(clang).resolve().parent


def missing_parts(folder: Path) -> list[str]:
    """Return which LLVM programs are not in ``folder``."""
    return [part for part in LLVM_PARTS if not os.access(folder / part, os.X_OK)]


def major_version(clang: Path, known: Identities | None = None) -> int:
    """Return clang's major version; ToolError if it does not say one."""
    match = re.search(r"clang version (\d+)", probe("clang", clang, known).version)
    if match is None:
        raise ToolError(f"{clang} does not say its version", hint=INSTALL_HINT)
    return int(match[1])


def probe(name: str, path: Path, known: Identities | None = None) -> Tool:
    """Return the tool with the version line it prints; ToolError if it does not run.

    ``known`` remembers that line.
    """
    line = _version(path) if known is None else known.said(path, lambda: _version(path))
    return Tool(name, path, line)


def _version(path: Path) -> str:
    try:
        result = run([path, "--version"], timeout_s=20)
    except PipelineError as error:
        raise ToolError(f"{path} does not run: {error.message}", hint=INSTALL_HINT) from error
    lines = [line.strip() for line in (result.stdout + result.stderr).splitlines()]
    return next((text for text in lines if re.search(r"\d+\.\d+", text)), "version unknown")


def find_llvm(known: Identities | None = None) -> Path:
    """Return the folder of the first complete LLVM; ToolError if there is none, or it is old."""
    folders = list(llvm_folders())
    for folder in folders:
        if not missing_parts(folder):
            version = major_version(folder / "clang", known)
            if version < OLDEST_LLVM:
                raise ToolError(
                    f"{folder}/clang is version {version}; {OLDEST_LLVM} or newer is needed",
                    hint=INSTALL_HINT,
                )
            return folder
    best = next((f for f in folders if f.is_dir()), folders[0])
    raise ToolError(
        f"no complete LLVM {OLDEST_LLVM} to {NEWEST_LLVM}: "
        f"{best} lacks {', '.join(missing_parts(best))}",
        hint=INSTALL_HINT,
    )


def _perf(known: Identities | None) -> list[Tool]:
    """Return perf if it runs: a profile by branch stacks is optional."""
    found = shutil.which("perf")
    if found is None:
        return []
    try:
        return [probe("perf", Path(found), known)]
    except ToolError:
        return []
