"""manifest.json: what a version is, what it was made from, and why it was let pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.core.processor import ANY
from pipeline.core.receipt import Receipt, by_stage
from pipeline.geometry.code import CHOICES
from pipeline.release.contents import file_digests, kind_place
from pipeline.release.version import MANIFEST
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.verify import Verdict
from pipeline.stages.publish.gate import passes
from pipeline.stages.publish.product import inputs_of
from pipeline.stages.publish.release import Beside, Release
from pipeline.stages.publish.sources import built_from

if TYPE_CHECKING:
    from pipeline.geometry.model import Geometry

MANIFEST_VERSION = 2


def write_manifest(
    shop: Workshop,
    room: Path,
    version: str,
    release: Release,
    receipts: list[Receipt],
    created: str,
) -> None:
    """Write the manifest of what lies in ``room``, with the date of its publishing."""
    manifest = {
        "schema_version": MANIFEST_VERSION,
        "profile": shop.profile.name,
        "variant": shop.options.variant,
        "version": version,
        "library_version": shop.tree.version,
        "created": created,
        "quick": shop.options.quick,
        "tools": shop.tools.versions,
        "files": file_digests(room),
        "verdict": _verdict_summary(shop, release.verdict),
        "stages": {name: stage_record(one) for name, one in by_stage(receipts).items()},
        "git": built_from(shop, release),
        "step": release.candidate.name,
        "geometry": release.geometry.digest if release.geometry else None,
        "processor": _processor(release.geometry, release.verdict),
        "beside": {one.kind: _beside(shop, one) for one in release.beside},
        "rebuilt_from": release.rebuilt_from,
        "inputs": inputs_of(shop, release.geometry, release.inputs),
    }
    text = json.dumps(manifest, indent=2, sort_keys=True)
    (room / MANIFEST).write_text(text + "\n", encoding="utf-8")


def _processor(geometry: Geometry | None, verdict: Verdict) -> dict[str, str | None]:
    """Return which processors the library is for, the least it needs, and which one judged it."""
    return {
        "cut_for": geometry.processor if geometry else ANY,
        "march": geometry.setting("march").value if geometry else CHOICES["march"].default,
        "judged_on": verdict.result().environment.processor,
    }


def _beside(shop: Workshop, beside: Beside) -> dict[str, Any]:
    """Return what the manifest says of a library for one kind of processor."""
    return {
        "library": kind_place(beside.kind, shop.options.variant),
        "geometry": beside.geometry.digest,
        "processor": _processor(beside.geometry, beside.verdict),
        "step": beside.step,
        "made_on": beside.made_on,
        "verdict": _verdict_summary(shop, beside.verdict),
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


def stage_record(receipt: Receipt) -> dict[str, Any]:
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
