"""What people say of versions is written down, or taken back: set aside, rejected, wanted again."""

from __future__ import annotations

from pathlib import Path

from pipeline.core.files import replace_text
from pipeline.release.marks import MARKS, Mark, Marks, mark_of_version, read_marks
from pipeline.release.published import published
from pipeline.release.version import Version
from pipeline.release.wish import has, the_one


def set_aside(version: Version, aim: Version) -> None:
    """Remember that ``version`` was rolled back to ``aim``, which itself is wanted again."""
    marks = read_marks(version.folder.parent)
    others = tuple(one for one in marks.aside if one.version not in (version.name, aim.name))
    _write(
        version.folder.parent,
        marks.model_copy(update={"aside": (*others, mark_of_version(version))}),
    )


def want_again(version: Version) -> None:
    """Forget that one version was rolled back: it becomes current."""
    dist, marks = version.folder.parent, read_marks(version.folder.parent)
    others = tuple(one for one in marks.aside if one.version != version.name)
    if others != marks.aside:
        _write(dist, marks.model_copy(update={"aside": others}))


def lift(dist: Path) -> tuple[Mark, ...]:
    """Forget what was rolled back, and return it."""
    marks = read_marks(dist)
    if marks.aside:
        _write(dist, marks.model_copy(update={"aside": ()}))
    return marks.aside


def reject(version: Version, reason: str) -> None:
    """Refuse a version for good."""
    refuse(version.folder.parent, mark_of_version(version, reason))


def refuse(dist: Path, mark: Mark) -> None:
    """Keep one rejection, in place of an older one of that version."""
    _write(dist, read_marks(dist).with_rejection(mark))


def rejected_and_gone(dist: Path, wish: str) -> Mark | None:
    """Return the rejection of a version that ``wish`` names and has no folder; or None.

    Pruning has removed it, or it never was published.
    """
    there = published(dist)
    if not wish or has(there, wish):
        return None
    names = {one.name for one in there}
    gone = {one.version: one for one in read_marks(dist).rejected if one.version not in names}
    found = the_one([dist / name for name in gone], wish, dist.name)
    return gone[found.name] if found else None


def forget(dist: Path, mark: Mark) -> None:
    """Take back one rejection."""
    marks = read_marks(dist)
    others = tuple(one for one in marks.rejected if one != mark)
    _write(dist, marks.model_copy(update={"rejected": others}))


def accept(version: Version) -> Mark | None:
    """Take back that a version was rejected; return the mark, None if there was none."""
    dist = version.folder.parent
    found = read_marks(dist).rejection(version)
    if found is not None:
        forget(dist, found)
    return found


def _write(dist: Path, marks: Marks) -> None:
    dist.mkdir(parents=True, exist_ok=True)
    replace_text(dist / MARKS, marks.model_dump_json(indent=1) + "\n")
