"""Files that are there complete or as they were: written under another name, then renamed."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pipeline.core.errors import SpaceError, UsageError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a name beside ``path``; the file that is written there takes the place of ``path``.

    The folder is made if it is not there. After an error, ctrl-C or a kill ``path`` is as it was. A
    link is replaced, not what it points to. Raises SpaceError, which names ``path``, when the
    system refuses, and UsageError for a device or a pipe: root would put a file in its place.
    """
    if is_special(path):
        raise UsageError(f"{path} is no file", hint="name a file, which may be there or not")
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


def is_special(path: Path) -> bool:
    """Return whether a path leads to something that is neither file nor folder: a device, a pipe.

    Such a thing is written to as it is: /dev/stdout, /dev/null, a shell's ``>(...)``.
    """
    return path.exists() and not path.is_file() and not path.is_dir()


def replace_text(path: Path, text: str) -> None:
    """Write ``text`` by :func:`replacing` to ``path``, or to the file that it is a link to.

    What is there and no file, as a pipe or a terminal, is written to as it is.
    """
    replace_bytes(path, text.encode("utf-8", errors="backslashreplace"))


def replace_bytes(path: Path, body: bytes, mode: int = 0o666) -> None:
    """Write bytes the same way; ``mode`` says who may read the file, as far as the umask lets."""
    if path.exists() and not path.is_file():
        _write_into(path, body)
        return
    with replacing(path.resolve()) as fresh:
        fresh.touch(mode)
        fresh.write_bytes(body)


def _write_into(path: Path, body: bytes) -> None:
    try:
        path.write_bytes(body)
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
