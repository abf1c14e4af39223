"""What the commands of this folder read from their command lines, and refuse at once."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from bench.harness import allocators as allocator_list
from bench.harness.allocators import REPOSITORY, Allocator
from bench.harness.rows import Run

INTERRUPTED = 130
"""Exit code after ctrl-C or SIGTERM."""


class Missing(click.ClickException):
    """A tool or a program that has to be installed or built first."""

    exit_code = 4


OUTPUT = click.Path(dir_okay=False, writable=True, path_type=Path)


def positive(
    _context: click.Context | None, _parameter: click.Parameter | None, value: float
) -> float:
    """Return an option's value, a finite number above 0; raise BadParameter for others."""
    if not (math.isfinite(value) and value > 0):
        raise click.BadParameter(f"{value} is not a number above 0")
    return value


def check_outputs(json_file: Path | None, markdown_file: Path | None) -> None:
    """Raise UsageError where one result would overwrite the other."""
    if json_file and markdown_file and json_file.resolve() == markdown_file.resolve():
        raise click.UsageError(f"--json and --markdown are the same file, {json_file}: name two")


def find_programs(folder: Path | None, runs: Sequence[Run]) -> Path:
    """Return the folder with the built programs; the newest build if none is named.

    Raises Missing if there is none, or if a program of these runs is not in it.
    """
    if folder is None:
        found = sorted(
            (path.parent for path in REPOSITORY.glob("build/*/bench/random_mixed")),
            key=lambda path: (path / "random_mixed").stat().st_mtime,
        )
        folder = found[-1] if found else None
    how = "cmake -S bench -B build/bench/bench && cmake --build build/bench/bench"
    if folder is None:
        raise Missing(f"no benchmark programs are built; do that with\n  {how}")
    lacking = sorted({run.row.program for run in runs if not (folder / run.row.program).is_file()})
    if lacking:
        raise Missing(
            f"{folder} has no program {', '.join(lacking)}; build them with\n"
            f"  cmake --build {_made_in(folder)}"
        )
    return folder


def _made_in(folder: Path) -> Path:
    """Return the build folder that programs in ``folder`` are made in: itself, or the one above."""
    return folder if (folder / "CMakeCache.txt").is_file() else folder.parent


def choose_allocators(
    ours: str | None, peers: Sequence[str], only: bool, newer: bool, also: Sequence[str] = ()
) -> list[Allocator]:
    """Return ours first, then those beside it, then the peers; UsageError for unclear text."""
    try:
        own = [allocator_list.parse(text) for text in ([ours] if ours else [])]
        own += [replace(allocator_list.parse(text), is_peer=False) for text in also]
        named = own + [allocator_list.parse(text) for text in peers]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    names = [allocator.name for allocator in named]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise click.UsageError(f"two allocators are called {twice[0]}: give one another NAME=")
    defaults = [] if only else allocator_list.debian_peers()
    if newer:
        defaults += allocator_list.newer_peers()
    chosen = allocator_list.unique([*own, *defaults, *named])
    if not chosen:
        raise click.UsageError("nothing to compare: no allocators; name one with --ours")
    return chosen


@dataclass(frozen=True)
class Chosen:
    """Who takes part, and the name of the one that the ratios are about, where one is named."""

    allocators: list[Allocator]
    ours: str | None


def takes_allocators(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say who takes part; it gets them as ``chosen``."""

    @click.option("--ours", metavar="NAME=PATH", help="The allocator under test: hakmem=lib.so.")
    @click.option(
        "--also",
        multiple=True,
        metavar="NAME=PATH",
        help="Ours once more, such as with ,VARIABLE=value: shown, but no peer of the ratios.",
    )
    @click.option(
        "--peer",
        "peers",
        multiple=True,
        metavar="NAME=PATH",
        help="A further allocator; NAME= is the C library's; ,VARIABLE=value sets its environment.",
    )
    @click.option("--only", is_flag=True, help="Leave out glibc and the system's packages.")
    @click.option("--newer", is_flag=True, help="Add what bench/peers/build has built.")
    @functools.wraps(command)
    def read(
        *,
        ours: str | None,
        also: tuple[str, ...],
        peers: tuple[str, ...],
        only: bool,
        newer: bool,
        **others: Any,
    ) -> None:
        allocators = choose_allocators(ours, peers, only, newer, also)
        command(chosen=Chosen(allocators, allocators[0].name if ours else None), **others)

    return read
