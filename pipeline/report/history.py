"""Versions of a profile over time, from the reports that are kept of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from pipeline.core.nested import read_json
from pipeline.core.paths import Tree
from pipeline.release.current import current
from pipeline.release.marks import Marks, read_marks
from pipeline.release.published import published
from pipeline.release.version import Version
from pipeline.report.files import JSON
from pipeline.report.history_model import History, Point
from pipeline.report.history_point import known_point
from pipeline.report.text import names_apart


def read_history(tree: Tree, profile: str) -> History:
    """Return what is known of the versions of ``profile``: published ones, and judged ones."""
    dist = tree.dist(profile)
    now, kept = current(dist), {one.name: one for one in published(dist)}
    marks = read_marks(dist)
    points: dict[str, Point] = {}
    unreadable = []
    for file in _reports(tree, profile):
        name = file.parent.name
        report = _read(file)
        point = None if report is None else known_point(name, report, name in kept)
        if point is None:
            unreadable.append(str(file))
        elif name not in points:
            points[name] = point.model_copy(
                update={
                    "current": now is not None and now.name == name,
                    "mark": _said(marks, name, kept),
                    "rejected": marks.refuses(name, kept.get(name)),
                    "damaged": name in kept and bool(kept[name].damaged_files()),
                }
            )
    ordered = sorted(points.values(), key=lambda one: (one.created, one.version))
    return History(
        profile=profile, points=tuple(_after_another(ordered)), unreadable=tuple(unreadable)
    )


def _said(marks: Marks, name: str, kept: dict[str, Version]) -> str | None:
    """Return what is said of a version; of one that is published also as another name of it."""
    said = marks.said_of(kept[name]) if name in kept else marks.by_version().get(name)
    return said or None


def _after_another(points: list[Point]) -> Iterator[Point]:
    """Yield each version with what it shares with the one before it, and what it does not."""
    yield from points[:1]
    for before, after in pairwise(points):
        same = after.library is not None and after.library == before.library
        update: dict[str, Any] = {"same_library": same}
        update["dropped"], update["added"] = _apart(before.workloads, after.workloads)
        update["uncounted"], update["newly_counted"] = _apart(before.counted, after.counted)
        update["recorded_anew"] = _same_name_anew(before, after)
        update["replaced"] = _replaced(before, after)
        yield after.model_copy(update=update)


def _apart(
    then: tuple[str, ...] | None, now: tuple[str, ...] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which names were dropped, and which added; none where one side is unknown."""
    return ((), ()) if then is None or now is None else names_apart(then, now)


def _replaced(before: Point, after: Point) -> tuple[str, ...]:
    """Return the programs of both that are other files in the one than in the other."""
    old, new = (dict(map(_split, point.files or ())) for point in (before, after))
    return tuple(name for name in new if name in old and old[name] != new[name])


def _split(name_and_digest: str) -> tuple[str, str]:
    name, _, digest = name_and_digest.rpartition(" ")
    return name, digest


def _same_name_anew(before: Point, after: Point) -> bool:
    """Return whether a workload of both plays another recording."""
    shared = set(before.workloads or ()) & set(after.workloads or ())
    old, new = (
        {one for one in point.recordings or () if one.partition(" ")[0] in shared}
        for point in (before, after)
    )
    return None not in (before.recordings, after.recordings) and old != new


def _reports(tree: Tree, profile: str) -> Iterator[Path]:
    """Yield the files of reports; those of published versions first."""
    for folder in (tree.dist(profile), tree.reports(profile)):
        for file in sorted(folder.glob(f"[!.]*/{JSON}")):
            if not file.parent.is_symlink():
                yield file


def _read(file: Path) -> dict[str, Any] | None:
    try:
        content = read_json(file)
    except (OSError, ValueError):
        return None
    return (
        content if isinstance(content, dict) and isinstance(content.get("verify"), dict) else None
    )
