"""The versions in ``dist/<profile>/``, and what is said where there are none.

Those of another variant than production lie in ``dist/<profile>+<variant>/``; what is said of a
profile here holds for such a line as well.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pipeline.core.errors import NothingYet, SpaceError
from pipeline.core.variant import asked_for
from pipeline.release.version import CURRENT, MANIFEST, Version


def published(dist: Path) -> list[Version]:
    """Return the versions in a dist folder, newest first; none if there is no such folder."""
    folders = [path.parent for path in dist.glob(f"*/{MANIFEST}")]
    versions = [Version(f) for f in folders if not f.is_symlink() and not f.name.startswith(".")]
    return sorted(versions, key=lambda v: (v.created, v.name), reverse=True)


def lines_with(dists: Path, test: Callable[[Path], object]) -> list[str]:
    """Return the names of the folders in ``dists`` for which ``test`` is true, sorted."""
    folders = [folder for folder in sorted(dists.glob("*")) if folder.is_dir()]
    return [folder.name for folder in folders if test(folder)]


def require_published(dist: Path, profile: str) -> list[Version]:
    """Return the versions in a dist folder, newest first; VersionError if there are none."""
    check_folder(dist)
    versions = published(dist)
    if not versions:
        raise nothing_published(profile, dist.parent)
    return versions


def check_folder(dist: Path) -> None:
    """Raise SpaceError if a file, or a link to none, stands where a folder for versions has to be.

    Where the link leads may be a disk that is not mounted just now.
    """
    for place in (dist, dist.parent):
        if (place.exists() or place.is_symlink()) and not place.is_dir():
            what = "a link that leads to no folder" if place.is_symlink() else "a file"
            raise SpaceError(
                f"{place} is {what}, and versions are published in a folder of that name",
                hint=f"remove or rename it: mv {place} {place}.old",
            )


def nothing_published(profile: str, dists: Path) -> NothingYet:
    """Return the error for a profile of which nothing is published; it names those that have."""
    return NothingYet(
        f"nothing is published for profile {profile!r}",
        hint=f"`.venv/bin/pipeline build --profile {asked_for(profile)}`{_others(dists)}",
    )


def _others(dists: Path) -> str:
    """Say which option chooses another profile, where another one is published."""
    names = lines_with(dists, lambda line: (line / CURRENT).exists())
    options = ", ".join(f"-p {name}" for name in names)
    return f"; or name a profile that is published: {options}" if names else ""
