"""Which commit a version was built from, and what of it was not committed."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from pipeline.core.nested import read_json
from pipeline.core.paths import BUILT_FROM
from pipeline.release.commit import commit_of
from pipeline.release.contents import LISTS
from pipeline.release.version import MANIFEST
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.publish.release import Release


def built_from(shop: Workshop, release: Release) -> dict[str, Any] | None:
    """Return commit and changed files of a build; None where git is silent."""
    if release.inputs is None or release.rebuilt_from is None:
        return _here(shop)
    return rebuilt_at(shop, release.inputs, release.rebuilt_from["differences"])


def rebuilt_at(shop: Workshop, inputs: Path, differing: Collection[str]) -> dict[str, Any] | None:
    """Return the same of a rebuild from a bundle, which has its profiles and lists in ``inputs``.

    What this tree has of lists, profile and geometry says nothing then. Where the sources are the
    bundle's, too, the commit is that of the bundle.
    """
    if "sources" not in differing and (git := _of_bundle(inputs.parent)):
        return git
    here = _here(shop)
    return _without(here, _brought(shop)) if here else None


def _here(shop: Workshop) -> dict[str, Any] | None:
    return commit_of(shop.tree.root, BUILT_FROM, shop.profile.name)


def published_first(inputs: Path | None) -> str:
    """Return when the version of a bundle was published where it was judged; "" if unknown."""
    created = _manifest(inputs.parent).get("created") if inputs else None
    return created if isinstance(created, str) else ""


def _of_bundle(folder: Path) -> dict[str, Any] | None:
    """Return what the manifest in a bundle says of its commit; None where it has none."""
    git = _manifest(folder).get("git")
    return git if isinstance(git, dict) else None


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        content = read_json(folder / MANIFEST)
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _brought(shop: Workshop) -> set[str]:
    """Return the files of this tree in place of which a bundle has its own."""
    tree = shop.tree
    lists = [tree.layout(shop.profile.layout.name) / name for name in LISTS]
    own = [tree.profiles / f"{shop.profile.name}.toml", tree.geometry(shop.profile.name)]
    return {str(path.relative_to(tree.root)) for path in (*lists, *own)}


def _without(git: dict[str, Any], names: set[str]) -> dict[str, Any]:
    changed = [name for name in git["changed"] if name not in names]
    return {**git, "clean": not changed, "changed": changed}
