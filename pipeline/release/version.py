"""A published version: its folder, its manifest, and whether its files are as they were."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline.core.digest import digest_file
from pipeline.core.errors import ArtifactError
from pipeline.core.nested import read_json
from pipeline.core.variant import PRODUCTION, VARIANTS, shared_name

CURRENT, MANIFEST, SUMS = "current", "manifest.json", "SHA256SUMS"
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
        """Return whether it is the folder of a published version, and not of a judged build."""
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
        """Return whether it is published, and each file has the bytes it was published with."""
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
