"""Files that are there complete or as they were: written under another name, then renamed."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pipeline.core.errors import SpaceError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a name beside ``path``; the file that is written there takes the place of ``path``.

    The folder is made if it is not there. After an error, ctrl-C or a kill ``path`` is as it was. A
    link is replaced, not what it points to. Raises SpaceError, which names ``path``, when the
    system refuses.
    """
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
        for left in _left_by_the_dead(path):
            left.unlink(missing_ok=True)
        fresh.unlink(missing_ok=True)
        yield fresh
        if not fresh.is_symlink():
            sync(fresh)
        fresh.replace(path)
    except OSError as error:
        raise SpaceError(f"cannot write {path}: {error.strerror}") from error
    finally:
        with suppress(OSError):
            fresh.unlink()


def _left_by_the_dead(path: Path) -> list[Path]:
    """Return what runs that were killed have left beside ``path``: each one has another name."""
    found = path.parent.glob(f".{glob.escape(path.name)}.[0-9]*")
    numbers = {one: one.name.rpartition(".")[2] for one in found}
    return [
        one
        for one, number in numbers.items()
        if number.isdecimal() and not Path("/proc", number).exists()
    ]


def replace_text(path: Path, text: str) -> None:
    """Write ``text`` by :func:`replacing` to ``path``, or to the file that it is a link to.

    What is there and no file, as a pipe or a terminal, is written to as it is.
    """
    if path.exists() and not path.is_file():
        _write_into(path, text)
        return
    with replacing(path.resolve()) as fresh:
        fresh.write_text(text, encoding="utf-8", errors="backslashreplace")


def _write_into(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except BrokenPipeError:
        raise  # who reads has seen enough
    except OSError as error:
        raise SpaceError(f"cannot write {path}: {error.strerror}") from error


def sync(path: Path) -> None:
    """Force one file or one folder to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Force every file and folder below ``folder`` to disk."""
    for path in [*folder.rglob("*"), folder]:
        if not path.is_symlink():
            sync(path)
