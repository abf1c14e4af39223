"""HAK_HOT and HAK_COLD in the sources: which functions their authors call hot or cold."""

from __future__ import annotations

import re
from pathlib import Path

# Folders that no published library has: the variants for finding mistakes and for research.
VARIANTS = frozenset({"guard", "research"})


def marked(allocator: Path, mark: str) -> frozenset[str]:
    """Return the functions that carry ``mark`` in a definition or declaration below a folder.

    The folders of the variants are left out.
    """
    pattern = re.compile(rf"^[^#*/\n]*\b{mark}\b[^;{{(]*?\*?\b(\w+)\(", re.MULTILINE)
    sources = (
        path
        for path in sorted(allocator.rglob("*.[ch]"))
        if VARIANTS.isdisjoint(path.relative_to(allocator).parts)
    )
    return frozenset(n for path in sources for n in pattern.findall(path.read_text("utf-8")))
