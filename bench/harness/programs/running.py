"""Finds or installs the whole programs, prepares their inputs, runs them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from bench.harness.arguments import find_programs
from bench.harness.compare import Plan, compare
from bench.harness.programs.model import Program, ProgramRun, prepare
from bench.harness.results import Comparison
from bench.harness.runner import RunFailed
from bench.harness.servers.command import KINDS, run_kind
from pipeline.apps.packages import missing, provide


def lacking(programs: Sequence[Program]) -> dict[str, list[str]]:
    """Return the Debian packages that are missing, by program."""
    found = {program.name: missing(program) for program in programs}
    return {name: packages for name, packages in found.items() if packages}


def install(programs: Sequence[Program], console: Console) -> None:
    """Install what is missing; raise ClickException where that cannot be."""
    for program in programs:
        with tempfile.TemporaryDirectory(prefix="hakmem-") as folder:
            why = provide(program, Path(folder) / "apt.log", console.print)
        if why:
            raise click.ClickException(f"{program.name}: {why}")


def leave_out(programs: Sequence[Program], console: Console) -> list[Program]:
    """Return the programs that are here; name the others, and the line that installs them."""
    packages = lacking(programs)
    if packages:
        names = sorted({package for some in packages.values() for package in some})
        line = f"apt-get install -y --no-install-recommends {' '.join(names)}"
        console.print(f"left out: {', '.join(packages)}; {line} (or --install)", markup=False)
    return [program for program in programs if program.name not in packages]


@contextmanager
def prepared(
    programs: Sequence[Program], console: Console
) -> Iterator[tuple[list[ProgramRun], dict[str, str]]]:
    """Yield how each program is run, and why some cannot be; their inputs go when this ends."""
    folder = Path(tempfile.mkdtemp(prefix="hakmem-programs-"))
    runs, failures = [], {}
    try:
        for program in programs:
            try:
                runs.append(prepare(program, folder / program.name))
            except RunFailed as error:
                failures[program.name] = str(error)
                console.print(f"{program.name}: {error}", markup=False)
        yield runs, failures
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(
    programs: Sequence[Program], folder: Path | None, plan: Plan, ours: str | None, out: Console
) -> tuple[Comparison, bool]:
    """Run programs and servers; return what was found, and whether all of them could be run."""
    with prepared([program for program in programs if program.run], out) as (runs, failures):
        where = find_programs(folder, runs) if runs else Path()
        found = compare(replace(plan, runs=runs, programs=where), ours, out)
    results = list(found.results)
    servers = [program.name for program in programs if not program.run]
    for name in servers if "interrupted" not in found.environment else ():
        results += run_kind(KINDS[name], plan.allocators, plan.repetitions, plan.scale, out)
    return replace(found, results=tuple(results)), not failures
