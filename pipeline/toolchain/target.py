"""What libraries are made for: this machine, or another architecture by way of a cross compiler.

For another one everything is compiled by the same clang, linked with what Debian's cross compiler
brings, and tried under an emulator (qemu-user).
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.core.architecture import HERE, Architecture
from pipeline.core.errors import ChildError, ToolError
from pipeline.core.preload import preload
from pipeline.core.process import run

PAGE_SIZES = (4096, 16384, 65536)
"""Bytes of a page that systems for AArch64 have."""

TRY_LIMIT_S = 60.0
# Blocks of many sizes from several threads, some of them moved, one larger than any slab.
_PROGRAM = """\
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static void *work(void *nothing) {
    char *blocks[100];
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < 100; i++) memset(blocks[i] = malloc(i * 37 + 1), (int)i, i * 37 + 1);
        for (size_t i = 0; i < 100; i++) blocks[i] = realloc(blocks[i], i * 91 + 1);
        for (size_t i = 0; i < 100; i++) {
            if (*blocks[i] != (char)i) exit(1);
            free(blocks[i]);
        }
    }
    return nothing;
}
int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    free(memset(malloc(3000000), 1, 3000000));
    return work(NULL) != NULL;
}
"""


@dataclass(frozen=True)
class Target:
    """An architecture, and how programs for it are compiled and started on this machine.

    ``settings`` are CMake's, ``words`` what clang is told by itself, ``emulator`` what stands in
    front of a program. ``probe`` is a program that allocates. ``versions`` are those of the tools
    that are needed beside LLVM's.
    """

    architecture: Architecture = HERE
    settings: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    emulator: tuple[str, ...] = ()
    probe: tuple[str, ...] = ("/bin/ls", "/")  # on every system; what it lists is not looked at
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_here(self) -> bool:
        """Whether this machine can run it."""
        return not self.emulator

    @property
    def variables(self) -> tuple[dict[str, str], ...]:
        """The environments in which a library is tried: each size of pages that there may be."""
        if self.is_here:
            return ({},)
        return tuple({"QEMU_PAGESIZE": str(size)} for size in PAGE_SIZES)

    def started(
        self, argv: tuple[str, ...], libraries: tuple[Path, ...], **loader: str
    ) -> tuple[tuple[str, ...], dict[str, str]]:
        """Return command line and variables for a program with ``libraries`` preloaded.

        ``loader`` are further variables for the dynamic linker. An emulator is told all of them by
        options, for its own linker would take them from the environment.
        """
        variables = {**preload(*libraries), **loader} if libraries else loader
        if self.is_here:
            return argv, variables
        told = (word for name, text in variables.items() for word in ("-E", f"{name}={text}"))
        return (*self.emulator, *told, *argv), {}


NATIVE = Target()


def cross_to(architecture: Architecture, clang: Path, folder: Path) -> Target:
    """Return what is needed to make libraries for another architecture.

    ``folder`` gets a program for it. ToolError if a compiler's files or the emulator are missing,
    or do not work.
    """
    gcc, qemu = f"{architecture.triplet}-gcc", f"qemu-{architecture.kernel}"
    missing = [name for name in (gcc, qemu) if shutil.which(name) is None]
    if missing:
        are = "is" if len(missing) == 1 else "are"
        raise ToolError(
            f"{' and '.join(missing)} {are} missing, and {architecture.name} needs them",
            hint=_how_to_install(architecture),
        )
    words = (f"--target={architecture.triplet}", "-fuse-ld=lld")
    return Target(
        architecture,
        settings={
            "CMAKE_SYSTEM_NAME": "Linux",
            "CMAKE_SYSTEM_PROCESSOR": architecture.kernel,
            "CMAKE_C_COMPILER_TARGET": architecture.triplet,
        },
        words=words,
        emulator=(qemu, "-L", f"/usr/{architecture.triplet}"),
        probe=(str(_compiled(architecture, (str(clang), *words), folder)),),
        versions={name: _version(name) for name in (gcc, qemu)},
    )


def _compiled(architecture: Architecture, compiler: tuple[str, ...], folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    source, program = folder / "probe.c", folder / "probe"
    source.write_text(_PROGRAM, encoding="utf-8")
    flags = ("-O1", "-fno-builtin", "-pthread")
    try:
        run([*compiler, *flags, source, "-o", program], log=folder / "log", timeout_s=TRY_LIMIT_S)
    except ChildError as error:
        raise ToolError(
            f"clang makes no program for {architecture.name}: {error.message}",
            hint=_how_to_install(architecture),
            log=error.log,
        ) from error
    return program


def _version(program: str) -> str:
    return run([program, "--version"], timeout_s=TRY_LIMIT_S).stdout.partition("\n")[0]


def _how_to_install(architecture: Architecture) -> str:
    packages = f"gcc-{architecture.triplet} libc6-dev-{architecture.debian}-cross qemu-user"
    return f"apt-get install -y --no-install-recommends {packages.replace('_', '-')}"
