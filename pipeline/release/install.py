"""Installing a published version below a prefix, and taking it away again.

Each file is written beside its place and renamed into it, the library last: a program that starts
meanwhile finds the old one or the new one, never half of it. ``share/hakmem/installed.json`` says
what was installed, ``share/hakmem-VARIANT/`` of what is not production. Only files that it lists,
and that are as they were, are replaced or removed. It also says what is about to be put there,
before that begins: so the next command goes on where one was killed. The debug file of the version
before stays, until the next installation or removal: programs that run keep the old library.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.core.digest import digest_bytes, digest_file
from pipeline.core.errors import ArtifactError, UsageError, VersionError
from pipeline.core.files import replace_text, replacing
from pipeline.core.nested import read_json
from pipeline.core.variant import LIBRARY_NAMES, PRODUCTION, share_folder
from pipeline.release.marks import Marks
from pipeline.release.version import MANIFEST, Version

RECORD = "installed.json"
# What a version's folder has and a prefix gets; the rest are records of the build. The header is
# production's, as all are alike.
FOLDERS = {PRODUCTION: ("lib", "include")}
BESIDE = ("lib",)


class Installed(BaseModel):
    """installed.json. ``files`` maps names below the prefix to digests of what was put there.

    ``coming`` has the same for an installation that did not end: some of it is there. ``before``
    has the debug files of the version before.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: int = 1
    version: str
    prefix: str
    files: dict[str, str]
    coming: dict[str, str] = {}
    before: dict[str, str] = {}

    @property
    def names(self) -> list[str]:
        """All files that an installation may have put there."""
        return list(self.files | self.coming | self.before)

    def has_put(self, name: str, digest: str) -> bool:
        """Tell whether an installation has put these bytes there."""
        return digest in (self.files.get(name), self.coming.get(name), self.before.get(name))

    def stays(self, version: str) -> dict[str, str]:
        """Return the debug files that stay when a version is installed next."""
        if self.version == version and not self.coming:
            return self.before
        return {name: digest for name, digest in self.files.items() if _is_debug_file(name)}


@dataclass(frozen=True)
class Place:
    """Where files go: ``prefix`` as programs will see it, below ``destdir`` for packagers.

    Each variant has a record of its own, so they are installed and removed apart.
    """

    prefix: Path
    destdir: Path | None = None
    variant: str = PRODUCTION

    @property
    def root(self) -> Path:
        """The folder that is really written to."""
        if self.destdir is None:
            return self.prefix
        return self.destdir / self.prefix.relative_to(self.prefix.anchor)

    @property
    def share(self) -> str:
        """The folder below the prefix with what is known of what is installed."""
        return share_folder(self.variant)

    @property
    def record(self) -> str:
        """The file below the prefix that says what was installed."""
        return f"{self.share}/{RECORD}"

    def installed(self) -> Installed | None:
        """Return the record of what is installed, or None; ArtifactError if it is damaged."""
        path = self.root / self.record
        if not path.is_file():
            return None
        try:
            return Installed.model_validate_json(path.read_text(encoding="utf-8"))
        except (ValidationError, ValueError) as error:
            raise ArtifactError(
                f"{path} is damaged", hint="remove it, and install again with --force"
            ) from error

    def replaced_by(self, version: Version, marks: Marks) -> str:
        """Return what is installed here already and what is known of it; "" for nothing."""
        record = self.installed()
        if record is None:
            return ""
        if record.coming:
            return f"{record.version} was being installed there, and that did not end"
        if record.version == version.name:
            return f"{record.version} is installed there already"
        since = marks.by_version().get(record.version, "")
        since = f"; it is {since}" if since else ""
        before, now = _created(self.root / self.share / MANIFEST), version.created
        if not before or not now:
            return f"{record.version} is installed there, of unknown age{since}"
        age = "newer than" if before > now else "older than"
        return f"{record.version} is installed there, which is {age} {version.name}{since}"


@dataclass(frozen=True)
class Plan:
    """What an installation or its removal does: names below the prefix.

    ``there`` has been installed before with the very bytes and rights, and is left as it is.
    """

    place: Place
    write: dict[str, Path]
    remove: tuple[str, ...]
    keep: tuple[str, ...] = ()
    there: tuple[str, ...] = ()
    before: dict[str, str] = field(default_factory=dict)
    """Debug files of the version before, which stay, and their digests."""
    noted: bool = False
    """Whether the record says already what it would say in the end."""

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        return self.noted and not self.write and not self.remove

    @property
    def in_order(self) -> list[str]:
        """What is written, in the order in which that is done: the libraries last."""
        return sorted(self.write, key=_is_library)


