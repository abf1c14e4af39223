"""What differs between the architectures that libraries are published for, in one table."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Architecture:
    """An architecture: how others call it, and what its processors may be able to do."""

    name: str
    kernel: str
    """What uname and Debian's folders of libraries call it."""
    debian: str
    elf: str
    loader: str
    shadow_stacks: tuple[str, int]
    """The ELF property, and the bit in it, without which a process has no shadow stacks."""
    levels: dict[str, frozenset[str]] = field(hash=False)
    """The levels of instructions that a library may be compiled for (-march), the least first. Each
    has what it adds to the one before, in the words of /proc/cpuinfo."""

    @property
    def triplet(self) -> str:
        """The folder of Debian's libraries below /usr/lib."""
        return f"{self.kernel}-linux-gnu"

    @property
    def least(self) -> str:
        """The level that each processor of the architecture has."""
        return next(iter(self.levels))


X86_64 = Architecture(
    name="x86-64",
    kernel="x86_64",
    debian="amd64",
    elf="EM_X86_64",
    loader="ld-linux-x86-64.so.2",
    shadow_stacks=("GNU_PROPERTY_X86_FEATURE_1_AND", 2),
    # the psABI of x86-64; Linux says abm where there is lzcnt
    levels={
        "x86-64": frozenset(),
        "x86-64-v2": frozenset(["cx16", "lahf_lm", "popcnt", "ssse3", "sse4_1", "sse4_2"]),
        "x86-64-v3": frozenset(
            ["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"]
        ),
    },
)
AARCH64 = Architecture(
    name="AArch64",
    kernel="aarch64",
    debian="arm64",
    elf="EM_AARCH64",
    loader="ld-linux-aarch64.so.1",
    shadow_stacks=("GNU_PROPERTY_AARCH64_FEATURE_1_AND", 4),
    # of Armv8.1 an allocator has use for LSE's atomic instructions
    levels={"armv8-a": frozenset(), "armv8.1-a": frozenset(["atomics", "crc32", "asimdrdm"])},
)
ALL = (X86_64, AARCH64)


def by_elf(machine: str) -> Architecture | None:
    """Return the architecture of an ELF file, by its e_machine; None for another one."""
    return next((one for one in ALL if one.elf == machine), None)


HERE = next((one for one in ALL if one.kernel == platform.machine()), X86_64)
"""The architecture of this machine. Where it is neither, nothing can be built."""
