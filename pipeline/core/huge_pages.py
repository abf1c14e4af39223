"""What the system allows of transparent huge pages, by size."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path("/sys/kernel/mm/transparent_hugepage")
SMALL_KIB, LARGE_KIB = 64, 2048
"""Sizes that the library can use: a slab, and what x86-64 has in hardware."""


def setting(kib: int, folder: Path = FOLDER) -> str | None:
    """Return always, madvise or never for pages of this size; None where the kernel has none.

    Before Linux 6.8 there is one setting, for the large ones; since then that of a size may be to
    inherit it.
    """
    of_size = _chosen(folder / f"hugepages-{kib}kB" / "enabled")
    if of_size == "inherit" or (of_size is None and kib == LARGE_KIB):
        return _chosen(folder / "enabled")
    return of_size


def line_that_allows(kib: int, folder: Path = FOLDER) -> str:
    """Return the shell line, for root, after which programs may ask for pages of this size."""
    of_size = folder / f"hugepages-{kib}kB" / "enabled"
    inherits = _chosen(of_size) in (None, "inherit")
    return f"echo madvise > {folder / 'enabled' if inherits else of_size}"


def told(kib: int, folder: Path = FOLDER) -> str:
    """Return what the system allows of this size, with the line that would allow it."""
    allowed = setting(kib, folder)
    if allowed == "never":
        return f"never (to allow them: {line_that_allows(kib, folder)})"
    return allowed or "not in this kernel"


def _chosen(file: Path) -> str | None:
    try:
        text = file.read_text(encoding="ascii")
    except OSError:
        return None
    return text[text.index("[") + 1 : text.index("]")] if "[" in text else None