def plan_install(version: Version, place: Place, *, force: bool) -> Plan:
    """Return what an installation would do; UsageError if it would overwrite files of others."""
    _check_prefix(place)
    assert place.variant == version.variant, "a record would say the wrong thing"
    files = dict(_files(version))
    old = place.installed()
    foreign = [
        name
        for name in files
        if _there(place.root / name) and not (old and _unchanged(place, name, old))
    ]
    if foreign and not force:
        raise UsageError(
            f"{place.root} has files that were not installed by this command, or were changed: "
            f"{', '.join(foreign)}",
            hint="take another --prefix, or overwrite them with --force",
        )
    stays = old.stays(version.name) if old else {}
    stays = {name: digest for name, digest in stays.items() if name not in files}
    gone = [
        name
        for name in (old.names if old else [])
        if name not in files and name not in stays and old and _unchanged(place, name, old)
    ]
    there = [name for name in files if _is_copy(files[name], place.root / name)]
    write = {name: path for name, path in files.items() if name not in there}
    said = (version.name, str(place.prefix))
    noted = old is not None and not old.coming and (old.version, old.prefix) == said
    return Plan(place, write, tuple(gone), there=tuple(there), before=stays, noted=noted)


def plan_removal(place: Place) -> Plan:
    """Return what a removal would do; VersionError if nothing is installed there."""
    _check_prefix(place)
    record = place.installed()
    if record is None:
        raise VersionError(
            f"nothing of hakmem is installed below {place.root} (no {place.record})",
            hint="name the --prefix (and --destdir) that it was installed with",
        )
    mine = [name for name in record.names if _unchanged(place, name, record)]
    changed = [name for name in record.names if name not in mine and _there(place.root / name)]
    return Plan(place, {}, (*mine, place.record), tuple(changed))


def carry_out(
    plan: Plan, version: Version | None, tell: Callable[[str], object] = lambda _: None
) -> None:
    """Do what a plan says; ``version`` is what gets installed, None for a removal.

    ``tell`` hears of each step once it is done.
    """
    root = plan.place.root
    if version is not None:
        coming = {name: _digest(path) for name, path in plan.write.items()}
        coming |= {name: _digest(root / name) for name in plan.there}
        old = plan.place.installed()
        before = plan.before | (old.before if old else {})
        _note(plan.place, version, old.files if old else {}, coming=coming, before=before)
    for name in plan.in_order:
        _put(plan.write[name], root / name)
        tell(f"install {root / name}")
    for name in plan.remove:
        (root / name).unlink(missing_ok=True)
        tell(f"remove {root / name}")
        _drop_empty_folders((root / name).parent, root)
    if version is not None:
        _note(plan.place, version, coming, before=plan.before)


def _note(
    place: Place,
    version: Version,
    files: Mapping[str, str],
    *,
    coming: Mapping[str, str] | None = None,
    before: Mapping[str, str],
) -> None:
    record = Installed(
        version=version.name,
        prefix=str(place.prefix),
        files=dict(files),
        coming=dict(coming or {}),
        before=dict(before),
    )
    empty = {name for name in ("coming", "before") if not getattr(record, name)}
    text = json.dumps(record.model_dump(exclude=empty), indent=1, sort_keys=True)
    replace_text(place.root / place.record, f"{text}\n")


def _is_debug_file(name: str) -> bool:
    return ".build-id" in Path(name).parts


def _is_library(name: str) -> bool:
    return Path(name).name in LIBRARY_NAMES


def _created(manifest: Path) -> str:
    """Return when an installed version was published, or "" where nothing tells."""
    try:
        return str(read_json(manifest)["created"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _files(version: Version) -> Iterator[tuple[str, Path]]:
    for folder in FOLDERS.get(version.variant, BESIDE):
        for path in sorted((version.folder / folder).rglob("*")):
            if path.is_symlink() or path.is_file():
                yield str(path.relative_to(version.folder)), path
    yield f"{share_folder(version.variant)}/{MANIFEST}", version.folder / MANIFEST


def _check_prefix(place: Place) -> None:
    for name, path in (("--prefix", place.prefix), ("--destdir", place.destdir)):
        if path is not None and not path.is_absolute():
            raise UsageError(f"{name} {path} is not an absolute path", hint=f"{name} /opt/hakmem")


def _put(source: Path, target: Path) -> None:
    """Copy a file or a link under another name, force it to disk, and rename it."""
    with replacing(target) as fresh:
        if source.is_symlink():
            fresh.symlink_to(source.readlink())
        else:
            shutil.copyfile(source, fresh)
            fresh.chmod(_mode(source))


def _mode(source: Path) -> int:
    return 0o755 if _is_library(source.name) else 0o644


def _is_copy(source: Path, target: Path) -> bool:
    """Tell whether a file is already what copying would make of it."""
    if not _there(target) or target.is_dir() or source.is_symlink() != target.is_symlink():
        return False
    rights = target.is_symlink() or target.stat().st_mode & 0o777 == _mode(source)
    return rights and _digest(source) == _digest(target)


def _digest(path: Path) -> str:
    """Return the digest of a file's bytes, or of where a link points to."""
    return digest_bytes(os.fsencode(path.readlink())) if path.is_symlink() else digest_file(path)


def _there(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _unchanged(place: Place, name: str, record: Installed) -> bool:
    path = place.root / name
    return path.resolve().is_relative_to(place.root.resolve()) and (
        _there(path) and not path.is_dir() and record.has_put(name, _digest(path))
    )


def _drop_empty_folders(folder: Path, root: Path) -> None:
    """Remove folders that are empty now, up to the prefix."""
    while folder != root and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
