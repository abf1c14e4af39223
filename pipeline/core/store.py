"""Artifacts that are either finished or not there.

Each stage works in a private room, a folder whose name begins with ``.tmp-``. When the work is
done and checked, a receipt is written, everything is forced to disk, and one rename gives the room
its final name. A run that is killed leaves a room, never an artifact; the next run clears it away.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from pipeline.core.digest import digest_file, digest_value, stamp_of
from pipeline.core.errors import ArtifactError, SpaceError
from pipeline.core.files import sync, sync_tree
from pipeline.core.receipt import RECEIPT, Notes, Parts, Receipt, read_receipt

ROOM_PREFIX = ".tmp-"
# Artifacts of other keys that stay per stage, so that switching back and forth costs nothing.
KEPT_PER_STAGE = 4

# With less than this left on the disk, in bytes, that is what made a stage fail.
NO_SPACE_BELOW = 8 << 20


@dataclass(frozen=True)
class Artifact:
    """A finished folder with its receipt. ``fresh`` tells that this very run has made it."""

    folder: Path
    receipt: Receipt
    fresh: bool

    def path(self, name: str) -> Path:
        """Return the output ``name``; KeyError if the artifact has no such output."""
        self.receipt.outputs[name]
        return self.folder / name

    def digest(self, name: str) -> str:
        """Return the SHA-256 of the output ``name`` as it was when it was made."""
        return self.receipt.outputs[name]


class Store:
    """The artifacts of one profile, below one folder: ``<stage>/<key>/``."""

    def __init__(self, folder: Path) -> None:
        """Use ``folder``, which need not exist yet."""
        self.folder = folder
        self.used: list[Artifact] = []  # what find and make have returned, in order

    def find(self, stage: str, parts: Parts) -> Artifact | None:
        """Return the finished artifact for this key, if there is one and its outputs are whole."""
        key = digest_value(parts)
        folder = self._place(stage, key)
        receipt = read_receipt(folder)
        if receipt is None or receipt.key != key or not _whole(folder, receipt):
            return None
        os.utime(folder)  # tidy() goes by the time of last use
        return self._used(Artifact(folder, receipt, fresh=False))

    def make(self, stage: str, parts: Parts, work: Callable[[Path], Notes]) -> Artifact:
        """Run ``work`` in a private room and make the room an artifact.

        ``work`` fills the room and returns notes for the receipt. Whatever it raises passes
        through, and the room is removed.
        """
        key = digest_value(parts)
        final = self._place(stage, key)
        room = final.with_name(f"{ROOM_PREFIX}{final.name}")
        discard(room)
        room.mkdir(parents=True)
        started = time.monotonic()
        try:
            notes = work(room)
            seconds = round(time.monotonic() - started, 3)
            outputs = {str(path.relative_to(room)): path for path in _files(room)}
            stamps = {name: stamp_of(path) for name, path in outputs.items()}  # before the digests
            receipt = Receipt(
                stage,
                key,
                dict(parts),
                {name: digest_file(path) for name, path in outputs.items()},
                seconds,
                notes,
                stamps,
            )
            _finish(room, final, receipt)
        except Exception as error:
            _blame_full_disk(room, error)  # now: once the room is gone there is space again
            raise
        finally:
            shutil.rmtree(room, ignore_errors=True)
        return self._used(Artifact(final, receipt, fresh=True))

    def latest(self, stage: str) -> Receipt | None:
        """Return the receipt of the stage's artifact that was used last, whatever its key."""
        for folder in self._by_age(stage):
            receipt = read_receipt(folder)
            if receipt is not None:
                return receipt
        return None

    def clear_rooms(self) -> None:
        """Remove what killed runs have left. Only for the holder of the tree's lock."""
        for room in self.folder.glob(f"*/{ROOM_PREFIX}*"):
            discard(room)

    def tidy(self) -> None:
        """Keep the artifacts used last, a few per stage, and remove older ones.

        What this run has used is the newest whatever the clock says, which may have gone back.
        """
        used = {artifact.folder: number for number, artifact in enumerate(self.used, 1)}
        for stage in self.folder.glob("*"):
            newest = sorted(self._by_age(stage.name), key=lambda p: used.get(p, 0), reverse=True)
            for folder in newest[KEPT_PER_STAGE:]:
                if (folder / RECEIPT).exists():
                    shutil.rmtree(folder, ignore_errors=True)

    def _used(self, artifact: Artifact) -> Artifact:
        self.used.append(artifact)
        return artifact

    def _place(self, stage: str, key: str) -> Path:
        return self.folder / stage / key[:16]

    def _by_age(self, stage: str) -> list[Path]:
        folders = [p for p in (self.folder / stage).glob("[!.]*") if p.is_dir()]
        return sorted(folders, key=lambda p: p.stat().st_mtime, reverse=True)


def discard(room: Path) -> None:
    """Remove a room, or at least its name.

    Compilers of a run that was killed may still be writing in it; then the next run removes it.
    """
    if room.exists():
        fresh = tempfile.mkdtemp(prefix=f"{ROOM_PREFIX}dead-", dir=room.parent)
        dead = room.rename(fresh)
        shutil.rmtree(dead, ignore_errors=True)


def require_content(path: Path, what: str) -> None:
    """Raise ArtifactError unless ``path`` is a file with something in it."""
    if not path.is_file() or path.stat().st_size == 0:
        state = "is empty" if path.is_file() else "was not made"
        raise ArtifactError(f"{what} {state}: {path}", hint="read the log of the stage")


def _blame_full_disk(room: Path, error: Exception) -> None:
    """Raise SpaceError if the disk is full: tools die of that in ways that do not say so."""
    if shutil.disk_usage(room).free < NO_SPACE_BELOW:
        raise SpaceError(
            f"no space left in {room.parent}: {error}",
            hint="free some space; the same command goes on from the last good stage",
            log=getattr(error, "log", None),
        ) from error


def _files(room: Path) -> list[Path]:
    return sorted(path for path in room.rglob("*") if path.is_file())


def _whole(folder: Path, receipt: Receipt) -> bool:
    """Return whether each output is there and has the bytes it had when it was made.

    To hash all of them is a sixth of a build that has nothing to do.
    """
    try:
        written = (folder / RECEIPT).stat().st_ctime_ns
        return all(
            _untouched(folder / name, receipt.stamps.get(name), written)
            or digest_file(folder / name) == digest
            for name, digest in receipt.outputs.items()
        )
    except OSError:
        return False


def _untouched(path: Path, stamp: str | None, written: int) -> bool:
    """Return whether a file is as it was before its receipt was written.

    What changed in that very tick of the clock could change once more, and have the same time.
    """
    return stamp_of(path) == stamp and path.stat().st_ctime_ns < written


def _finish(room: Path, final: Path, receipt: Receipt) -> None:
    text = json.dumps(asdict(receipt), indent=2, sort_keys=True)
    (room / RECEIPT).write_text(text + "\n", encoding="utf-8")
    sync_tree(room)
    shutil.rmtree(final, ignore_errors=True)  # a damaged artifact of the same key
    room.rename(final)
    sync(final.parent)
