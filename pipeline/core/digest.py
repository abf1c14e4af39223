"""SHA-256 digests of files, folders and plain values: what keys and receipts are made of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any


def digest_file(path: Path) -> str:
    """Return the hex SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def stamp_of(path: Path) -> str:
    """Return what shows every change of a file: nobody can set back the time of its inode."""
    facts = path.stat()
    return f"{facts.st_ino} {facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns}"


def digest_bytes(content: bytes) -> str:
    """Return the hex SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


def digest_value(value: Any) -> str:
    """Return the hex SHA-256 of a value made of JSON types, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def digest_tree(root: Path, names: Iterable[str], suffixes: Collection[str] = ()) -> str:
    """Return one digest over the files and folders ``names`` below ``root``: paths and bytes.

    ``suffixes`` limits it to files that end so, such as ``.c``; none means all files.
    """
    files = (path for name in names for path in source_files(root / name))
    return digest_value(
        {
            str(path.relative_to(root)): digest_file(path)
            for path in files
            if not suffixes or path.suffix in suffixes
        }
    )


def source_files(path: Path) -> list[Path]:
    """Return ``path`` itself, or the files below it in order, without Python's caches."""
    if path.is_file():
        return [path]
    return sorted(p for p in path.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
