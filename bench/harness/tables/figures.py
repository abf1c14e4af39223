"""Figures of a table by name, and how they follow from what a command of bench/ has written."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.harness import kept, report
from bench.harness.runner import RunFailed, Sample

Samples = dict[str, dict[str, list[Sample]]]
"""By row, then by column."""


@dataclass(frozen=True)
class Figure:
    """How a figure follows from a sample, given ours of the same turn; its decimal places."""

    of: Callable[[Sample, Sample], float]
    digits: int


def _value(key: str, digits: int) -> Figure:
    return Figure(lambda sample, _: sample.values[key], digits)


FIGURES = {
    "ns": Figure(lambda sample, _: sample.cpu_ns_per_op, 1),
    "ratio": Figure(lambda sample, ours: sample.cpu_ns_per_op / ours.cpu_ns_per_op, 2),
    "us": Figure(lambda sample, _: sample.cpu_ns_per_op / 1000, 1),
    "MiB": Figure(lambda sample, _: sample.peak_rss_kib / 1024, 1),
    "instructions": _value("instructions", 1),
    "recorded": _value("cpu_ratio", 2),
    "events": _value("events", 0),
    "bytes": _value("bytes_per_event", 2),
}
"""Times are processor time; a ratio is that to ours within a turn."""


def of_comparison(file: Path) -> tuple[Samples, str | None]:
    """Return what bench/compare wrote, and who is ours. Raises RunFailed where something failed."""
    found = kept.read(file)
    if failed := report.failures(found):
        raise RunFailed("\n".join(failed))
    return {row.name: row.samples for row in found.results}, found.ours


def of_instructions(file: Path) -> tuple[Samples, None]:
    """Return what bench/instructions wrote."""
    counted = json.loads(file.read_text(encoding="utf-8"))
    return {
        row: {name: [Sample(one)] for name, one in found.items()} for row, found in counted.items()
    }, None


def of_recording(file: Path) -> tuple[Samples, None]:
    """Return what bench/recorded wrote; the row is named by the recipe."""
    pairs = json.loads(file.read_text(encoding="utf-8"))
    return {"": {"recorded": [Sample(pair) for pair in pairs]}}, None


READERS: dict[str, Callable[[Path], tuple[Samples, str | None]]] = {
    "bench/compare": of_comparison,
    "bench/instructions": of_instructions,
    "bench/recorded": of_recording,
}
"""By the command that wrote the file."""
