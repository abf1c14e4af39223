"""Other allocators, as files of programs and libraries tell of them."""

from __future__ import annotations

from pathlib import PurePath

from operate.elf import Elf

SERVES = frozenset(["malloc", "free"])
"""Who exports these serves the program's memory, if it stands first in the search of names."""

_LIBRARIES = {
    "libjemalloc": "jemalloc",
    "libtcmalloc": "tcmalloc",
    "libmimalloc": "mimalloc",
    "libsnmalloc": "snmalloc",
    "libscudo": "scudo",
    "libclang_rt.scudo": "scudo",
    "librpmalloc": "rpmalloc",
    "libhoard": "Hoard",
    "libtbbmalloc_proxy": "TBB malloc",
    "libhardened_malloc": "hardened_malloc",
    "libumem": "umem",
    "libmesh": "Mesh",
    "libefence": "Electric Fence",
    "libduma": "DUMA",
    "libc_malloc_debug": "glibc's malloc debugging",
    "libasan": "AddressSanitizer",
    "libclang_rt.asan": "AddressSanitizer",
    "liblsan": "LeakSanitizer",
    "libclang_rt.lsan": "LeakSanitizer",
    "libtsan": "ThreadSanitizer",
    "libclang_rt.tsan": "ThreadSanitizer",
    "libheaptrack_preload": "heaptrack",
    "libtcmalloc_and_profiler": "tcmalloc",
}
"""Beginnings of file names."""

_FUNCTIONS = {
    "__asan_init": "AddressSanitizer",
    "__tsan_init": "ThreadSanitizer",
    "__lsan_init": "LeakSanitizer",
    "__msan_init": "MemorySanitizer",
    "je_malloc": "jemalloc",
    "_rjem_malloc": "jemalloc",
    "mallctl": "jemalloc",
    "tc_malloc": "tcmalloc",
    "mi_malloc": "mimalloc",
    "rpmalloc": "rpmalloc",
    "scudo_malloc": "scudo",
}
"""Functions that one allocator alone has."""


def by_file_name(path: str) -> str:
    """Return the allocator whose library is called so, or ""."""
    name = PurePath(path).name
    return next((whose for begin, whose in _LIBRARIES.items() if name.startswith(begin)), "")


def inside(elf: Elf) -> str:
    """Return the allocator that is linked into a file, or ""."""
    names = elf.exported | elf.names
    return next((whose for name, whose in _FUNCTIONS.items() if name in names), "")


def exported(elf: Elf) -> str:
    """Return what a file serves malloc by, if it exports malloc: the allocator, or a phrase."""
    if not elf.exported >= SERVES:
        return ""
    return inside(elf) or "a malloc of its own"


def is_ours(path: str) -> bool:
    """Return whether a file is one of hakmem's libraries, by its name."""
    name = PurePath(path).name
    return name.startswith("libhakmem") and ".so" in name
