"""Files in layouts/ that no build reads: a name that is slightly wrong would change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from pipeline.core.errors import ProfileError
from pipeline.core.paths import Tree
from pipeline.core.processor import NAMES
from pipeline.core.spelling import did_you_mean
from pipeline.profile.load import profile_names

ALWAYS = ("hot.txt", "cold.txt", "geometry.toml")
KINDS = tuple(f"geometry-{name}.toml" for name in NAMES)
# What editors and patch leave behind, and words for people.
_HARMLESS = (".*", "*~", "*.orig", "*.rej", "*.md")


def require_known_files(tree: Tree, profile: str) -> None:
    """Raise ProfileError for a file of ``profile``, or one beside the folders, that is not read."""
    for path in _entries(tree.root / "layouts"):
        if not path.is_dir():
            raise ProfileError(
                f"{path}: no build reads a file here: each profile has a folder",
                hint=f"did you mean {tree.layout(profile) / _meant(path.name)}?",
            )
    for path in _entries(tree.layout(profile)):
        if path.name not in (*ALWAYS, *KINDS) or path.is_dir():
            raise ProfileError(
                f"{path}: no build reads that name; those that are read: {', '.join(ALWAYS)}, "
                f"and geometry-CPU.toml, where CPU is one of {', '.join(NAMES)}",
                hint=did_you_mean(path.name, (*ALWAYS, *KINDS), "rename it, or move it away"),
            )


def unread_folders(tree: Tree) -> list[Path]:
    """Return the folders with a geometry that are called like no profile: no build reads it."""
    known = profile_names(tree)
    return [
        folder
        for folder in _entries(tree.root / "layouts")
        if folder.name not in known and any(folder.glob("geometry*.toml"))
    ]


def _entries(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if not any(fnmatch(path.name, harmless) for harmless in _HARMLESS):
            yield path


def _meant(name: str) -> str:
    return name if name in (*ALWAYS, *KINDS) else "geometry.toml"
