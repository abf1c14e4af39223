"""What the commands of this folder read from their command lines, and refuse at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import click

from bench.harness import allocators as allocator_list
from bench.harness.allocators import REPOSITORY, Allocator
from bench.harness.rows import Run

INTERRUPTED = 130
"""Exit code after ctrl-C or SIGTERM."""

OUTPUT = click.Path(dir_okay=False, writable=True, path_type=Path)


def positive(
    _context: click.Context | None, _parameter: click.Parameter | None, value: float
) -> float:
    """Return an option's value, a finite number above 0; raise BadParameter for others."""
    if not (math.isfinite(value) and value > 0):
        raise click.BadParameter(f"{value} is not a number above 0")
    return value


def check_outputs(json_file: Path | None, markdown_file: Path | None) -> None:
    """Raise ClickException where one result would overwrite the other."""
    if json_file and markdown_file and json_file.resolve() == markdown_file.resolve():
        raise click.ClickException(f"--json and --markdown are the same file: {json_file}")


def find_programs(folder: Path | None, runs: Sequence[Run]) -> Path:
    """Return the folder with the built programs; the newest build if none is named.

    Raises ClickException if there is none, or if a program of these runs is not in it.
    """
    if folder is None:
        found = sorted(
            (path.parent for path in REPOSITORY.glob("build/*/bench/random_mixed")),
            key=lambda path: (path / "random_mixed").stat().st_mtime,
        )
        folder = found[-1] if found else None
    how = "cmake -S bench -B build/bench/bench && cmake --build build/bench/bench"
    if folder is None:
        raise click.ClickException(f"no benchmark programs are built; do that with\n  {how}")
    lacking = sorted({run.row.program for run in runs if not (folder / run.row.program).is_file()})
    if lacking:
        raise click.ClickException(
            f"{folder} has no program {', '.join(lacking)}; build them with\n  {how}"
        )
    return folder


def choose_allocators(
    ours: str | None, peers: Sequence[str], only: bool, newer: bool
) -> list[Allocator]:
    """Return ours first, then the peers; raise ClickException for what cannot be read."""
    try:
        named = [allocator_list.parse(text) for text in ([ours] if ours else []) + list(peers)]
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    names = [allocator.name for allocator in named]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise click.ClickException(f"two allocators are called {twice[0]}")
    defaults = [] if only else allocator_list.debian_peers()
    if newer:
        defaults += allocator_list.newer_peers()
    return allocator_list.unique([*named[: 1 if ours else 0], *defaults, *named])
