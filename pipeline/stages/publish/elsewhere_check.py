"""Holding what a worker has sent against its manifest, and that against what was ordered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.core.digest import digest_bytes
from pipeline.core.errors import ArtifactError, DataError
from pipeline.core.processor import OTHER, nearest
from pipeline.geometry.load import load_geometry
from pipeline.release.contents import debug_place
from pipeline.release.origin import other_sources, other_tools
from pipeline.release.version import MANIFEST, library_place
from pipeline.stages.build.compile import LIBRARY as LIBRARY_FILE
from pipeline.stages.build.compile import source_digests
from pipeline.stages.build.finish import debug_name
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.verify import VERDICT
from pipeline.stages.publish.gate import HTML, may_pass

if TYPE_CHECKING:
    from pipeline.elsewhere.order import Order


def names(shop: Workshop) -> tuple[str, ...]:
    """Return what the files SENT_BACK are called in an artifact."""
    return (LIBRARY_FILE, debug_name(shop), MANIFEST, VERDICT, HTML)


def checked(shop: Workshop, order: Order, room: Path) -> dict[str, Any]:
    """Hold what came against the worker's manifest, that against the order; return step, reason."""
    try:
        manifest = json.loads((room / MANIFEST).read_text(encoding="utf-8"))
        _check_digests(shop, manifest["files"], room)
        _check_origin(shop, order, manifest)
        return {"step": str(manifest["step"]), "reason": _check_verdict(shop, order, room)}
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"what the worker sent cannot be read: {error!r}") from error


def _check_digests(shop: Workshop, listed: dict[str, str], room: Path) -> None:
    from pipeline.release.check_version import check_library_file

    library = room / LIBRARY_FILE
    places = {
        library_place(shop.options.variant): library,
        str(debug_place(library)): room / debug_name(shop),
        **{name: room / name for name in (VERDICT, HTML)},
    }
    for place, file in places.items():
        if digest_bytes(file.read_bytes()) != listed[place]:
            raise ArtifactError(f"{place} is not the file that the worker's manifest lists")
    for check in check_library_file(shop.tree, library):
        if not check.holds:
            raise ArtifactError(f"{check.rule}: {check.found or 'no'}")


def _check_origin(shop: Workshop, order: Order, manifest: dict[str, Any]) -> None:
    geometry = load_geometry(shop.tree, shop.profile.name, order.kind)
    wanted = {
        "profile": shop.profile.name,
        "variant": shop.options.variant,
        "geometry": geometry.digest if geometry else None,
    }
    for name, value in wanted.items():
        if manifest[name] != value:
            raise DataError(f"it has another {name} than was ordered: {manifest[name]}")
    cut_for = manifest["processor"]["cut_for"]
    if cut_for != order.kind:
        raise DataError(f"it was built for {cut_for}, not for {order.kind}")
    sources = manifest["stages"]["static"]["inputs"]["sources"]
    if differing := other_sources(sources, source_digests(shop)["sources"]):
        raise DataError(f"it was made from other sources: {differing}")
    if differing := other_tools(manifest["tools"], shop.tools.versions):
        raise DataError(f"it was made by other tools: {differing}")


def _check_verdict(shop: Workshop, order: Order, room: Path) -> str:
    """Return why the judge lets it pass; the verdict must be about these bytes, on that kind."""
    from pipeline.judge.model import VerifyResult

    result = VerifyResult.model_validate_json((room / VERDICT).read_text(encoding="utf-8"))
    judged_on = result.environment.processor or OTHER
    if result.tuned.sha256 != digest_bytes((room / LIBRARY_FILE).read_bytes()):
        raise DataError("the verdict that came with it is about another library")
    if order.kind not in nearest(judged_on):
        raise DataError(f"it was judged on {judged_on}, not on {order.kind}")
    allowed, reason = may_pass(shop, result)
    if not allowed:
        raise ArtifactError(reason)
    return reason
