"""Which published version is meant by a name, a part of one, or the path of a folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pipeline.core.errors import UsageError, VersionError
from pipeline.core.paths import Tree
from pipeline.core.spelling import did_you_mean
from pipeline.release.current import current
from pipeline.release.last import LAST
from pipeline.release.published import check_folder, lines_with, nothing_published, published
from pipeline.release.version import CURRENT, Version

LEAST_DIGEST = 4
"""Characters of a version's digest that name it."""


def resolve(tree: Tree, profile: str, wish: str | None = None) -> Version:
    """Return the version that ``wish`` names, or the current one.

    A wish is a name, a unique beginning of one that has some of its digest, a beginning of the
    digest (four characters and more), or the path of a version's folder. An empty one is a mistake
    of a script, and never the current one.
    VersionError if there is no such version.
    """
    if wish == "":
        raise UsageError(
            "the name of the version is empty",
            hint="perhaps a variable of a script is not set; `current` names the current version",
        )
    if wish and Version(Path(wish)).is_published:
        return Version(Path(wish).resolve())
    dist = tree.dist(profile)
    if not wish or wish == CURRENT:
        return _require(current(dist), profile, dist)
    found = the_one([version.folder for version in published(dist)], wish, profile)
    if found is None:
        raise _none(wish, profile, dist)
    return Version(found)


def resolve_own(tree: Tree, profile: str, wish: str) -> Version:
    """Return the version that ``wish`` names; VersionError if it is of another profile or tree."""
    found, dist = resolve(tree, profile, wish), tree.dist(profile)
    place = found.folder.parent.resolve()
    if place == dist.resolve():
        return found
    if place.parent == dist.parent.resolve():
        raise of_another(wish, profile, [place.name])
    raise VersionError(
        f"{wish} is no version of profile {profile!r}",
        hint=f"`.venv/bin/pipeline list -p {profile}` shows those that this tree has published",
    )


def the_one(folders: Sequence[Path], wish: str, profile: str) -> Path | None:
    """Return the folder that ``wish`` names; VersionError if it fits several.

    So it is for a bare release number, though one version alone may have it: who types it thinks
    of the release, and another build may have the same.
    """
    named = [folder for folder in folders if _begins(folder.name, wish)]
    exact = [folder for folder in named if folder.name == wish]
    names = ", ".join(folder.name for folder in named)
    if named and not exact and _of_release(named[0].name, wish):
        raise VersionError(
            f"{wish} lacks the digest, which tells builds of a release apart; "
            f"versions of profile {profile!r} that begin so: {names}",
            hint=f"give the first letters of the digest, too: {_shortened(named[0].name)}",
        )
    if len(exact or named) > 1:
        raise VersionError(
            f"{wish} fits {len(named)} versions of profile {profile!r}: {names}",
            hint="give as much of the name as only one of them has",
        )
    return next(iter(exact or named), None)


def _begins(name: str, wish: str) -> bool:
    """Return whether a name, such as 0.2.0-a3dad7cf50af, begins so, or its digest does."""
    digest = name.rpartition("-")[2]
    return name.startswith(wish) or (len(wish) >= LEAST_DIGEST and digest.startswith(wish))


def _of_release(name: str, wish: str) -> bool:
    """Return whether ``wish`` is a beginning of the release number of a name, and no more."""
    return f"{name.rpartition('-')[0]}-".startswith(wish)


def _shortened(name: str) -> str:
    """Return a name with the first letters of its digest alone: 0.2.0-a3da."""
    release, dash, digest = name.rpartition("-")
    return f"{release}{dash}{digest[:LEAST_DIGEST]}"


def of_another(wish: str, profile: str, owners: Sequence[str]) -> VersionError:
    """Return the error for a version that other profiles have; it names the option for each."""
    options = ", ".join(f"-p {name}" for name in owners)
    return VersionError(
        f"{wish} is no version of profile {profile!r}",
        hint=f"another profile has it: give {options}",
    )


def _none(wish: str, profile: str, dist: Path) -> VersionError:
    """Return the error for a wish that names no version of the profile."""
    if meant := _meant(wish, profile, dist):
        return meant
    check_folder(dist)
    if not published(dist):
        return nothing_published(profile, dist.parent)
    if wish == LAST:
        return VersionError(
            "`last` is the build judged last, for `report`, `diff` and `review` alone",
            hint=f"give the version's name: `.venv/bin/pipeline list -p {profile}` shows it",
        )
    close = did_you_mean(wish, [one.name for one in published(dist)])
    return VersionError(
        f"no published version {wish} of profile {profile!r}",
        hint=f"{close and f'{close} '}`.venv/bin/pipeline list -p {profile}` shows them, and "
        f"`.venv/bin/pipeline history -p {profile}` those that were only judged; "
        "a path of a version's folder will do too",
    )


def _meant(wish: str, profile: str, dist: Path) -> VersionError | None:
    """Return the error for a wish that means something else: another line, a file, a form."""
    named, colon, version = wish.rpartition(":")
    if colon and (dist.parent / named).is_dir():
        return VersionError(
            f"{wish} is no version of profile {profile!r}",
            hint=f"only `versus` takes this form; here give -p {named} {version}",
        )
    if wish in lines_with(dist.parent, published):
        return VersionError(f"{wish} is a profile, not a version", hint=f"did you mean -p {wish}?")
    if "/" in wish and not Path(wish).exists():
        return VersionError(
            f"there is no file or folder {wish}",
            hint=f"`.venv/bin/pipeline list -p {profile}` shows the versions",
        )
    owners = lines_with(dist.parent, lambda line: has(published(line), wish))
    return of_another(wish, profile, owners) if owners else None


def has(versions: Iterable[Version | Path], wish: str) -> bool:
    """Return whether ``wish`` names one of these, or several."""
    return any(_begins(one.name, wish) for one in versions)


def _require(version: Version | None, profile: str, dist: Path) -> Version:
    check_folder(dist)
    if version is not None:
        return version
    if not published(dist):
        raise nothing_published(profile, dist.parent)
    raise VersionError(
        f"no version of profile {profile!r} is current",
        hint=f"`.venv/bin/pipeline list -p {profile}` shows them and why; "
        f"`.venv/bin/pipeline rollback -p {profile} --to VERSION` makes one current that is not "
        f"rejected, `.venv/bin/pipeline reject -p {profile} VERSION --undo` takes that back",
    )
