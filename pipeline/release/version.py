"""Published versions under ``dist/<profile>/``: which there are, and which one is meant.

Those of another variant than production lie in ``dist/<profile>+<variant>/``; what is said of a
profile here holds for such a line as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline.core.digest import digest_file
from pipeline.core.errors import ArtifactError, SpaceError, UsageError, VersionError
from pipeline.core.files import replacing, sync
from pipeline.core.nested import read_json
from pipeline.core.paths import Tree
from pipeline.core.spelling import did_you_mean
from pipeline.core.variant import PRODUCTION, VARIANTS, asked_for, line_of, shared_name
from pipeline.release.last import LAST

CURRENT, MANIFEST, SUMS = "current", "manifest.json", "SHA256SUMS"
LEAST_DIGEST = 4
"""Characters of a version's digest that name it."""
PROFILE = "profile"


@dataclass(frozen=True)
class Version:
    """One published version: a folder that is never changed once it has its name."""

    folder: Path

    @property
    def name(self) -> str:
        """Its name, such as 0.1.0-3f2a90c1b2d4."""
        return self.folder.name

    @property
    def library(self) -> Path:
        """The shared library."""
        return self.folder / self.place

    @property
    def place(self) -> str:
        """Where the shared library lies in the folder."""
        return library_place(self.variant)

    @property
    def is_published(self) -> bool:
        """Tell whether it is the folder of a published version, and not of a judged build."""
        return (self.folder / MANIFEST).is_file()

    @property
    def variant(self) -> str:
        """Production, or what is published beside it: as its library is called."""
        there = (one for one in VARIANTS if (self.folder / library_place(one)).is_file())
        return next(there, PRODUCTION)

    def beside(self) -> list[Path]:
        """Return the libraries for single kinds of processors, in lib/CPU/, sorted."""
        return sorted(self.library.parent.glob(f"*/{self.library.name}"))

    @property
    def profile(self) -> Path:
        """The folder with what the library was compiled by: profiles and symbol lists."""
        return self.folder / PROFILE

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What manifest.json says; ArtifactError if it cannot be read."""
        path = self.folder / MANIFEST
        try:
            content = read_json(path)
        except (OSError, ValueError) as error:
            raise ArtifactError(
                f"{path} cannot be read: {error}",
                hint="mend the rights of the file, or publish again",
            ) from error
        if not isinstance(content, dict):
            raise ArtifactError(
                f"{path} is not a manifest", hint="name the folder of a published version"
            )
        return content

    @property
    def created(self) -> str:
        """When it was published, ISO 8601 in UTC; empty if the manifest does not say."""
        try:
            return str(self.manifest.get("created", ""))
        except ArtifactError:
            return ""

    def is_whole(self) -> bool:
        """Tell whether it is published, and each file has the bytes it was published with."""
        return self.folder.is_dir() and not self.damaged_files()

    def damaged_files(self) -> list[str]:
        """Return the files that do not have the digest in SHA256SUMS, or are gone."""
        listed = self.sums()
        if listed is None:
            return [SUMS]
        files = {name: self.folder / name for name in listed}
        return [
            name
            for name, path in files.items()
            if not path.is_file() or digest_file(path) != listed[name]
        ]

    def damage(self) -> str:
        """Name the damaged files, each with what is wrong with it; "" for none."""
        named = ((name, (self.folder / name).is_file()) for name in self.damaged_files())
        return ", ".join(f"{name} ({'changed' if there else 'missing'})" for name, there in named)

    @property
    def commit(self) -> str:
        """The commit that it was built at, in short; "" where the manifest does not say."""
        try:
            return in_short((self.manifest.get("git") or {}).get("commit"))
        except ArtifactError:
            return ""

    def unlisted_files(self) -> list[str]:
        """Return the files that SHA256SUMS does not know."""
        files = (p for p in self.folder.rglob("*") if not p.is_dir())
        names = {str(path.relative_to(self.folder)) for path in files}
        return sorted(names - {SUMS, *(self.sums() or {})})

    def sums(self) -> dict[str, str] | None:
        """Return the digests that its files were published with; None if nobody can read them."""
        try:
            lines = (self.folder / SUMS).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return None
        pairs = [line.partition("  ") for line in lines]
        if not all(name for _, _, name in pairs):  # the list itself is damaged
            return None
        return {name: digest for digest, _, name in pairs}


def in_short(commit: object) -> str:
    """Return as much of a commit's name as people read; "" for None."""
    return str(commit or "")[:12]


def library_place(variant: str) -> str:
    """Return where the shared library of a variant lies in a version."""
    return f"lib/{shared_name(variant)}"


