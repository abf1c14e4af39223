"""Reads comparisons that bench/compare or bench/programs saved (`report.as_json`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.harness.results import Comparison, RunResult
from bench.harness.runner import Sample
from pipeline.core.errors import UsageError


def read(file: Path) -> Comparison:
    """Return the comparison of a file. Raises UsageError where it is none."""
    try:
        return comparison(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{file} is no saved comparison: {error}",
            hint="name a file that bench/compare or bench/programs wrote by --json or --save",
        ) from error


def comparison(kept: Mapping[str, Any]) -> Comparison:
    """Return the comparison that `report.as_json` made these plain values of."""
    return Comparison(
        kept["ours"],
        tuple(kept["allocators"]),
        tuple(_row(row) for row in kept["rows"]),
        kept["environment"],
        kept["ratios_by"],
        tuple(kept.get("aside", ())),
    )


def _row(row: Mapping[str, Any]) -> RunResult:
    by_name = row["allocators"]
    return RunResult(
        row["name"],
        row["timed"],
        {name: [Sample(one) for one in kept["samples"]] for name, kept in by_name.items()},
        {name: kept["failure"] for name, kept in by_name.items() if kept["failure"]},
        {name: kept["memory_calls"] for name, kept in by_name.items() if kept["memory_calls"]},
    )
