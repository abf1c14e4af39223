"""What the system allows of transparent huge pages, by size."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path("/sys/kernel/mm/transparent_hugepage")
SMALL_KIB, LARGE_KIB = 64, 2048
"""Sizes that the library can use: a slab, and what x86-64 has in hardware."""

MEANING = {
    "always": "every program gets them",
    "madvise": "programs that ask get them, as hakmem does",
    "never": "no program gets them",
}


def chosen(file: Path = FOLDER / "enabled") -> str | None:
    """Return the word in brackets, which is in force; None where there is no such file, or none."""
    try:
        text = file.read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    found = re.search(r"\[([^\]]+)\]", text)
    return found[1] if found else None


def setting(kib: int, folder: Path = FOLDER) -> str | None:
    """Return always, madvise or never for pages of this size; None where the kernel has none.

    Before Linux 6.8 there is one setting, for the large ones; since then that of a size may be to
    inherit it.
    """
    of_size = chosen(folder / f"hugepages-{kib}kB" / "enabled")
    if of_size == "inherit" or (of_size is None and kib == LARGE_KIB):
        return chosen(folder / "enabled")
    return of_size


def line_that_allows(kib: int, folder: Path = FOLDER) -> str:
    """Return the shell line, for root, after which programs may ask for pages of this size."""
    of_size = folder / f"hugepages-{kib}kB" / "enabled"
    inherits = chosen(of_size) in (None, "inherit")
    return f"echo madvise > {folder / 'enabled' if inherits else of_size}"


def meant(setting: str) -> str:
    """Return what a setting means, and its word; as it is where it is none of ours."""
    return f"{MEANING[setting]} ({setting})" if setting in MEANING else setting


def told(kib: int, folder: Path = FOLDER) -> str:
    """Return what the system allows of this size, with the line that would allow it."""
    allowed = setting(kib, folder)
    if allowed == "never":
        return f"never (to allow them: {line_that_allows(kib, folder)})"
    return allowed or "not in this kernel"
