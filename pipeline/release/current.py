"""The version that ``dist/<profile>/current`` points to, and when that moves."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from pipeline.core.errors import ArtifactError
from pipeline.core.files import replacing, sync
from pipeline.release.published import published
from pipeline.release.version import CURRENT, Version

MODES = ("quick", "default", "thorough")
"""How much a version was judged, the least first."""


def current(dist: Path) -> Version | None:
    """Return the version that ``current`` points to, or None."""
    link = dist / CURRENT
    folder = link.parent / link.readlink() if link.is_symlink() else link
    found = Version(folder)
    return found if found.is_published else None


def current_since(dist: Path, name: str) -> str:
    """Return the day on which ``current`` was pointed to a version, in UTC; "" if it is not."""
    now = current(dist)
    if now is None or now.name != name:
        return ""
    moved = (dist / CURRENT).lstat().st_mtime
    return datetime.fromtimestamp(moved, UTC).date().isoformat()


def untouched(dist: Path) -> str:
    """Say what a build leaves behind that publishes nothing: `current` as it was, or nothing."""
    if current(dist):
        return "`current` is as it was"
    return "no version is current" if published(dist) else "nothing is published yet"


def point_current(version: Version) -> None:
    """Make ``current`` point to a version, in one step that cannot be seen half-done."""
    link = version.folder.parent / CURRENT
    with replacing(link) as fresh:
        fresh.symlink_to(version.name)
    sync(link.parent)


def point_nowhere(dist: Path) -> None:
    """Remove ``current``: no version of this folder is wanted."""
    (dist / CURRENT).unlink(missing_ok=True)
    sync(dist)


def why_current_stays(
    now: Version | None, version: Version, mode: str, worse: tuple[str, ...]
) -> str | None:
    """Return why ``current`` does not move from ``now`` by itself, or None if it may.

    It moves to what was judged in the mode of ``now`` or a fuller one, and is not shown to be worse
    than it in anything; ``worse`` are the sentences of that.
    """
    if now is None or now == version:
        return None
    before = _mode(now)
    if before in MODES and MODES.index(mode) < MODES.index(before):
        return f"{now.name} was judged in mode {before}, this one in mode {mode} alone"
    if worse:
        return f"this one is worse than {now.name}: {'; '.join(worse)}"
    return None


def _mode(version: Version) -> str:
    try:
        return str(version.manifest["verdict"]["mode"])
    except (ArtifactError, KeyError, TypeError):
        return "unknown"
