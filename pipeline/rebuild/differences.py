"""In what this tree differs from the one that made a bundle: sources, tools, flags."""

from __future__ import annotations

from pathlib import Path

from pipeline.core.errors import DataError, ToolError
from pipeline.core.nested import read_json
from pipeline.rebuild.imported import Imported
from pipeline.release.bundle import Bundle
from pipeline.release.origin import other_sources, other_tools
from pipeline.release.version import MANIFEST, in_short
from pipeline.report.text import first_of
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workshop import Workshop

MOST_FILES = 4


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


def differences(shop: Workshop, setup: Setup, imported: Imported) -> dict[str, str]:
    """Return what differs before anything is built: sources and tools."""
    bundle = imported.bundle
    others = other_sources(bundle.sources, setup.sources)
    found = {
        "sources": others and f"{others}{committed_at(imported.artifact.path(MANIFEST))}",
        "tools": other_tools(bundle.tools, shop.tools.versions),
    }
    return {name: sentence for name, sentence in found.items() if sentence}


def committed_at(manifest: Path) -> str:
    """Say which commit a bundle's sources are of, behind how they differ; "" if unknown."""
    try:
        git = read_json(manifest)["git"]
        commit, changed = str(git["commit"]), git.get("changed") or ()
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return ""
    beside = f" and, not committed, {first_of(changed, MOST_FILES)}" if changed else ""
    return f" (they are commit {in_short(commit)}{beside})"


def flag_differences(shop: Workshop, bundle: Bundle) -> dict[str, str]:
    """Return how the flags of the stages that were just done differ from the bundle's."""
    now = {a.receipt.stage: a.receipt.parts.get("flags", []) for a in shop.store.used}
    lines = [
        f"{stage}: {' '.join(changed)}"
        for stage, flags in bundle.flags.items()
        if (changed := sorted(set(flags) ^ set(now.get(stage, ()))))
    ]
    return {"flags": "; ".join(lines)} if lines else {}
