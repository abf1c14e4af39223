"""Samples that were taken in: each file a source of the next build's profile, with a weight."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pipeline.core.errors import DataError
from pipeline.core.files import replace_text
from pipeline.core.nested import read_json
from pipeline.core.paths import Tree

SAMPLES, FOR_PGO = "samples.json", "samples.prof"
SCHEMA = 1


@dataclass(frozen=True)
class Source:
    """What the samples of one file say of the library.

    ``samples`` are those inside the library, of the build ``build_id``. ``functions`` has them by
    function. ``edges`` are the lines of BOLT's profile where perf recorded branch stacks. They are
    of the library with the build-id ``edges_of``, as BOLT was given it, and good for that alone.
    """

    file: str
    sha256: str
    weight: float
    event: str
    samples: int
    build_id: str
    functions: dict[str, int]
    edges: tuple[str, ...] = ()
    edges_of: str = ""

    @property
    def kind(self) -> Literal["edges", "functions"]:
        """What the samples tell: which way the code went, or only in which functions it was."""
        return "edges" if self.edges else "functions"


def samples_file(tree: Tree, profile: str) -> Path:
    """Return where the samples of a profile are kept; the file need not exist."""
    return tree.imported(profile) / SAMPLES


def write_sources(path: Path, sources: Sequence[Source]) -> None:
    """Write the sources to ``path``; equal sources are equal bytes."""
    rows = [asdict(one) for one in sources]
    text = json.dumps({"schema_version": SCHEMA, "sources": rows}, indent=1, sort_keys=True)
    replace_text(path, text + "\n")


def read_sources(path: Path) -> tuple[Source, ...]:
    """Return the sources of a file that write_sources wrote; DataError if it is no such file."""
    try:
        said: dict[str, Any] = read_json(path)
        if said["schema_version"] != SCHEMA:
            raise ValueError(f"schema_version is {said['schema_version']}, not {SCHEMA}")
        return tuple(Source(**{**row, "edges": tuple(row["edges"])}) for row in said["sources"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path} cannot be read: {error}",
            hint="remove it, or import the samples again: `.venv/bin/pipeline import perf.data`",
        ) from error
