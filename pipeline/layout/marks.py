"""HAK_HOT and HAK_COLD in the sources: which functions their authors call hot or cold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

_STATIC = re.compile(r"^static\b[^;{(=]*?\b(?!_Atomic)(\w+)\(", re.MULTILINE)
# Folders that no published library has: the variants for finding mistakes and for research.
VARIANTS = frozenset({"guard", "leaks", "research"})


def marked(allocator: Path, mark: str) -> frozenset[str]:
    """Return the functions that carry ``mark`` in a definition or declaration below a folder.

    The folders of the variants are left out.
    """
    pattern = re.compile(rf"^[^#*/\n]*\b{mark}\b[^;{{(]*?\*?\b(\w+)\(", re.MULTILINE)
    return frozenset(
        n for path in _sources(allocator) for n in pattern.findall(path.read_text("utf-8"))
    )


def shared_statics(allocator: Path) -> set[str]:
    """Return the names that several files define as static functions: none means one of them."""
    found = Counter(
        name
        for path in _sources(allocator)
        for name in set(_STATIC.findall(path.read_text("utf-8")))
    )
    return {name for name, files in found.items() if files > 1}


def _sources(allocator: Path) -> Iterator[Path]:
    """Yield the sources that a published library is made of."""
    for path in sorted(allocator.rglob("*.[ch]")):
        if VARIANTS.isdisjoint(path.relative_to(allocator).parts):
            yield path
