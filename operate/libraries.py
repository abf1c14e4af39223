"""Finds the published library that a program shall use: in a tree, or below a prefix.

TREE/dist/PROFILE/current/lib/libhakmem.so         with manifest.json beside lib/
PREFIX/lib/libhakmem.so                            with PREFIX/share/hakmem/manifest.json
PREFIX/lib/TRIPLET/libhakmem.so                    the same, as Debian packages have it
.../lib/CPU/libhakmem.so                           for one kind of processor

A hardened library is dist/PROFILE+hardened/current/lib/libhakmem-hardened.so, and below a prefix
lib/libhakmem-hardened.so with share/hakmem-hardened/manifest.json.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from operate import unfound
from operate.unfound import DEFAULT_PROFILE, MANIFEST
from pipeline.core.errors import UsageError, VersionError
from pipeline.core.home import is_tree
from pipeline.core.nested import read_json
from pipeline.core.processor import nearest
from pipeline.core.variant import PRODUCTION, VARIANTS, share_folder, shared_name

PREFIXES = ("/usr/local", "/usr", "/opt/hakmem")
_FOLDERS = ("lib", "lib/*-linux-gnu", "lib/*-linux-musl", "lib64")


@dataclass(frozen=True)
class Library:
    """A library and what its manifest says; without one, nothing is known of it."""

    path: Path
    manifest: dict[str, Any] = field(default_factory=dict, repr=False)
    cpu: str = "any"

    @property
    def profile(self) -> str:
        """The profile it was compiled for."""
        return str(self.manifest.get("profile", ""))

    @property
    def version(self) -> str:
        """The name of its version."""
        return str(self.manifest.get("version", ""))

    @property
    def level(self) -> str:
        """The level of instructions that it was compiled for, such as x86-64-v3; "" if unknown."""
        return str(self._processor.get("march") or "")

    @property
    def built_for(self) -> str:
        """The kind of processor whose geometry it has; "any" for none, or where nobody knows."""
        return str(self._processor.get("cut_for") or self.cpu)

    @property
    def _processor(self) -> dict[str, Any]:
        entry = self.manifest
        if self.cpu != "any":
            entry = (self.manifest.get("beside") or {}).get(self.cpu) or {}
        return entry.get("processor") or {}

    def general_digests(self) -> list[str]:
        """Return the digests of what its version has for all processors."""
        files = self.manifest.get("files") or {}
        return [digest for name, digest in files.items() if PurePath(name).parent.name == "lib"]

    def damage(self) -> str | None:
        """Return a sentence if its file has not the bytes that it was published with."""
        digests = (self.manifest.get("files") or {}).values()
        if not digests or hashlib.sha256(self.path.read_bytes()).hexdigest() in digests:
            return None
        return (
            f"version {self.version} is damaged: {self.path} has not the bytes that it was "
            "published with; build or install it again, or take another version"
        )

    def beside(self) -> list[str]:
        """Return the kinds of processors that have a library of their own beside this one."""
        return sorted(file.parent.name for file in self.path.parent.glob(f"*/{self.path.name}"))

    def for_cpu(self, kind: str) -> Library:
        """Return the library for one kind of processor."""
        return Library(self.path.parent / kind / self.path.name, self.manifest, kind)


def find(
    profile: str | None,
    cpu: str | None,
    this_cpu: str,
    roots: Sequence[Path],
    variant: str = PRODUCTION,
) -> Library:
    """Return the library of a variant for a profile and a kind of processor.

    ``cpu`` is what was asked for: a kind, "any", or None for what fits ``this_cpu`` best.
    """
    found = [*published(roots, variant)]
    fitting = [one for one in found if profile in (None, one.profile)]
    fitting.sort(key=lambda one: profile is None and one.profile != DEFAULT_PROFILE)
    if not fitting or (profile is None and fitting[0].profile != DEFAULT_PROFILE):
        others = sorted({one.profile for one in found})
        why = unfound.why(profile, roots, variant, others)
        if why or not fitting:
            raise why or unfound.nothing(profile, roots, variant, others)
    return choose(fitting[0], cpu, this_cpu)


def choose(library: Library, cpu: str | None, this_cpu: str) -> Library:
    """Return the one of the libraries that lie side by side which fits the wish."""
    kinds = library.beside()
    if cpu is None:
        return next((library.for_cpu(k) for k in nearest(this_cpu) if k in kinds), library)
    if cpu == "any":
        return library
    if cpu not in kinds:
        there, profile = ", ".join(["any", *kinds]), library.profile or DEFAULT_PROFILE
        raise VersionError(
            f"{library.path.parent} has no library for {cpu}; it has: {there}",
            hint=f"`.venv/bin/pipeline build --profile {profile} --cpu all` makes one for this "
            "machine's kind",
        )
    return library.for_cpu(cpu)


def named(path: Path) -> Library:
    """Return the library of a file that somebody names, with its manifest where there is one."""
    if not path.is_file():
        raise UsageError(
            f"there is no file {path}", hint="name a library by --library, or leave that out"
        )
    path = path.absolute()
    return next((one for one in around(path) if one.path.samefile(path)), Library(path))


def around(path: Path) -> Iterator[Library]:
    """Yield what is published in the version or prefix that a library lies in."""
    for folder in [*path.resolve().parents][:4]:
        for variant in VARIANTS:
            for manifest in (folder / MANIFEST, folder / share_folder(variant) / MANIFEST):
                for general in _libraries(folder, manifest, variant):
                    yield general
                    yield from (general.for_cpu(kind) for kind in general.beside())


def manifest_of(file: Path) -> Library | None:
    """Return the published library of the same bytes that lies in the same version or prefix."""
    try:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        found = [one for one in around(file) if one.path.samefile(file)]
    except OSError:
        return None
    return next(
        (one for one in found if digest in (one.manifest.get("files") or {}).values()), None
    )


def by_digest(path: Path, digest: str) -> Library | None:
    """Return what a library was that lay at ``path`` and is replaced: whose manifest has its bytes.

    The manifests are those around its place, and of all versions in the usual trees.
    """
    for one in (*around(path), *_all_versions(usual_roots())):
        for name, found in (one.manifest.get("files") or {}).items():
            if found == digest:
                kind = PurePath(name).parent.name
                return Library(path, one.manifest, "any" if kind == "lib" else kind)
    return None


def _all_versions(roots: Sequence[Path]) -> Iterator[Library]:
    for folder in (one for root in roots for one in sorted(root.glob("dist/*/*"))):
        for variant in VARIANTS:
            yield from _libraries(folder, folder / MANIFEST, variant)


def published(roots: Sequence[Path], variant: str) -> Iterator[Library]:
    """Yield the libraries of trees and prefixes that are of a variant, in the order of ``roots``.

    They are told by their names: no library of another variant has the same.
    """
    for root in roots:
        for folder in sorted(root.glob("dist/*/current")):
            yield from _libraries(folder, folder / MANIFEST, variant)
        yield from _libraries(root, root / share_folder(variant) / MANIFEST, variant)


def usual_roots() -> list[Path]:
    """Return where libraries are looked for: the tree of this command, that around, prefixes."""
    own = Path(__file__).resolve().parents[1]
    here = [one for one in (Path.cwd(), *Path.cwd().parents) if is_tree(one) and _trusted(one)]
    prefixes = [sys.prefix, *PREFIXES]
    if own.name == "hakmem" and own.parent.name == "lib":  # as packages have it
        prefixes.insert(0, str(own.parents[1]))
    return [own, *here, *map(Path, dict.fromkeys(prefixes))]


def _trusted(tree: Path) -> bool:
    """Return whether a tree is ours or root's: that of a stranger could hold any library."""
    return tree.stat().st_uid in (0, os.geteuid())


def _libraries(root: Path, manifest: Path, variant: str) -> Iterator[Library]:
    try:
        said = read_json(manifest)
    except (OSError, ValueError):
        return
    for pattern in _FOLDERS if isinstance(said, dict) else ():
        for folder in sorted(root.glob(pattern)):
            if (folder / shared_name(variant)).is_file():
                yield Library((folder / shared_name(variant)).absolute(), said)
