"""HAK_HOT and HAK_COLD in the sources: which functions their authors call hot or cold."""

from __future__ import annotations

import re
from pathlib import Path


def marked(allocator: Path, mark: str) -> frozenset[str]:
    """Return the functions that carry ``mark`` in a definition or declaration below a folder."""
    pattern = re.compile(rf"^[^#*/\n]*\b{mark}\b[^;{{(]*?\*?\b(\w+)\(", re.MULTILINE)
    sources = sorted(allocator.rglob("*.[ch]"))
    return frozenset(n for path in sources for n in pattern.findall(path.read_text("utf-8")))
