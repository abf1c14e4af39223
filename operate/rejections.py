"""Which versions people refused by ``pipeline reject``: it stands beside them, in marks.json.

A copy below a prefix has no such file. Of it the trees that are usually looked in may know.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from operate.libraries import Library, usual_roots

_MARKS = "marks.json"


def warning(library: Library) -> str | None:
    """Return a sentence if the version of a library was rejected, as far as that is known."""
    reason = rejection(library)
    return None if reason is None else sentence(library.version, reason)


def sentence(version: str | None, reason: str, restart_helps: bool = False) -> str:
    """Return what is told of a rejected version, and what to do about it."""
    cure = "start the program anew"
    if restart_helps:
        cure += ": it then gets another version"
    else:
        cure = f"install another version, and {cure}"
    return f"version {version} was rejected: {reason}; {cure}"


def rejection(library: Library) -> str | None:
    """Return why the version of a library was rejected; None if it was not, or nobody knows."""
    if not library.version:
        return None
    for marks in dict.fromkeys(_marks_of(library)):
        for one in _rejected(marks):
            if one.get("version") == library.version:
                return " ".join(str(one.get("reason", "")).split())
    return None


def _marks_of(library: Library) -> Iterator[Path]:
    """Yield the files that may tell: that beside the version's folder, then those of trees."""
    for folder in library.path.resolve().parents:
        if folder.name == library.version:
            yield folder.parent / _MARKS
    for root in usual_roots():
        yield from sorted(root.glob(f"dist/*/{_MARKS}"))


def _rejected(marks: Path) -> list[dict[str, Any]]:
    try:
        said = json.loads(marks.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    found = said.get("rejected") if isinstance(said, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
