"""publish, for another architecture: beside the versions of this machine, and never current.

dist/PROFILE/aarch64/VERSION/ has what a version has, but no verdict and no report. Nothing that
looks for versions of this machine looks there; whoever wants one names its folder.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.core.architecture import ALL, HERE, Architecture
from pipeline.core.digest import digest_value
from pipeline.core.lock import marks_lock
from pipeline.core.nested import read_json
from pipeline.core.processor import ANY, OTHER, machine
from pipeline.core.receipt import by_stage
from pipeline.release.contents import FDATA, Product, file_digests, write_contents, write_sums
from pipeline.release.version import MANIFEST, Version
from pipeline.stages.build.finish import debug_name
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.pgo.static import Archive
from pipeline.stages.proof.candidate import Candidate
from pipeline.stages.publish.folder import clean_room, complete
from pipeline.stages.publish.manifest import MANIFEST_VERSION, stage_record
from pipeline.stages.publish.sources import rebuilt_at
from pipeline.toolchain.target import PAGE_SIZES

if TYPE_CHECKING:
    from pipeline.geometry.model import Geometry
    from pipeline.rebuild.imported import Imported

STAGE = "publish"


@dataclass(frozen=True)
class Abroad:
    """A version for another architecture; ``fresh`` tells that it was not there before."""

    folder: Path
    step: str
    fresh: bool


def publish_abroad(
    shop: Workshop,
    imported: Imported,
    candidate: Candidate,
    archive: Archive,
    geometry: Geometry | None,
    differing: Mapping[str, str],
) -> Abroad:
    """Write the version, unless it is there and whole; ArtifactError if it is not as it must be."""
    from pipeline.release.check_version import require_good

    digests = [candidate.library.digest, archive.digest]
    name = f"{shop.tree.version}-{digest_value(digests)[:12]}"
    folder = shop.tree.dist(shop.line) / shop.target.architecture.kernel / name
    if Version(folder).is_whole():
        shop.console.reused(STAGE, f"{name} is there already")
        return Abroad(folder, candidate.name, fresh=False)
    said = {
        **_identity(shop, name, geometry),
        "git": rebuilt_at(shop, imported.profile, differing),
        **_origin(shop, imported, differing),
        "step": candidate.name,
    }
    with shop.console.stage(STAGE) as line, marks_lock(shop.tree.state):
        _write(shop, folder, _product(shop, imported, candidate, archive), said)
        require_good(shop.tree, Version(folder))
        line.done(f"{name}, for {shop.target.architecture.name}")
    return Abroad(folder, candidate.name, fresh=True)


def _write(shop: Workshop, folder: Path, product: Product, said: Mapping[str, Any]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    room = clean_room(folder)
    try:
        room.mkdir()
        write_contents(room, shop.tree.root, product, shop.tree.version)
        text = json.dumps({**said, "files": file_digests(room)}, indent=2, sort_keys=True)
        (room / MANIFEST).write_text(f"{text}\n", encoding="utf-8")
        write_sums(room)
        complete(room, folder)
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _product(shop: Workshop, imported: Imported, candidate: Candidate, archive: Archive) -> Product:
    """Return the files: of the bundle's counts all but BOLT's, which are of other code."""
    kept = {one.name: one for one in imported.profile.glob("*") if one.name != FDATA}
    edges = {FDATA: candidate.edges.path} if candidate.edges else {}
    return Product(
        library=candidate.library.path,
        debug=candidate.library.artifact.path(debug_name(shop)),
        archive=archive.path,
        profile={**kept, **edges},
        variant=shop.options.variant,
    )


def _identity(shop: Workshop, name: str, geometry: Geometry | None) -> dict[str, Any]:
    """Return what a manifest says of any version, here with no verdict."""
    return {
        "schema_version": MANIFEST_VERSION,
        "profile": shop.profile.name,
        "variant": shop.options.variant,
        "version": name,
        "library_version": shop.tree.version,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "tools": {**shop.tools.versions, **shop.target.versions},
        "verdict": None,
        "geometry": geometry.digest if geometry else None,
        "processor": {
            "cut_for": ANY,
            "march": shop.target.architecture.least,
            "judged_on": None,
        },
        "beside": {},
    }


def _origin(shop: Workshop, imported: Imported, differing: Mapping[str, str]) -> dict[str, Any]:
    """Return where the library comes from: what trained, what made it, what it was tried by."""
    receipts = [artifact.receipt for artifact in shop.store.used]
    return {
        "stages": {stage: stage_record(one) for stage, one in by_stage(receipts).items()},
        "rebuilt_from": {
            "version": imported.bundle.version,
            "bundle": imported.digest,
            "differences": dict(differing),
        },
        "made_for": {
            "architecture": shop.target.architecture.name,
            "trained_on": _trained_on(imported),
            "made_on": {"architecture": HERE.name, "processor": machine().name},
            "tried_by": {"emulator": shop.target.emulator[0], "page_sizes": list(PAGE_SIZES)},
            "timed": False,
            "judged": False,
        },
    }


def _trained_on(imported: Imported) -> dict[str, str]:
    """Return which processor the bundle's version was trained and judged on."""
    processor = read_json(imported.artifact.path(MANIFEST)).get("processor") or {}
    return {
        "architecture": _with_level(str(processor.get("march"))).name,
        "processor": str(processor.get("judged_on") or OTHER),
    }


def _with_level(level: str) -> Architecture:
    return next((one for one in ALL if level in one.levels), HERE)
