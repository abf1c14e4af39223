"""What is installed below a prefix, as ``share/hakmem/installed.json`` says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.core.errors import ArtifactError
from pipeline.core.nested import read_json
from pipeline.core.variant import PRODUCTION, share_folder
from pipeline.release.copying import digest_of, is_debug_file, is_there
from pipeline.release.marks import Marks
from pipeline.release.version import MANIFEST, Version

RECORD = "installed.json"


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
        """Return whether an installation has put these bytes there."""
        return digest in (self.files.get(name), self.coming.get(name), self.before.get(name))

    def stays(self, version: str) -> dict[str, str]:
        """Return the debug files that stay when a version is installed next."""
        if self.version == version and not self.coming:
            return self.before
        return {name: digest for name, digest in self.files.items() if is_debug_file(name)}


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


def _created(manifest: Path) -> str:
    """Return when an installed version was published, or "" where nothing tells."""
    try:
        return str(read_json(manifest)["created"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def unchanged(place: Place, name: str, record: Installed) -> bool:
    """Return whether a file below the prefix is as an installation has put it there."""
    path = place.root / name
    return path.resolve().is_relative_to(place.root.resolve()) and (
        is_there(path) and not path.is_dir() and record.has_put(name, digest_of(path))
    )
