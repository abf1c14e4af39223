"""Which versions people refused by ``pipeline reject``: it stands beside them, in marks.json.

A copy below a prefix has no such file. Of it the trees that are usually looked in may know.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from operate.libraries import Library, usual_roots
from pipeline.core.nested import read_json

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
    """Return why the version of a library was rejected; None if it was not, or nobody knows.

    It holds for the same library under another name as well, as the pipeline has it.
    """
    if not library.version:
        return None
    files = dict.fromkeys(_marks_of(library))
    found = [one for marks in files for one in _rejected(marks) if _means(one, library)]
    found.sort(key=lambda one: one.get("version") != library.version)
    return _reason(found[0], library.version) if found else None


def _means(mark: dict[str, Any], library: Library) -> bool:
    """Say whether a mark is of this version, of one with its bytes, or of one made of the same."""
    same = mark.get("library") in library.general_digests()
    made_of = mark.get("inputs")
    same = same or (made_of is not None and made_of == library.manifest.get("inputs"))
    return same or mark.get("version") == library.version


def _reason(mark: dict[str, Any], version: str) -> str:
    reason = " ".join(str(mark.get("reason", "")).split())
    other = mark.get("version")
    return reason if other == version else f"{reason} (it is the same as {other})"


def _marks_of(library: Library) -> Iterator[Path]:
    """Yield the files that may tell: that beside the version's folder, then those of trees."""
    for folder in library.path.resolve().parents:
        if folder.name == library.version:
            yield folder.parent / _MARKS
    for root in usual_roots():
        yield from sorted(root.glob(f"dist/*/{_MARKS}"))


def _rejected(marks: Path) -> list[dict[str, Any]]:
    try:
        said = read_json(marks)
    except (OSError, ValueError):
        return []
    found = said.get("rejected") if isinstance(said, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
