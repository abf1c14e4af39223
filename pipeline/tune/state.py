"""Every measurement on disk as soon as it is made: a run that is killed loses none.

A journal of JSON lines. A line is written by one system call and forced to disk; a line that a
crash of the machine has cut short is not read. Results are found by the key of their job, so those
of other sources or another default are never used; they stay until the journal is pruned.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from pipeline.core.errors import SpaceError
from pipeline.core.files import sync
from pipeline.tune.measure import Result

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600


class Journal:
    """The results of all runs so far, by key."""

    def __init__(self, path: Path) -> None:
        """Read ``path``, which need not exist."""
        self.path = path
        self.unreadable = 0
        self._results: dict[str, Result] = {}
        self._whole = True  # whether the file ends with a complete line
        if path.exists():
            self._read(path.read_bytes())
        self._inherited = set(self._results)

    def take_over(self, keys: Iterable[str]) -> int:
        """Return how many of ``keys`` an earlier run has measured; each is counted once."""
        found = self._inherited.intersection(keys)
        self._inherited -= found
        return len(found)

    def __len__(self) -> int:
        return len(self._results)

    def find(self, key: str) -> Result | None:
        """Return the result of the job with this key, if there is one."""
        return self._results.get(key)

    def add(self, result: Result) -> None:
        """Store a result now. Raises SpaceError when it cannot be written."""
        line = result.model_dump_json().encode() + b"\n"
        try:
            self._append(line if self._whole else b"\n" + line)
        except OSError as error:
            raise SpaceError(f"cannot write {self.path}: {error.strerror}") from error
        self._whole = True
        self._results[result.key] = result

    def _read(self, content: bytes) -> None:
        self._whole = content.endswith(b"\n") or not content
        for line in filter(None, content.split(b"\n")):
            try:
                result = Result.model_validate_json(line)
            except ValidationError:
                self.unreadable += 1
            else:
                self._results[result.key] = result

    def _append(self, line: bytes) -> None:
        new = not self.path.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        descriptor = os.open(self.path, flags, PRIVATE_FILE)
        try:
            written = os.write(descriptor, line)
            if written != len(line):
                self._whole = False
                raise OSError(28, "no space left on the device")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if new:
            sync(self.path.parent)
