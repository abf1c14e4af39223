"""What of a build is published, as files; and what it is made from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.digest import digest_file, digest_value
from pipeline.core.processor import ANY
from pipeline.geometry.tables import default_geometry
from pipeline.geometry.write import write_toml
from pipeline.release.contents import CONTEXT_PROFDATA, FDATA, GEOMETRY, LISTS, Product
from pipeline.stages.build.finish import debug_name
from pipeline.stages.build.workloads import in_any_mode
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.publish.release import Beside, Release
from pipeline.toolchain.profdata import PROFDATA

if TYPE_CHECKING:
    from pipeline.geometry.model import Geometry

STAGE = "publish"
# Stages whose keys are decided by people, not by what a training happened to count.
FROM_PEOPLE = ("baseline", "geometry", "instrument", "train")


def inputs_of(shop: Workshop, geometry: Geometry | None, kept: Path | None = None) -> str:
    """Return the digest of what a build is made from, before any training: people's part of it.

    Two trainings of the same sources give other bytes; by this they are known as the same, also
    where one of them is a quick one.
    ``kept`` is where a rebuild from a bundle has its lists. The training must be done.
    """
    parts = {
        artifact.receipt.stage: in_any_mode(artifact.receipt.parts)
        for artifact in shop.store.used
        if artifact.receipt.stage in FROM_PEOPLE
    }
    files = _lists(shop, kept) | _geometry_file(shop, geometry, kept)
    written = {name: digest_file(files[name]) for name in files}
    return digest_value({"stages": parts, "files": written})


def product(shop: Workshop, release: Release) -> Product:
    """Return all files that a build publishes, from where they are."""
    profile_file = (release.inputs or shop.tree.profiles) / f"{shop.profile.name}.toml"
    return Product(
        library=release.candidate.library.path,
        debug=release.candidate.library.artifact.path(debug_name(shop)),
        archive=release.archive.path,
        variant=shop.options.variant,
        beside={one.kind: _files_of(shop, one) for one in release.beside},
        records={one.kind: one.records for one in release.beside},
        profile={
            PROFDATA: release.profile.path,
            **_further_profiles(release),
            profile_file.name: profile_file,
            **_geometry_file(shop, release.geometry, release.inputs),
            **_lists(shop, release.inputs),
        },
    )


def _files_of(shop: Workshop, beside: Beside) -> tuple[Path, Path]:
    library = beside.library
    return library.path, library.artifact.path(debug_name(shop))


def _lists(shop: Workshop, kept: Path | None) -> dict[str, Path]:
    folder = kept or shop.tree.layout(shop.profile.layout.name)
    return {name: folder / name for name in LISTS}


def _geometry_file(shop: Workshop, geometry: Geometry | None, kept: Path | None) -> dict[str, Path]:
    """Return the file that the library is cut by; of two that add up, one with both's values."""
    if geometry is None:
        return {}
    if kept:
        return {GEOMETRY: kept / GEOMETRY}
    if geometry.processor == ANY:
        return {GEOMETRY: shop.tree.geometry(shop.profile.name)}
    joined = shop.log(STAGE, "geometry").with_name(GEOMETRY)
    write_toml(geometry, default_geometry(shop.tree), joined)
    return {GEOMETRY: joined}


def _further_profiles(release: Release) -> dict[str, Path]:
    """Return the profiles that only some steps of the chain use."""
    candidate, found = release.candidate, {}
    if candidate.profile is not None and candidate.profile.digest != release.profile.digest:
        found[CONTEXT_PROFDATA] = candidate.profile.path
    if candidate.edges is not None:
        found[FDATA] = candidate.edges.path
    return found
