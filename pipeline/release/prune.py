"""Removing old versions: which may go, which stay and why."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import ArtifactError, SpaceError
from pipeline.core.files import replace_text
from pipeline.core.nested import read_json
from pipeline.core.variant import PRODUCTION, split_line
from pipeline.release.current import current
from pipeline.release.installed import Place
from pipeline.release.marks import Mark, read_marks
from pipeline.release.published import published
from pipeline.release.version import Version

PLACES = "installed-at.json"
"""Beside the versions: the prefixes into which versions of this profile were installed."""

USUAL = (Path("/usr"), Path("/usr/local"))
LEAVING = ".leaving-"


@dataclass(frozen=True)
class Pruning:
    """What goes and what stays, each with the reason, newest first.

    ``last_way_back`` tells that no version is left to go back to, of those that there were.
    """

    go: tuple[tuple[Version, str], ...]
    stay: tuple[tuple[Version, str], ...]
    last_way_back: bool

    @property
    def size(self) -> int:
        """Return how many bytes of the disk get free."""
        return sum(disk_bytes(one.folder) for one, _ in self.go)


def remember_place(dist: Path, place: Place) -> None:
    """Remember where a version was installed, so that it is not pruned."""
    places = sorted({*_places(dist), str(place.root)})
    replace_text(dist / PLACES, json.dumps(places, indent=1) + "\n")


def where_installed(version: Version) -> list[str]:
    """Return a sentence for each prefix that has a version, and for each where nobody can tell.

    It says what replaces the version there; or, where no version is current, what removes it.
    """
    dist, said = version.folder.parent, []
    for root in sorted(_roots(dist)):
        try:
            if _installed(root, split_line(dist.name)[1]) == version.name:
                cure = _cure(dist, root)
                said.append(f"{version.name} is still installed in {root}; {cure}")
        except ArtifactError as error:
            said.append(error.message)
    return said


def _cure(dist: Path, root: Path) -> str:
    line, variant = dist.name, split_line(dist.name)[1]
    if current(dist) is not None:
        return f"`.venv/bin/pipeline install --profile {line} --prefix {root}` replaces it"
    which = "" if variant == PRODUCTION else f" --variant {variant}"
    return f"`.venv/bin/pipeline uninstall --prefix {root}{which}` removes it"


def plan_pruning(dist: Path, keep: int, was_current: str | None = None) -> Pruning:
    """Return what pruning to the ``keep`` newest versions would remove.

    Versions that are rejected, or the same as one that is, do not count as kept. What ``current``
    or another link points to, what is set aside by a rollback, and what is installed somewhere
    stays. So does ``was_current``: it was current when the command was given, which may wait for a
    build since.
    """
    versions, marks = published(dist), read_marks(dist)
    refused = {one.name: mark for one in versions if (mark := marks.rejection(one)) is not None}
    newest = [one.name for one in versions if one.name not in refused][:keep]
    reasons = {name: f"it is {_of_newest(keep)}" for name in newest}
    if was_current is not None:
        reasons[was_current] = "it was current when the command was given"
    reasons |= _reasons(dist)
    go = [one for one in versions if one.name not in reasons]
    return Pruning(
        go=tuple((one, _why_it_goes(one, refused, keep)) for one in go),
        stay=tuple((one, reasons[one.name]) for one in versions if one.name in reasons),
        last_way_back=_takes_last_way_back(dist, versions, go),
    )


def _of_newest(keep: int) -> str:
    return "the newest" if keep == 1 else f"one of the {keep} newest"


def _why_it_goes(one: Version, refused: dict[str, Mark], keep: int) -> str:
    mark = refused.get(one.name)
    if mark is None:
        return f"it is not {_of_newest(keep)}"
    twin = "" if mark.version == one.name else f" as {mark.version}"
    return f"it was rejected{twin}"


def _takes_last_way_back(dist: Path, versions: list[Version], go: list[Version]) -> bool:
    """Return whether a rollback would find an older version now, and none when ``go`` is gone."""
    now, marks = current(dist), read_marks(dist)
    older = versions[versions.index(now) + 1 :] if now in versions else versions
    good = [one for one in older if marks.rejection(one) is None]
    return bool(good) and all(one in go for one in good)


def carry_out(plan: Pruning) -> None:
    """Remove what a plan names. Each folder loses its name first: none is seen half-empty."""
    for one, _ in plan.go:
        try:
            leaving = one.folder.rename(one.folder.with_name(f"{LEAVING}{one.name}"))
            shutil.rmtree(leaving)
        except OSError as error:
            raise SpaceError(f"cannot remove {one.folder}: {error.strerror}") from error


def clear_leftovers(dist: Path) -> None:
    """Remove what a pruning that was killed has left."""
    for folder in dist.glob(f"{LEAVING}*"):
        shutil.rmtree(folder, ignore_errors=True)


def disk_bytes(folder: Path) -> int:
    """Return the bytes that get free when ``folder`` goes; files with further names do not."""
    found = (path.lstat() for path in folder.rglob("*") if path.is_symlink() or path.is_file())
    return sum(one.st_blocks * 512 for one in found if one.st_nlink == 1)


def _reasons(dist: Path) -> dict[str, str]:
    """Return the versions that must stay whatever their age, and why."""
    lifted = f"`.venv/bin/pipeline unpin -p {dist.name}` lifts that"
    found = {
        one.version: f"it is set aside by a rollback ({lifted})" for one in read_marks(dist).aside
    }
    for root in _roots(dist):
        version = _installed(root, split_line(dist.name)[1])
        if version:
            found[version] = f"it is installed below {root}"
    for link in dist.glob("*"):
        if link.is_symlink():
            found[link.resolve().name] = f"{link.name} points to it"
    return found


def _roots(dist: Path) -> Iterable[Path]:
    return {*USUAL, *map(Path, _places(dist))}


def _installed(root: Path, variant: str) -> str | None:
    """Return the version that is installed below ``root``; ArtifactError if nobody can tell."""
    record = Place(root, variant=variant).installed()
    return record.version if record else None


def _places(dist: Path) -> list[str]:
    path = dist / PLACES
    try:
        return list(map(str, read_json(path)))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError) as error:
        raise ArtifactError(
            f"{path} cannot be read: it says where versions are installed",
            hint="mend it, or remove it and take care of what is installed yourself",
        ) from error
