"""Checking a published version, or a library file alone, against what it must be."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

from elftools.elf.elffile import ELFFile

from pipeline.core.errors import ArtifactError, PipelineError
from pipeline.core.paths import Tree
from pipeline.release.contents import HEADER, archive_place
from pipeline.release.elf_rules import Check, check_elf, family_names, header_names
from pipeline.release.version import MANIFEST, SUMS, Version
from pipeline.toolchain.elf_file import UNREADABLE
from pipeline.toolchain.text_map import find_debug_file, read_text_map

NEWEST_MANIFEST = 2
DIGESTS = f"files have the digests of {SUMS}"
"""The rule that a damaged version breaks."""
_AR_MAGIC = b"!<arch>\n"


def check_library_file(tree: Tree, library: Path, header: Path | None = None) -> list[Check]:
    """Return the checks of a library; ``header`` is its own hakmem.h, else that of the tree."""
    allocator = tree.root / "allocator"
    own = header_names(header or allocator / "include" / "hakmem.h")
    return check_elf(library, family_names(allocator / "front" / "family.def") | own)


def check_version(tree: Tree, version: Version) -> list[Check]:
    """Return the checks of a version's folder: its records, its files, its library."""
    return [
        *_checksums(version),
        *_manifest(version),
        *_archive(version.folder / archive_place(version.variant)),
        *_debug(version.library),
        *_library(tree, version, version.library),
        *(check for path in version.beside() for check in _beside(tree, version, path)),
    ]


def require_good(tree: Tree, version: Version) -> None:
    """Raise ArtifactError with the first check that fails."""
    for check in check_version(tree, version):
        if not check.holds:
            raise ArtifactError(
                f"{version.folder} is not fit to be used: {check.rule}: {check.found or 'no'}",
                hint="`current` is as it was; this is a fault of the stage that made the file",
            )


def _checksums(version: Version) -> Iterator[Check]:
    damage, unlisted = version.damage(), version.unlisted_files()
    yield Check(DIGESTS, not damage, damage)
    yield Check("no file is there that is not listed", not unlisted, ", ".join(unlisted))


def _manifest(version: Version) -> Iterator[Check]:
    rule = f"{MANIFEST} belongs to this version"
    try:
        manifest = version.manifest
    except PipelineError as error:
        yield Check(rule, False, error.message)
        return
    schema = manifest.get("schema_version")
    known = isinstance(schema, int) and 1 <= schema <= NEWEST_MANIFEST
    yield Check("the manifest's schema is known", known, f"schema {schema}")
    name = str(manifest.get("version"))
    yield Check(rule, name == version.name, f"it speaks of {name}")
    if made_for := manifest.get("made_for"):
        name = str(made_for.get("architecture"))
        yield Check("it says that nobody judged it", not manifest.get("verdict"), f"for {name}")
        return
    verdict = manifest.get("verdict") or {}
    reason = str(verdict.get("reason", "no verdict")).splitlines()[0]
    yield Check("it was judged and let pass", bool(verdict), reason)


def _archive(archive: Path) -> Iterator[Check]:
    if archive.is_file():
        with archive.open("rb") as stream:
            yield Check("the static library is an archive", stream.read(8) == _AR_MAGIC)


def _debug(library: Path) -> Iterator[Check]:
    """Hold the debug file against the library as debuggers do: by build-id and by CRC."""
    rule = "the debug file belongs to the library"
    try:
        debug, wanted = find_debug_file(library), _debuglink_crc(library)
        functions = len(read_text_map(library).functions)
    except (PipelineError, *UNREADABLE) as error:
        yield Check(rule, False, getattr(error, "message", str(error)))
        return
    same = wanted is None or wanted == zlib.crc32(debug.read_bytes())
    text = f"{functions} functions" if same else f"{debug} has not the CRC of .gnu_debuglink"
    yield Check(rule, same, text)


def _debuglink_crc(library: Path) -> int | None:
    with library.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".gnu_debuglink")
        return None if section is None else int.from_bytes(section.data()[-4:], "little")


def _beside(tree: Tree, version: Version, library: Path) -> Iterator[Check]:
    """Return the checks of a library for one kind of processor; each rule names it."""
    for check in (*_debug(library), *_library(tree, version, library)):
        yield Check(f"{library.parent.name}: {check.rule}", check.holds, check.found)


def _library(tree: Tree, version: Version, library: Path) -> list[Check]:
    """Return the checks of a version's library, or why it cannot be read as one that fails."""
    header = version.folder / HEADER
    try:
        return check_library_file(tree, library, header if header.is_file() else None)
    except PipelineError as error:
        return [Check("the library can be read", False, error.message)]
