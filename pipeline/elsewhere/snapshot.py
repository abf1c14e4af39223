"""The sources of a tree as one value, so that another machine builds from just these."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pipeline.core.digest import digest_bytes, digest_value, source_files
from pipeline.core.paths import BUILT_FROM


@dataclass(frozen=True)
class File:
    """What a file holds, and whether it may be executed."""

    content: bytes
    executable: bool


@dataclass(frozen=True)
class Snapshot:
    """The files of a tree by their names below its root."""

    files: Mapping[str, File]

    @cached_property
    def digest(self) -> str:
        """The digest of all names and bytes."""
        return digest_value(
            {name: [digest_bytes(f.content), f.executable] for name, f in self.files.items()}
        )


def take(root: Path, further: Iterable[Path] = ()) -> Snapshot:
    """Return the sources of the tree ``root``, and those of the files ``further`` that lie in it.

    A link is taken as what it leads to.
    """
    paths = [path for name in BUILT_FROM for path in source_files(root / name)]
    paths += [path for path in further if path.is_relative_to(root)]
    return Snapshot(
        {str(p.relative_to(root)): File(p.read_bytes(), os.access(p, os.X_OK)) for p in paths}
    )


def unpack(snapshot: Snapshot, place: Path) -> Path:
    """Return the folder in ``place`` that has this snapshot; made, unless it is there.

    What was built there before is still there then. Folders of other snapshots are removed.
    """
    folder = place / snapshot.digest[:16]
    for other in place.glob("*"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
    if not folder.exists():
        room = place / f".{folder.name}"
        for name, file in snapshot.files.items():
            target = room / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.content)
            target.chmod(0o755 if file.executable else 0o644)
        room.rename(folder)
    return folder
