"""Samples of many files, taken in for the next build of a profile."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import ChildError, DataError
from pipeline.core.files import replace_text
from pipeline.core.paths import Tree
from pipeline.core.process import run
from pipeline.fleet.convert import Converted, Tools, convert
from pipeline.fleet.counts import LIMIT_S
from pipeline.fleet.merging import Given, whole_factors
from pipeline.fleet.sources import FOR_PGO, Source, samples_file, write_sources


@dataclass(frozen=True)
class TakenIn:
    """What came of it: the file, its sources, what was skipped and why.

    ``for_pgo`` is None where llvm-profgen could tell nothing of any file.
    """

    path: Path
    sources: tuple[Source, ...]
    skipped: tuple[str, ...]
    for_pgo: Path | None


def take_in_samples(tree: Tree, tools: Tools, profile: str, files: Sequence[Given]) -> TakenIn:
    """Convert ``files`` and keep them in place of what was imported before.

    A file that cannot be used is skipped, with the reason. DataError if none is left; what was
    imported before stays as it was then.
    """
    good: list[Converted] = []
    refused: list[DataError] = []
    for given in files:
        try:
            good.append(convert(tree, tools, profile, given))
        except DataError as error:
            refused.append(error)
    if not good:
        raise (
            refused[0]
            if len(refused) == 1
            else DataError(
                "none of the samples can be used:\n  " + "\n  ".join(e.message for e in refused),
                hint=refused[0].hint,
            )
        )
    path = samples_file(tree, profile)
    text = _for_pgo(tools, good)
    sources = tuple(one.source for one in good)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_sources(path, sources)
    for_pgo = path.with_name(FOR_PGO)
    if text:
        replace_text(for_pgo, text)
    else:
        for_pgo.unlink(missing_ok=True)
    skipped = tuple(error.message for error in refused)
    return TakenIn(path, sources, skipped, for_pgo if text else None)


def _for_pgo(tools: Tools, good: Sequence[Converted]) -> str:
    """Return all samples by source line, each file by its weight, as LLVM's text."""
    with tempfile.TemporaryDirectory(prefix="hakmem-") as folder:
        files = {}
        for number, one in enumerate(good):
            if one.for_pgo:
                path = Path(folder) / f"{number}.prof"
                path.write_text(one.for_pgo, encoding="utf-8")
                files[path] = (one.source.weight, float(one.source.samples))
        if not files:
            return ""
        factors = whole_factors(files)
        least = math.gcd(*factors.values())
        inputs = [f"-weighted-input={n // least},{path}" for path, n in factors.items()]
        output = Path(folder) / FOR_PGO
        try:
            run(
                [tools.llvm / "llvm-profdata", "merge", "-sample", "-text", *inputs, "-o", output],
                timeout_s=LIMIT_S,
            )
        except ChildError as error:
            raise DataError(
                f"the samples cannot be merged: {error.message}",
                hint="`.venv/bin/pipeline doctor` shows which LLVM is taken",
            ) from error
        return output.read_text(encoding="utf-8")
