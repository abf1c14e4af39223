"""publish: a versioned folder under dist/, complete and on disk, then one rename of ``current``.

Nothing that a user preloads is ever half-written: the folder is made under another name, forced to
disk, renamed; only then the symbolic link ``current`` is replaced, which is one rename as well.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.core.digest import digest_file, digest_value
from pipeline.core.errors import ArtifactError, GateError, SpaceError
from pipeline.core.files import sync
from pipeline.core.lock import marks_lock
from pipeline.core.processor import ANY
from pipeline.core.store import Receipt, by_stage, sync_tree
from pipeline.geometry.code import CHOICES
from pipeline.geometry.tables import default_geometry
from pipeline.geometry.write import write_toml
from pipeline.release.check_version import require_good
from pipeline.release.commit import commit_of
from pipeline.release.contents import (
    CONTEXT_PROFDATA,
    FACTORS,
    FDATA,
    GEOMETRY,
    LISTS,
    PROFDATA,
    Product,
    file_digests,
    kind_place,
    write_contents,
    write_sums,
)
from pipeline.release.marks import Mark, lift, read_marks, why_current_stays
from pipeline.release.version import (
    CURRENT,
    MANIFEST,
    Version,
    check_folder,
    current,
    point_current,
)
from pipeline.report.text import change as percent
from pipeline.stages.build.finish import debug_name
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.verify import VERDICT, Verdict
from pipeline.stages.publish.release import Release
from pipeline.stages.publish.reporting import keep_report, make_report

if TYPE_CHECKING:
    from pipeline.report.model import ReportModel

STAGE = "publish"
HTML = "report.html"
REPORTS = (HTML, "report.md", "report.json")
MANIFEST_VERSION = 2
# Stages whose keys are decided by people, not by what a training happened to count.
FROM_PEOPLE = ("baseline", "geometry", "instrument", "train")


@dataclass(frozen=True)
class Published:
    """A version under dist/. ``report`` is None when it was there already and nothing was judged.

    ``stays`` says why ``current`` has not moved to it; None: it is current.
    """

    folder: Path
    report: ReportModel | None
    stays: str | None = None

    @property
    def library(self) -> Path:
        """The library as a user preloads it: by way of ``current``, if this version is that."""
        name = self.folder.name if self.stays else CURRENT
        return self.folder.parent / name / Version(self.folder).place

    @property
    def beside(self) -> list[Path]:
        """The libraries for single kinds of processors."""
        return Version(self.folder).beside()


def check_writable(folder: Path) -> None:
    """Raise SpaceError now, not after minutes of work, if ``folder`` cannot be written."""
    check_folder(folder)
    probe = folder / f".probe-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise SpaceError(
            f"cannot write in {folder}: {error.strerror}",
            hint="give yourself the right to write there",
        ) from error


def publish(shop: Workshop, release: Release) -> Published:
    """Publish the library if the judge lets it pass; GateError, and nothing moved, if not.

    A version that was rolled back does not come back by itself, and one that was rejected is
    refused. A folder that is published and whole is not written again.
    """
    dist, version = shop.tree.dist(shop.line), _version(shop, release)
    folder = dist / version
    _refuse_rejected(dist, release, inputs_of(shop, release))
    if STAGE not in shop.options.redo and _is_current(folder):
        shop.console.reused(STAGE, f"{version} is current")
        return Published(folder, None)
    if held := _held(dist, release, inputs_of(shop, release)):
        shop.console.reused(STAGE, str(held.stays))
        return held
    receipts = [artifact.receipt for artifact in shop.store.used]
    with shop.console.stage(STAGE) as line:
        line.step("writing the report")
        model = make_report(shop, release, version, receipts)
        report = keep_report(shop, model)
        _pass_gate(shop, model, release.verdict, report)
        line.step("writing the version")
        with marks_lock(shop.tree.state):
            _refuse_rejected(dist, release, inputs_of(shop, release))  # since the build began
            if held := _held(dist, release, inputs_of(shop, release)):
                line.done(str(held.stays))
                return held
            if not Version(folder).is_whole():
                _write_version(shop, folder, release, receipts, report)
            require_good(shop.tree, Version(folder))
            stays = _move_current(shop, Version(folder), model)
        line.done(f"{version}, not current" if stays else version)
    return Published(folder, model, stays)


def inputs_of(shop: Workshop, release: Release) -> str:
    """Return the digest of what a build is made from, before any training: people's part of it.

    Two trainings of the same sources give other bytes; by this they are known as the same.
    """
    parts = {
        artifact.receipt.stage: artifact.receipt.parts
        for artifact in shop.store.used
        if artifact.receipt.stage in FROM_PEOPLE
    }
    product = _product(shop, release).profile
    written = {name: digest_file(product[name]) for name in product if name in (*LISTS, GEOMETRY)}
    return digest_value({"stages": parts, "files": written})


def _refuse_rejected(dist: Path, release: Release, inputs: str) -> None:
    """Raise GateError if this build is a version that somebody has rejected."""
    found = _known_by(read_marks(dist).rejected, release, inputs)
    if found is not None:
        raise GateError(
            f"{found.version} was rejected ({found.reason}), and this is built of the same; "
            "`current` is as it was",
            hint="change sources, profile or lists; a version that was rejected does not come back",
        )


def _held(dist: Path, release: Release, inputs: str) -> Published | None:
    """Return what holds instead of this build, if it is a version that was rolled back."""
    aside = _known_by(read_marks(dist).aside, release, inputs)
    if aside is None or current(dist) is None:
        return None
    held = f"{aside.version} was rolled back, and this is built of the same"
    return Published(dist / aside.version, None, held)


def _move_current(shop: Workshop, version: Version, model: ReportModel) -> str | None:
    """Make a version current, or return why ``current`` stays."""
    dist = version.folder.parent
    worse = _worse_than_current(model)
    stays = why_current_stays(current(dist), version, shop.options.mode, worse)
    if stays is None:
        point_current(version)
        lift(dist)
    return stays


def _known_by(marks: Sequence[Mark], release: Release, inputs: str) -> Mark | None:
    digest = release.candidate.library.digest
    return next((one for one in marks if one.means(digest, inputs)), None)


def _worse_than_current(model: ReportModel) -> tuple[str, ...]:
    """Return what got worse against the current version over all workloads, a sentence each."""
    rows = model.previous.rows if model.previous else ()
    return tuple(
        f"{row.name} {percent(row.ratio)}" if row.ratio else row.name
        for row in rows
        if row.judgement == "worse"
    )


def _version(shop: Workshop, release: Release) -> str:
    key = digest_value(
        [
            release.candidate.library.digest,
            release.archive.digest,
            release.verdict.artifact.digest(VERDICT),
            *(one.candidate.library.digest for one in release.beside),
        ]
    )
    return f"{shop.tree.version}-{key[:12]}"


def _is_current(folder: Path) -> bool:
    now = current(folder.parent)
    return now == Version(folder) and now.is_whole()


def passes(shop: Workshop, verdict: Verdict) -> tuple[bool, str]:
    """Return whether the judge lets a build pass, and why."""
    from pipeline.judge.publishing import may_publish

    options = shop.options
    return may_publish(verdict.result(), options.allow_neutral, options.allow_regression)


def _pass_gate(shop: Workshop, model: ReportModel, verdict: Verdict, report: Path) -> None:
    """Raise GateError, after the verdict table, unless the judge lets the build pass."""
    from pipeline.judge.advice import advice
    from pipeline.report.terminal import show_verdict

    result = verdict.result()
    allowed, _ = passes(shop, verdict)
    if not allowed:
        show_verdict(shop.console, model)
        raise GateError(
            "this build is not published, for the reason above; `current` is as it was",
            hint=advice(result, shop.profile.name),
            log=report / HTML,
        )


def _write_version(
    shop: Workshop, folder: Path, release: Release, receipts: list[Receipt], report: Path
) -> None:
    room = folder.with_name(f".tmp-{folder.name}")
    shutil.rmtree(room, ignore_errors=True)
    try:
        room.mkdir()
        write_contents(room, shop.tree.root, _product(shop, release), shop.tree.version)
        _write_factors(room, release)
        shutil.copyfile(release.verdict.artifact.path(VERDICT), room / VERDICT)
        for name in REPORTS:
            shutil.copyfile(report / name, room / name)
        _write_manifest(shop, room, folder.name, release, receipts)
        write_sums(room)
        _finish(room, folder)
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _product(shop: Workshop, release: Release) -> Product:
    lists = release.inputs or shop.tree.layout(shop.profile.layout.name)
    profile_file = (release.inputs or shop.tree.profiles) / f"{shop.profile.name}.toml"
    return Product(
        library=release.candidate.library.path,
        debug=release.candidate.library.artifact.path(debug_name(shop)),
        archive=release.archive.path,
        variant=shop.options.variant,
        beside={_kind(one): _files_of(shop, one) for one in release.beside},
        profile={
            PROFDATA: release.profile.path,
            **_further_profiles(release),
            profile_file.name: profile_file,
            **_geometry_file(shop, release),
            **{name: lists / name for name in LISTS},
        },
    )


def _kind(release: Release) -> str:
    return release.geometry.processor if release.geometry else ANY


def _files_of(shop: Workshop, release: Release) -> tuple[Path, Path]:
    library = release.candidate.library
    return library.path, library.artifact.path(debug_name(shop))


def _geometry_file(shop: Workshop, release: Release) -> dict[str, Path]:
    """Return the file that the library is cut by; of two that add up, one with both's values."""
    if release.geometry is None:
        return {}
    if release.inputs:
        return {GEOMETRY: release.inputs / GEOMETRY}
    if release.geometry.processor == ANY:
        return {GEOMETRY: shop.tree.geometry(shop.profile.name)}
    joined = shop.log(STAGE, "geometry").with_name(GEOMETRY)
    write_toml(release.geometry, default_geometry(shop.tree), joined)
    return {GEOMETRY: joined}


