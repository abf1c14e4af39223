"""Files of a version as a prefix gets them: copied in one step, and known again by their bytes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from pipeline.core.digest import digest_bytes, digest_file
from pipeline.core.files import replacing
from pipeline.core.variant import LIBRARY_NAMES


def is_debug_file(name: str) -> bool:
    """Return whether it is a debug file, which programs that run may still need."""
    return ".build-id" in Path(name).parts


def is_library(name: str) -> bool:
    """Return whether it is a shared library, which comes last and may be executed."""
    return Path(name).name in LIBRARY_NAMES


def put(source: Path, target: Path) -> None:
    """Copy a file or a link under another name, force it to disk, and rename it."""
    with replacing(target) as fresh:
        if source.is_symlink():
            fresh.symlink_to(source.readlink())
        else:
            shutil.copyfile(source, fresh)
            fresh.chmod(_mode(source))


def _mode(source: Path) -> int:
    return 0o755 if is_library(source.name) else 0o644


def is_copy(source: Path, target: Path) -> bool:
    """Return whether a file is already what copying would make of it."""
    if not is_there(target) or target.is_dir() or source.is_symlink() != target.is_symlink():
        return False
    rights = target.is_symlink() or target.stat().st_mode & 0o777 == _mode(source)
    return rights and digest_of(source) == digest_of(target)


def digest_of(path: Path) -> str:
    """Return the digest of a file's bytes, or of where a link points to."""
    return digest_bytes(os.fsencode(path.readlink())) if path.is_symlink() else digest_file(path)


def is_there(path: Path) -> bool:
    """Return whether something has that name, were it a link that leads nowhere."""
    return path.is_symlink() or path.exists()


def drop_empty_folders(folder: Path, root: Path) -> None:
    """Remove folders that are empty now, up to the prefix."""
    while folder != root and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
