"""publish: a versioned folder under dist/, complete and on disk, then one rename of ``current``.

Nothing that a user preloads is ever half-written: the folder is made under another name, forced to
disk, renamed; only then the symbolic link ``current`` is replaced, which is one rename as well.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.core.digest import digest_file, digest_value
from pipeline.core.errors import ArtifactError, GateError, SpaceError
from pipeline.core.store import Receipt, sync, sync_tree
from pipeline.stages.bolt import DEBUG
from pipeline.stages.compile import LIBRARY
from pipeline.stages.verify import VERDICT, Verdict
from pipeline.stages.workshop import Library, Workshop

if TYPE_CHECKING:
    from pipeline.report import ReportModel

STAGE = "publish"
CURRENT, MANIFEST, SUMS, REPORT = "current", "manifest.json", "SHA256SUMS", "report.md"
MANIFEST_VERSION = 1


@dataclass(frozen=True)
class Published:
    """A version under dist/. ``report`` is None when it was there and current already."""

    folder: Path
    report: ReportModel | None

    @property
    def library(self) -> Path:
        """The library as a user preloads it: by way of ``current``."""
        return self.folder.parent / CURRENT / "lib" / LIBRARY


def check_writable(folder: Path) -> None:
    """Raise SpaceError now, not after minutes of work, if ``folder`` cannot be written."""
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


def publish(shop: Workshop, tuned: Library, verdict: Verdict) -> Published:
    """Publish the library if the judge lets it pass; GateError, and nothing moved, if not."""
    dist, version = shop.tree.dist(shop.profile.name), _version(shop, tuned, verdict)
    folder = dist / version
    if STAGE not in shop.options.redo and _is_current(folder):
        shop.console.reused(STAGE, f"{version} is current")
        return Published(folder, None)
    receipts = [artifact.receipt for artifact in shop.store.used]
    with shop.console.stage(STAGE) as line:
        model = _report(shop, version, verdict, receipts)
        report = _keep_report(shop, model)
        _pass_gate(shop, model, verdict, report)
        line.step("writing the version")
        _write_version(shop, folder, tuned, verdict, receipts, report)
        point_current(folder)
        line.done(version)
    return Published(folder, model)


def point_current(folder: Path) -> None:
    """Make ``current`` point to a version, in one step that cannot be seen half-done."""
    link = folder.parent / CURRENT
    fresh = link.with_name(f".{CURRENT}-{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(folder.name)
    fresh.replace(link)
    sync(folder.parent)


def damaged_files(folder: Path) -> list[str]:
    """Return the files of a version that do not have the digest in SHA256SUMS (or are gone)."""
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    except OSError:
        return [SUMS]
    pairs = [line.split("  ", 1) for line in lines]
    return [
        name
        for digest, name in pairs
        if not (folder / name).is_file() or digest_file(folder / name) != digest
    ]


def _version(shop: Workshop, tuned: Library, verdict: Verdict) -> str:
    key = digest_value([tuned.digest, verdict.artifact.digest(VERDICT)])
    return f"{shop.tree.version}-{key[:12]}"


def _is_current(folder: Path) -> bool:
    link = folder.parent / CURRENT
    return link.is_symlink() and link.resolve() == folder.resolve() and not damaged_files(folder)


def _report(shop: Workshop, version: str, verdict: Verdict, receipts: list[Receipt]) -> ReportModel:
    from pipeline.report import report_model

    return report_model(
        profile=shop.profile.name,
        version=version,
        result=verdict.result(),
        receipts={receipt.stage: receipt for receipt in receipts},
        allow_neutral=shop.options.allow_neutral,
    )


def _keep_report(shop: Workshop, model: ReportModel) -> Path:
    """Write the report where it stays, whatever the gate says."""
    from pipeline.report import render_markdown

    report = shop.tree.artifacts(shop.profile.name) / "reports" / f"{model.version}.md"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(render_markdown(model), encoding="utf-8")
    return report


def _pass_gate(shop: Workshop, model: ReportModel, verdict: Verdict, report: Path) -> None:
    """Raise GateError, after the verdict table, unless the judge lets the build pass."""
    allowed, _ = verdict.result().publishable(shop.options.allow_neutral)
    if not allowed:
        shop.console.verdict(model)
        raise GateError(
            "the gate did not let this build pass, for the reason above",
            hint="read the report; `--from verify` judges again; `current` is as it was",
            log=report,
        )


def _write_version(
    shop: Workshop,
    folder: Path,
    tuned: Library,
    verdict: Verdict,
    receipts: list[Receipt],
    report: Path,
) -> None:
    room = folder.with_name(f".tmp-{folder.name}")
    shutil.rmtree(room, ignore_errors=True)
    try:
        (room / "lib").mkdir(parents=True)
        (room / "include").mkdir()
        shutil.copyfile(tuned.path, room / "lib" / LIBRARY)
        shutil.copyfile(tuned.artifact.path(DEBUG), room / "lib" / DEBUG)
        shutil.copyfile(
            shop.tree.root / "allocator" / "include" / "hakmem.h", room / "include" / "hakmem.h"
        )
        shutil.copyfile(verdict.artifact.path(VERDICT), room / VERDICT)
        shutil.copyfile(report, room / REPORT)
        (room / "lib" / LIBRARY).chmod(0o755)
        _write_manifest(shop, room, folder.name, verdict, receipts)
        _write_sums(room)
        _finish(room, folder)
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _write_manifest(
    shop: Workshop, room: Path, version: str, verdict: Verdict, receipts: list[Receipt]
) -> None:
    manifest = {
        "schema_version": MANIFEST_VERSION,
        "profile": shop.profile.name,
        "version": version,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "quick": shop.options.quick,
        "tools": shop.tools.versions,
        "files": _file_digests(room),
        "verdict": _verdict_summary(shop, verdict),
        "stages": {r.stage: _stage_record(r) for r in receipts},
    }
    text = json.dumps(manifest, indent=2, sort_keys=True)
    (room / MANIFEST).write_text(text + "\n", encoding="utf-8")


def _verdict_summary(shop: Workshop, verdict: Verdict) -> dict[str, Any]:
    result = verdict.result()
    _, reason = result.publishable(shop.options.allow_neutral)
    return {
        "throughput": result.keys.throughput.verdict.value,
        "icache": result.keys.icache.verdict.value,
        "rss_holds": result.rss.holds,
        "reason": reason,
        "allow_neutral": shop.options.allow_neutral,
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


def _file_digests(room: Path) -> dict[str, str]:
    return {
        str(path.relative_to(room)): digest_file(path)
        for path in sorted(room.rglob("*"))
        if path.is_file()
    }


def _write_sums(room: Path) -> None:
    lines = (f"{digest}  {name}\n" for name, digest in _file_digests(room).items())
    (room / SUMS).write_text("".join(lines), encoding="utf-8")


def _finish(room: Path, folder: Path) -> None:
    damaged = damaged_files(room)
    if damaged:
        raise ArtifactError(
            f"just written and already wrong: {', '.join(damaged)}",
            hint="check the disk of this machine",
        )
    sync_tree(room)
    shutil.rmtree(folder, ignore_errors=True)  # a damaged version of the same name
    room.rename(folder)
    sync(folder.parent)