def published(dist: Path) -> list[Version]:
    """Return the versions in a dist folder, newest first; none if there is no such folder."""
    folders = [path.parent for path in dist.glob(f"*/{MANIFEST}")]
    versions = [Version(f) for f in folders if not f.is_symlink() and not f.name.startswith(".")]
    return sorted(versions, key=lambda v: (v.created, v.name), reverse=True)


def current(dist: Path) -> Version | None:
    """Return the version that ``current`` points to, or None."""
    link = dist / CURRENT
    folder = link.parent / link.readlink() if link.is_symlink() else link
    found = Version(folder)
    return found if found.is_published else None


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


def resolve(tree: Tree, profile: str, wish: str | None = None) -> Version:
    """Return the version that ``wish`` names, or the current one.

    A wish is a name, a unique beginning of one or of its digest (four characters and more), or the
    path of a version's folder. An empty one is a mistake of a script, and never the current one.
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
    """Return the folder that ``wish`` names; VersionError if it fits several."""
    named = [folder for folder in folders if _begins(folder.name, wish)]
    exact = [folder for folder in named if folder.name == wish]
    if len(exact or named) > 1:
        names = ", ".join(folder.name for folder in named)
        raise VersionError(
            f"{wish} fits {len(named)} versions of profile {profile!r}: {names}",
            hint="give as much of the name as only one of them has",
        )
    return next(iter(exact or named), None)


def _begins(name: str, wish: str) -> bool:
    """Tell whether a name, such as 0.2.0-a3dad7cf50af, begins so, or its digest does."""
    digest = name.rpartition("-")[2]
    return name.startswith(wish) or (len(wish) >= LEAST_DIGEST and digest.startswith(wish))


def of_another(wish: str, profile: str, owners: Sequence[str]) -> VersionError:
    """Return the error for a version that other profiles have; it names the option for each."""
    options = ", ".join(f"-p {name}" for name in owners)
    return VersionError(
        f"{wish} is no version of profile {profile!r}",
        hint=f"another profile has it: give {options}",
    )


def _none(wish: str, profile: str, dist: Path) -> VersionError:
    """Return the error for a wish that names no version of the profile."""
    named, colon, version = wish.rpartition(":")
    if colon and (dist.parent / named).is_dir():
        return VersionError(
            f"{wish} is no version of profile {profile!r}",
            hint=f"only `versus` takes this form; here give -p {named} {version}",
        )
    if "/" in wish and not Path(wish).exists():
        return VersionError(
            f"there is no file or folder {wish}",
            hint=f"`.venv/bin/pipeline list -p {profile}` shows the versions",
        )
    owners = lines_with(dist.parent, lambda line: has(published(line), wish))
    if owners:
        return of_another(wish, profile, owners)
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


def has(versions: Iterable[Version | Path], wish: str) -> bool:
    """Tell whether ``wish`` names one of these, or several."""
    return any(_begins(one.name, wish) for one in versions)


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


def require_undamaged(version: Version) -> None:
    """Raise ArtifactError if a file of a published version is not as its manifest lists it."""
    damage = version.damage() if version.is_published else ""
    if damage:
        raise ArtifactError(f"{version.name} is damaged: {damage}", hint=how_to_mend(version))


def how_to_mend(version: Version) -> str:
    """Return what gives a damaged version its files back."""
    line, at = line_of_version(version), version.commit
    checkout = f"git checkout {at} && " if at else ""
    of = "" if at else ", of its sources"
    return (
        f"the same build makes it whole: `{checkout}{_command_of(version)}`{of}; so does "
        "`.venv/bin/pipeline bundle import FILE` of its bundle; "
        f"`.venv/bin/pipeline list -p {line}` shows other versions"
    )


def line_of_version(version: Version) -> str:
    """Return the line of a version as its manifest has it, also of a copy; else its folder's."""
    with suppress(ArtifactError):
        if profile := version.manifest.get("profile"):
            return line_of(str(profile), version.variant)
    return version.folder.parent.name


def _command_of(version: Version) -> str:
    """Return the command of its build: as its report has it, or the plainest one of its line."""
    with suppress(OSError, ValueError, LookupError, TypeError):
        report = read_json(version.folder / "report.json")
        if command := report["source"]["command"]:
            return str(command)
    return f"./bootstrap build --profile {asked_for(line_of_version(version))}"


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


def nothing_published(profile: str, dists: Path) -> VersionError:
    """Return the error for a profile of which nothing is published; it names those that have."""
    return VersionError(
        f"nothing is published for profile {profile!r}",
        hint=f"`.venv/bin/pipeline build --profile {asked_for(profile)}`{_others(dists)}",
    )


def _others(dists: Path) -> str:
    """Say which option chooses another profile, where another one is published."""
    names = lines_with(dists, lambda line: (line / CURRENT).exists())
    options = ", ".join(f"-p {name}" for name in names)
    return f"; or name a profile that is published: {options}" if names else ""


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
