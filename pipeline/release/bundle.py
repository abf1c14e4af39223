"""Bundles: all that a version was compiled by, in one file, so that it can be compiled again.

A bundle is a .tar.gz with bundle.json, the version's manifest and verdict, and its profile/ folder.
Equal versions give equal bytes: names are sorted, and times and owners are left out. Whoever reads
one trusts nothing in it: only plain files with the names that bundle.json lists, of the sizes and
digests it states, come out of it.
"""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import zlib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.core.digest import digest_bytes
from pipeline.core.errors import ArtifactError, DataError, UsageError
from pipeline.core.variant import PRODUCTION
from pipeline.release.contents import (
    CONTEXT_PROFDATA,
    FACTORS,
    FDATA,
    GEOMETRY,
    LISTS,
    archive_place,
)
from pipeline.release.version import MANIFEST, PROFILE, Version
from pipeline.toolchain.find import LLVM_PARTS
from pipeline.toolchain.profdata import PROFDATA

BUNDLE, VERDICT = "bundle.json", "verdict.json"
# A real bundle has some hundred KiB. Beyond this many bytes, unpacked, somebody means ill.
LARGEST = 64 << 20
# And so much for the headers of all files in it.
HEADERS = 1 << 20
MOST_FILES = HEADERS // tarfile.BLOCKSIZE
# The stages whose flags decide the bytes of each step's library.
_STAGES = {
    "tune": ("geometry", "finish"),
    "sections": ("sections", "finish"),
    "pgo": ("pgo-only", "finish"),
    "lto": ("pgo", "finish"),
    "context": ("context", "finish"),
    "bolt": ("pgo", "bolt"),
    "samples": ("pgo", "samples"),
}
# These steps have edge counts.
_LAID_OUT = ("bolt", "samples")
_NAME = re.compile(r"(bundle|manifest|verdict)\.json|profile/[A-Za-z0-9_][A-Za-z0-9_.-]*")
# Also what tarfile raises at numbers that are none, or lead before the file; and at a long row of
# headers that each announce another one.
_READ_ERRORS = (tarfile.TarError, OSError, EOFError, zlib.error, ValueError, RecursionError)