def _further_profiles(release: Release) -> dict[str, Path]:
    """Return the profiles that only some steps of the chain use."""
    candidate, found = release.candidate, {}
    if candidate.profile is not None and candidate.profile.digest != release.profile.digest:
        found[CONTEXT_PROFDATA] = candidate.profile.path
    if candidate.edges is not None:
        found[FDATA] = candidate.edges.path
    return found


def _write_factors(room: Path, release: Release) -> None:
    text = json.dumps(release.factors, indent=1, sort_keys=True)
    (room / "profile" / FACTORS).write_text(text + "\n", encoding="utf-8")


def _write_manifest(
    shop: Workshop, room: Path, version: str, release: Release, receipts: list[Receipt]
) -> None:
    manifest = {
        "schema_version": MANIFEST_VERSION,
        "profile": shop.profile.name,
        "variant": shop.options.variant,
        "version": version,
        "library_version": shop.tree.version,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "quick": shop.options.quick,
        "tools": shop.tools.versions,
        "files": file_digests(room),
        "verdict": _verdict_summary(shop, release.verdict),
        "stages": {name: _stage_record(one) for name, one in by_stage(receipts).items()},
        "git": commit_of(shop.tree.root),
        "step": release.candidate.name,
        "geometry": release.geometry.digest if release.geometry else None,
        "processor": _processor(release),
        "beside": {_kind(one): _beside(shop, one) for one in release.beside},
        "rebuilt_from": release.rebuilt_from,
        "inputs": inputs_of(shop, release),
    }
    text = json.dumps(manifest, indent=2, sort_keys=True)
    (room / MANIFEST).write_text(text + "\n", encoding="utf-8")


