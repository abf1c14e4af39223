"""The folder of a version: made under another name, forced to disk, and renamed.

A damaged one is made whole by a build of the same. It gets back the bytes that it had: its manifest
and report, with their dates and what they compare with, stay as they were. Where these are damaged
it is written anew, with the date that it had.
"""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

from pipeline.core.digest import digest_file
from pipeline.core.errors import ArtifactError
from pipeline.core.files import sync, sync_tree
from pipeline.core.receipt import Receipt
from pipeline.core.store import ROOM_PREFIX
from pipeline.release.contents import FACTORS, write_contents, write_sums
from pipeline.release.version import MANIFEST, Version
from pipeline.stages.build.given import refuse_changed
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.verify import VERDICT
from pipeline.stages.publish.gate import HTML
from pipeline.stages.publish.manifest import write_manifest
from pipeline.stages.publish.product import product
from pipeline.stages.publish.release import Release
from pipeline.stages.publish.sources import published_first

REPORTS = (HTML, "report.md", "report.json")


def write_version(
    shop: Workshop, folder: Path, release: Release, receipts: list[Receipt], report: Path
) -> None:
    """Write a version and its reports; nothing half-written ever has its name."""
    room = clean_room(folder)
    try:
        _fill(shop, room, release, report)
        if release.inputs is None:
            refuse_changed(shop)  # what has just been copied is what it was built by
        created = date_of(folder, release)
        write_manifest(shop, room, folder.name, release, receipts, created)
        write_sums(room)
        complete(room, folder)
    finally:
        shutil.rmtree(room, ignore_errors=True)


def date_of(folder: Path, release: Release) -> str:
    """Return the date of a version; one that an import brings with its verdict keeps its own.

    So versions stand in the order in which they were judged first, wherever that was.
    """
    kept = release.rebuilt_from is not None and release.rebuilt_from["verdict_kept"]
    first = published_first(release.inputs) if kept else ""
    return first or published_on(Version(folder), release.verdict.result().created)


def published_on(version: Version, judged: str) -> str:
    """Return the date for a manifest: now, or that of the damaged version that is written anew.

    Where its manifest is damaged as well, it is the moment at which it was judged: that stands in
    verdict.json, and the same verdict has the same moment.
    """
    if not version.folder.is_dir():
        return datetime.now(UTC).isoformat(timespec="seconds")
    is_intact = MANIFEST not in version.damaged_files()
    return (version.created if is_intact else "") or judged


def mend_version(shop: Workshop, folder: Path, release: Release, report: Path) -> list[str]:
    """Give a published version back the files that are damaged, and return their names.

    [] if it has none, or if they cannot be made with the bytes that they had: nothing is changed
    then. ``report`` is the folder of its kept report.
    """
    listed = Version(folder).sums() or {}
    damaged = Version(folder).damaged_files()
    room = clean_room(folder)
    try:
        _fill(shop, room, release, report)
        if not all(_is(room / name, listed.get(name)) for name in damaged):
            return []
        for name in damaged:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (room / name).replace(folder / name)
        sync_tree(folder)
    finally:
        shutil.rmtree(room, ignore_errors=True)
    return damaged


def clean_room(folder: Path) -> Path:
    """Return where a version is made; what killed runs have left there goes, of any version.

    Whoever writes versions holds the lock of marks: nobody works in another room.
    """
    for left in folder.parent.glob(f"{ROOM_PREFIX}*"):
        shutil.rmtree(left, ignore_errors=True)
    return folder.with_name(f"{ROOM_PREFIX}{folder.name}")


def _is(path: Path, digest: str | None) -> bool:
    return path.is_file() and digest_file(path) == digest


def _fill(shop: Workshop, room: Path, release: Release, report: Path) -> None:
    """Write all files of a version but its manifest and sums; reports as far as there are any."""
    room.mkdir()
    write_contents(room, shop.tree.root, product(shop, release), shop.tree.version)
    _write_factors(room, release)
    shutil.copyfile(release.verdict.artifact.path(VERDICT), room / VERDICT)
    for name in REPORTS:
        if (report / name).is_file():
            shutil.copyfile(report / name, room / name)


def _write_factors(room: Path, release: Release) -> None:
    text = json.dumps(release.factors, indent=1, sort_keys=True)
    (room / "profile" / FACTORS).write_text(text + "\n", encoding="utf-8")


def complete(room: Path, folder: Path) -> None:
    """Give the folder in ``room`` its name, once all of it is whole and on disk."""
    damaged = Version(room).damaged_files()
    if damaged:
        raise ArtifactError(
            f"the version just written is damaged: {', '.join(damaged)}",
            hint="check the disk of this machine",
        )
    sync_tree(room)
    shutil.rmtree(folder, ignore_errors=True)  # damaged beyond mending: else it stays as it is
    room.rename(folder)
    sync(folder.parent)
