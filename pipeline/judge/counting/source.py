"""The one interface of all sources of counts."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from pipeline.judge.counts import CountingSource, LibraryCounts
from pipeline.judge.request import BenchCommand, CacheGeometry


class Source(Protocol):
    """Counts what a preloaded library does in one workload."""

    name: CountingSource
    scope: str

    def count(
        self, bench: BenchCommand, library: Path, geometry: CacheGeometry, log: Path
    ) -> LibraryCounts:
        """Return the counts of ``library`` in ``bench``. Raises WorkloadError or DataError."""
        ...


class Unsupported(Exception):
    """The answer of a source that does not work here; the message says why."""
