"""What an installation or its removal will do, before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.core.errors import UsageError, VersionError
from pipeline.core.variant import PRODUCTION, share_folder
from pipeline.release.copying import is_copy, is_library, is_there
from pipeline.release.installed import Place, unchanged
from pipeline.release.version import MANIFEST, Version

# What a version's folder has and a prefix gets; the rest are records of the build. The header is
# production's, as all are alike.
FOLDERS = {PRODUCTION: ("lib", "include")}
BESIDE = ("lib",)


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
        return sorted(self.write, key=is_library)


def plan_install(version: Version, place: Place, *, force: bool) -> Plan:
    """Return what an installation would do; UsageError if it would overwrite files of others."""
    check_prefix(place)
    assert place.variant == version.variant, "a record would say the wrong thing"
    files = dict(_files(version))
    old = place.installed()
    foreign = [
        name
        for name in files
        if is_there(place.root / name) and not (old and unchanged(place, name, old))
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
        if name not in files and name not in stays and old and unchanged(place, name, old)
    ]
    there = [name for name in files if is_copy(files[name], place.root / name)]
    write = {name: path for name, path in files.items() if name not in there}
    said = (version.name, str(place.prefix))
    noted = old is not None and not old.coming and (old.version, old.prefix) == said
    return Plan(place, write, tuple(gone), there=tuple(there), before=stays, noted=noted)


def plan_removal(place: Place) -> Plan:
    """Return what a removal would do; VersionError if nothing is installed there."""
    check_prefix(place)
    record = place.installed()
    if record is None:
        raise VersionError(
            f"nothing of hakmem is installed below {place.root} (no {place.record})",
            hint="name the --prefix (and --destdir) that it was installed with",
        )
    mine = [name for name in record.names if unchanged(place, name, record)]
    changed = [name for name in record.names if name not in mine and is_there(place.root / name)]
    return Plan(place, {}, (*mine, place.record), tuple(changed))


def _files(version: Version) -> Iterator[tuple[str, Path]]:
    for folder in FOLDERS.get(version.variant, BESIDE):
        for path in sorted((version.folder / folder).rglob("*")):
            if path.is_symlink() or path.is_file():
                yield str(path.relative_to(version.folder)), path
    yield f"{share_folder(version.variant)}/{MANIFEST}", version.folder / MANIFEST


def check_prefix(place: Place) -> None:
    """Raise UsageError for a path that would depend on where somebody stands."""
    for name, path in (("--prefix", place.prefix), ("--destdir", place.destdir)):
        if path is not None and not path.is_absolute():
            raise UsageError(f"{name} {path} is not an absolute path", hint=f"{name} $PWD/{path}")