class Bundle(BaseModel):
    """bundle.json: what the library was compiled from, and what came of it. Digests are SHA-256.

    ``step`` is the step of the build that was chosen. ``tools`` are those that decide the bytes of
    the library, with the versions they report.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = 1
    profile: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    version: str
    variant: str = Field(PRODUCTION, pattern="^(production|hardened)$")
    quick: bool
    allow_neutral: bool
    allow_regression: tuple[str, ...] = ()
    step: Literal["tune", "sections", "pgo", "lto", "context", "bolt", "samples"]
    sources: str
    flags: dict[str, tuple[str, ...]]
    tools: dict[str, str]
    library: str
    archive: str
    files: dict[str, str]


def pack(version: Version) -> bytes:
    """Return the bundle of a published version; ArtifactError if it lacks something."""
    contents = {MANIFEST: version.folder / MANIFEST, VERDICT: version.folder / VERDICT}
    contents |= {f"{PROFILE}/{path.name}": path for path in version.profile.glob("*")}
    toml = f"{version.manifest.get('profile')}.toml"
    edges = (FDATA,) if version.manifest.get("step") in _LAID_OUT else ()
    cut = (GEOMETRY,) if version.manifest.get("geometry") else ()
    needed = {f"{PROFILE}/{name}" for name in (PROFDATA, *edges, *cut, FACTORS, toml, *LISTS)}
    missing = sorted(needed - contents.keys())
    if missing:
        raise ArtifactError(
            f"{version.name} was published without {', '.join(missing)}",
            hint="build again: versions carry their profile now",
        )
    files = {name: path.read_bytes() for name, path in contents.items()}
    described = describe(version, {name: digest_bytes(data) for name, data in files.items()})
    text = described.model_dump_json(indent=1) + "\n"
    return _compress({BUNDLE: text.encode(), **files})


def require_replaceable(target: Path) -> None:
    """Raise UsageError if something stands at ``target`` that is no bundle; an empty file may."""
    is_empty = target.is_file() and not target.stat().st_size
    if target.exists() and not is_empty and not _is_bundle(target):
        raise UsageError(
            f"{target} is there already, and is no bundle: it stays as it is",
            hint="give another name with --output, or remove it first",
        )


def _is_bundle(file: Path) -> bool:
    try:
        return file.is_file() and BUNDLE in _read(file)
    except DataError:
        return False


def describe(version: Version, files: dict[str, str]) -> Bundle:
    """Return bundle.json for a version; ``files`` are the digests of what goes with it."""
    manifest = version.manifest
    try:
        stages, tools, step = manifest["stages"], manifest["tools"], manifest["step"]
        return Bundle(
            profile=manifest["profile"],
            version=version.name,
            variant=version.variant,
            quick=manifest["quick"],
            allow_neutral=manifest["verdict"]["allow_neutral"],
            allow_regression=tuple(manifest["verdict"].get("allow_regression", ())),
            step=step,
            sources=stages["static"]["inputs"]["sources"],
            flags={
                name: tuple(stage["inputs"]["flags"])
                for name, stage in stages.items()
                if name in ("static", *_stages(step, files))
            },
            tools={name: tools[name] for name in LLVM_PARTS},
            library=manifest["files"][version.place],
            archive=manifest["files"][archive_place(version.variant)],
            files=files,
        )
    except (KeyError, TypeError, ValidationError) as error:
        raise ArtifactError(
            f"the manifest of {version.name} does not say how it was made: {error}",
            hint="build again: versions say all of it now",
        ) from error


def _stages(step: str, files: dict[str, str]) -> tuple[str, ...]:
    """Return the stages of a step. BOLT's library follows on the second training, if there is one.

    A full build has made the one without it as well, which a rebuild does not need.
    """
    twice = step in _LAID_OUT and f"{PROFILE}/{CONTEXT_PROFDATA}" in files
    return ("context", step) if twice else _STAGES[step]


def unpack(file: Path, folder: Path) -> Bundle:
    """Check a bundle and write its files below ``folder``; DataError if anything is amiss."""
    files = _read(file)
    if BUNDLE not in files:
        raise DataError(
            f"{file} is not a bundle: it has no {BUNDLE}",
            hint="`.venv/bin/pipeline bundle export` makes one",
        )
    try:
        bundle = Bundle.model_validate_json(files.pop(BUNDLE))
    except ValidationError as error:
        raise DataError(
            f"{file}: {BUNDLE} is not valid: {error.errors()[0]['msg']}",
            hint="get it again from where it was exported",
        ) from error
    for name in sorted(bundle.files.keys() | files.keys()):
        if name not in files or digest_bytes(files[name]) != bundle.files.get(name):
            raise DataError(
                f"{file}: {name} is damaged, missing, or not listed in {BUNDLE}",
                hint="get it again from where it was exported",
            )
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return bundle


def _compress(files: dict[str, bytes]) -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)  # mode 0644, no time, no owner
            entry.size = len(files[name])
            tar.addfile(entry, io.BytesIO(files[name]))
    return gzip.compress(plain.getvalue(), mtime=0)


def _decompress(file: Path) -> bytes:
    """Return the archive; DataError beyond LARGEST, before tarfile reads any header of it.

    A header may say of itself that it has any length (pax, long names), and is read as a whole.
    """
    with gzip.open(file) as stream:
        plain = stream.read(LARGEST + HEADERS + 1)
    if len(plain) > LARGEST + HEADERS:
        raise DataError(
            f"{file} is larger than any bundle", hint="get it again from where it was exported"
        )
    return plain


def _read(file: Path) -> dict[str, bytes]:
    """Return the files in a bundle by name, and nothing that a bundle has no use for."""
    files: dict[str, bytes] = {}
    size = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(_decompress(file)), mode="r:") as tar:
            for entry in tar:
                size += entry.size
                if not _is_plain(entry) or not _NAME.fullmatch(entry.name) or entry.name in files:
                    raise DataError(
                        f"{file}: {entry.name!r} has no place in a bundle",
                        hint="do not use it, unless you know who made it",
                    )
                if size > LARGEST or len(files) == MOST_FILES:
                    raise DataError(
                        f"{file}: with {entry.name} it is larger than any bundle",
                        hint="get it again from where it was exported",
                    )
                content = tar.extractfile(entry)
                files[entry.name] = content.read() if content else b""
    except _READ_ERRORS as error:
        raise DataError(
            f"{file} cannot be read as a bundle (.tar.gz): {error}",
            hint="get it again from where it was exported",
        ) from error
    return files


def _is_plain(entry: tarfile.TarInfo) -> bool:
    """Return whether it is a file of a possible size; one with holes would be longer than it is."""
    return (
        entry.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and not entry.sparse and entry.size >= 0
    )
