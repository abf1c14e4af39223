"""What a finished library must be like as an ELF file, and a proof that it loads and serves."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.errors import ArtifactError, ChildError
from pipeline.core.process import run
from pipeline.core.store import require_content
from pipeline.toolchain.target import NATIVE, Target

if TYPE_CHECKING:
    from pipeline.toolchain.elf_file import ElfFacts

PROBE_LIMIT_S = 20.0


# pyelftools is loaded where a file is read: a build that has nothing to do reads none.
def read_facts(path: Path) -> ElfFacts:
    """Return the ELF properties of ``path``; ArtifactError if it is no ELF file."""
    from pipeline.toolchain.elf_file import facts, reading

    return reading(path, facts)


def read_kind(path: Path) -> tuple[str, str]:
    """Return the machine and, in words, what an ELF file is; ArtifactError if it is none."""
    from pipeline.toolchain.elf_file import kind, reading

    return reading(path, lambda elf: (str(elf.get_machine_arch()), kind(elf)))


def read_build_id(path: Path) -> str:
    """Return the build-id of ``path``, which may be a debug file; empty if it has none."""
    from pipeline.toolchain.elf_file import build_id, reading

    return reading(path, build_id)


def check_library(path: Path, log: Path, target: Target = NATIVE) -> ElfFacts:
    """Check that a library is whole, safe and serves ``malloc`` in a real program.

    ``log`` gets what the probe program printed; ``target`` says how it runs. Raises ArtifactError
    with the first rule broken.
    """
    require_content(path, "the library")
    facts = read_facts(path)
    _refuse(path, facts.stack_executable, "asks for an executable stack (PT_GNU_STACK)")
    _refuse(path, not facts.relro, "has no RELRO segment")
    _refuse(path, not facts.bind_now, "is not bound at start (BIND_NOW)")
    _refuse(path, facts.text_relocations, "has text relocations")
    for variables in target.variables:
        _probe(path, log, target, variables)
    return facts


def _refuse(path: Path, broken: bool, what: str) -> None:
    if broken:
        raise ArtifactError(f"{path} {what}", hint="this is a fault of the link or BOLT step")


def _probe(path: Path, log: Path, target: Target, variables: dict[str, str]) -> None:
    """Run a program with the library and read from the loader whose malloc it got.

    A library that cannot be preloaded is only a warning to the loader; the program would run on
    with libc's allocator and look fine.
    """
    argv, loader = target.started(target.probe, (path,), LD_DEBUG="bindings")
    env = {**loader, **variables, "LLVM_PROFILE_FILE": os.devnull}
    try:
        done = run(argv, env=env, timeout_s=PROBE_LIMIT_S, log=log)
    except ChildError as error:
        raise ArtifactError(
            f"{path}: a program preloaded with it did not run: {error.message}", log=error.log
        ) from error
    wanted = re.escape(str(path)) + r" \[0\]: normal symbol `malloc'"
    if not re.search(wanted, done.stderr):
        raise ArtifactError(f"{path}: preloaded, but malloc is not taken from it", log=log)
