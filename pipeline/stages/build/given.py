"""What a build is given in files that are published as they stand: profile, lists, geometry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.digest import digest_file
from pipeline.core.errors import BuildError

if TYPE_CHECKING:
    from pipeline.stages.build.workshop import Workshop

LISTS = ("hot.txt", "cold.txt")
MISSING = "missing"


def note_given(shop: Workshop) -> None:
    """Note what the files are like, where that is not known from the begin of this build."""
    for name, digest in _digests(shop).items():
        shop.given.setdefault(name, digest)


def note_geometry(shop: Workshop) -> None:
    """Note what the geometry is like now that a stage may have written it."""
    path = shop.tree.geometry(shop.profile.name)
    shop.given[_name(shop, path)] = _digest(path)


def refuse_changed(shop: Workshop) -> None:
    """Raise BuildError if a file is not as it was noted: another would be published with it."""
    now = _digests(shop)
    changed = [name for name, digest in shop.given.items() if now.get(name) != digest]
    if changed:
        raise BuildError(
            f"{', '.join(changed)} changed while this build was at work, so the library is not "
            "what would be published with it",
            hint="the same command again builds what is there now",
        )


def _digests(shop: Workshop) -> dict[str, str]:
    tree, profile = shop.tree, shop.profile
    lists = tree.layout(profile.layout.name)
    files = (
        tree.profiles / f"{profile.name}.toml",
        *(lists / name for name in LISTS),
        tree.geometry(profile.name),
    )
    return {_name(shop, path): _digest(path) for path in files}


def _name(shop: Workshop, path: Path) -> str:
    return str(path.relative_to(shop.tree.root))


def _digest(path: Path) -> str:
    return digest_file(path) if path.is_file() else MISSING
