"""Which build of the library the samples are of: found by its build-id, never by its path."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

from pipeline.core.errors import ArtifactError, DataError
from pipeline.core.paths import Tree
from pipeline.fleet.samples import perf_says
from pipeline.release.published import published
from pipeline.toolchain.elf import read_build_id

# The stages that end with a library for publication, and the files they keep of it.
FINISHED = ("bolt", "samples", "finish")
STRIPPED, UNSTRIPPED = "libhakmem.so", "unstripped.so"
# What BOLT leaves in a library so that samples of it find their place in what BOLT was given.
TRANSLATION = ".note.bolt_bat"


@dataclass(frozen=True)
class Sampled:
    """The library that was sampled. ``unstripped`` is None where no build has kept it."""

    build_id: str
    library: Path
    unstripped: Path | None


def sampled_build(perf: Path, data: Path, library: Path) -> str:
    """Return the build-id that perf has noted of ``library``; DataError where it has none."""
    rows = (line.split(None, 1) for line in perf_says(perf, data, "buildid-list").splitlines())
    found = next((row[0] for row in rows if len(row) == 2 and row[1] == str(library)), "")
    if not found:
        raise DataError(
            f"{data} does not say which build of {library.name} was sampled",
            hint="sample without perf's option --no-buildid, as `.venv/bin/pipeline sample` does",
        )
    return found


def find_sampled(tree: Tree, profile: str, build_id: str) -> Sampled:
    """Return the build of ``profile`` with this build-id; DataError if this tree has none."""
    folder = tree.artifacts(profile)
    for stage in FINISHED:
        for unstripped in sorted(folder.glob(f"{stage}/*/{UNSTRIPPED}")):
            if _is_build(unstripped, build_id):
                return Sampled(build_id, unstripped.with_name(STRIPPED), unstripped)
    for version in published(tree.dist(profile)):
        for library in (version.library, *version.beside()):
            if _is_build(library, build_id):
                return Sampled(build_id, library, None)
    raise DataError(
        f"the library that was sampled (build-id {build_id}) is no build of {profile} in this tree",
        hint=f"sample a program that runs with dist/{profile}/current/lib/libhakmem.so, or import "
        "the samples in the tree that built the library",
    )


def given_to_bolt(sampled: Sampled) -> str | None:
    """Return the build-id of what BOLT made the library of; its own where BOLT did not make it.

    BOLT changes the last bit. None for a library of BOLT that has no table for translation.
    """
    if sampled.unstripped is None:
        return None
    with sampled.unstripped.open("rb") as stream:
        elf = ELFFile(stream)
        translated = elf.get_section_by_name(TRANSLATION) is not None
        moved = elf.get_section_by_name(".bolt.org.text") is not None
    if translated:
        return f"{int(sampled.build_id, 16) ^ 1:0{len(sampled.build_id)}x}"
    return None if moved else sampled.build_id


def _is_build(library: Path, build_id: str) -> bool:
    try:
        return read_build_id(library) == build_id
    except ArtifactError:
        return False