def _processor(release: Release) -> dict[str, str | None]:
    """Return which processors the library is for, the least it needs, and which one judged it."""
    geometry = release.geometry
    return {
        "cut_for": geometry.processor if geometry else ANY,
        "march": geometry.setting("march").value if geometry else CHOICES["march"].default,
        "judged_on": release.verdict.result().environment.processor,
    }


def _beside(shop: Workshop, release: Release) -> dict[str, Any]:
    """Return what the manifest says of a library for one kind of processor."""
    return {
        "library": kind_place(_kind(release), shop.options.variant),
        "geometry": release.geometry.digest if release.geometry else None,
        "processor": _processor(release),
        "step": release.candidate.name,
        "verdict": _verdict_summary(shop, release.verdict),
    }


def _verdict_summary(shop: Workshop, verdict: Verdict) -> dict[str, Any]:
    result = verdict.result()
    _, reason = passes(shop, verdict)
    return {
        "throughput": result.keys.throughput.verdict.value,
        "icache": result.keys.icache.verdict.value,
        "rss_holds": result.rss.holds,
        "mode": result.mode,
        "reason": reason,
        "allow_neutral": shop.options.allow_neutral,
        "allow_regression": list(shop.options.allow_regression),
    }


def _stage_record(receipt: Receipt) -> dict[str, Any]:
    """Return what a stage was made from and what it made. Raw profiles are only counted."""
    outputs = {n: d for n, d in receipt.outputs.items() if not n.startswith("raw/")}
    return {
        "key": receipt.key,
        "inputs": receipt.parts,
        "outputs": outputs,
        "raw_profiles": len(receipt.outputs) - len(outputs),
        "seconds": receipt.seconds,
        "notes": receipt.notes,
    }


def _finish(room: Path, folder: Path) -> None:
    damaged = Version(room).damaged_files()
    if damaged:
        raise ArtifactError(
            f"just written and already wrong: {', '.join(damaged)}",
            hint="check the disk of this machine",
        )
    sync_tree(room)
    shutil.rmtree(folder, ignore_errors=True)  # damaged: what is whole is never written again
    room.rename(folder)
    sync(folder.parent)
