"""Runs the commands of a recipe and keeps each figure that its table shows."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench.harness import runner
from bench.harness.allocators import REPOSITORY, Allocator
from bench.harness.tables.figures import FIGURES, READERS, Samples
from bench.harness.tables.recipe import Recipe, Run, filled
from pipeline.core.process import run_visible

Kept = dict[str, dict[str, dict[str, list[float]]]]
"""Samples by row, by whose they are, and by figure."""

LIMIT_S = 600.0


class Failed(Exception):
    """A command did not end well and has said why; holds its exit code."""

    def __init__(self, code: int) -> None:
        self.code = code


def measure(recipe: Recipe, tell: Callable[[str], None]) -> Kept:
    """Run everything. Raises Missing before the first run, later Failed or RunFailed.

    ``tell`` gets the name of each row before it runs.
    """
    found: Samples = {}
    ours: str | None = None
    for row, column, words in [part for run in recipe.run for part in _parts(run)]:
        tell(f"{row} {column}".strip() or recipe.title)
        part, ours = _once([*words])
        for place, samples in _named(part, row, column):
            outer, inner = reversed(place) if recipe.turned else place
            found.setdefault(outer, {}).setdefault(inner, []).extend(samples)
    return _figures(recipe, found, ours)


def _parts(run: Run) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield each row and column in turn, and the command with what they add to it."""
    for _ in range(run.repetitions):
        for row, more in (run.rows or {"": ()}).items():
            for column, yet_more in (run.columns or {"": ()}).items():
                yield row, column, filled((*run.command, *yet_more, *more))


def _once(words: list[str]) -> tuple[Samples, str | None]:
    tool = next((word for word in words if word in READERS), None)
    if tool is None:
        return {"": {"": [_of_program(words)]}}, None
    at = words.index(tool)
    with tempfile.TemporaryDirectory(prefix="hakmem-result-") as folder:
        file = Path(folder) / "found.json"
        argv = [*words[:at], str(REPOSITORY / tool), "--json", str(file), *words[at + 1 :]]
        if code := run_visible(argv, cwd=REPOSITORY):
            raise Failed(code)
        return READERS[tool](file)


def _of_program(words: list[str]) -> runner.Sample:
    """Run a program; raise RunFailed also if malloc is not of what `LD_PRELOAD=` among them names.

    A bare name, as of a distribution's library, is found by the dynamic linker.
    """
    named = [word.partition("=")[2] for word in words if word.startswith("LD_PRELOAD=")]
    library = Path(named[-1]) if named and named[-1] else None
    said = runner.run_child(words, {}, timeout_s=LIMIT_S)
    return runner.read_line(said, Allocator("preloaded", library))


def _named(
    part: Samples, row: str, column: str
) -> Iterator[tuple[tuple[str, str], list[runner.Sample]]]:
    """Yield samples by row and column; what the recipe names has that name."""
    for its_row, by_column in part.items():
        for its_column, samples in by_column.items():
            yield (row or its_row, column or its_column), samples


def _figures(recipe: Recipe, found: Samples, ours: str | None) -> Kept:
    kept: Kept = {}
    for row, by_column in found.items():
        for who, figure in recipe.wanted(who for who in by_column if who != ours):
            samples: Sequence[runner.Sample] = by_column.get(who, [])
            pairs = zip(samples, by_column.get(ours or who, samples), strict=True)
            values = [FIGURES[figure].of(sample, base) for sample, base in pairs]
            told = [float(f"{value:.9g}") for value in values if value is not None]
            if told:
                kept.setdefault(row, {}).setdefault(who, {})[figure] = told
    return kept
