"""In what this tree differs from the one that made a bundle: sources, tools, flags."""

from __future__ import annotations

from pipeline.core.errors import DataError, ToolError
from pipeline.release.bundle import Bundle
from pipeline.release.origin import other_sources, other_tools
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workshop import Workshop


def refuse_others(
    differing: dict[str, str],
    allowed: frozenset[str],
    then: str = "the result is then judged as a new build",
) -> dict[str, str]:
    """Return ``differing`` if all of it is allowed; else raise an error that names the rest."""
    for kind, sentence in differing.items():
        if kind not in allowed:
            error = ToolError if kind == "tools" else DataError
            raise error(
                f"the bundle was made with other {kind}: {sentence}",
                hint=f"use the same, or `--allow {kind}`: {then}",
            )
    return differing


def differences(shop: Workshop, setup: Setup, bundle: Bundle) -> dict[str, str]:
    """Return what differs before anything is built: sources and tools."""
    found = {
        "sources": other_sources(bundle.sources, setup.sources),
        "tools": other_tools(bundle.tools, shop.tools.versions),
    }
    return {name: sentence for name, sentence in found.items() if sentence}


def flag_differences(shop: Workshop, bundle: Bundle) -> dict[str, str]:
    """Return how the flags of the stages that were just done differ from the bundle's."""
    now = {a.receipt.stage: a.receipt.parts.get("flags", []) for a in shop.store.used}
    lines = [
        f"{stage}: {' '.join(changed)}"
        for stage, flags in bundle.flags.items()
        if (changed := sorted(set(flags) ^ set(now.get(stage, ()))))
    ]
    return {"flags": "; ".join(lines)} if lines else {}
