"""The command bench/instructions: executed instructions per operation inside an allocator.

Counted by callgrind in the function bench_measured alone, and attributed by mapped address, so the
benchmark's own loop and the C library are left out. The figures repeat exactly, but where memory
goes back by the clock (docs/benchmarks.md).
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from rich.table import Table

from bench.harness import options
from bench.harness.allocators import Allocator
from bench.harness.arguments import (
    INTERRUPTED,
    Chosen,
    Missing,
    find_programs,
    takes_allocators,
)
from bench.harness.rows import Run, select
from bench.harness.terminal import progress, terminal
from pipeline.core import interrupts
from pipeline.core.errors import PipelineError
from pipeline.core.files import replace_text
from pipeline.judge.counting.valgrind import ValgrindSource
from pipeline.judge.request import BenchCommand, CacheGeometry

GEOMETRY = CacheGeometry(32 * 1024, 8)
"""A common first-level instruction cache; the count of instructions does not depend on it."""

EXAMPLES = """\b
Examples:
  bench/instructions --ours hakmem=build/clang/lib/libhakmem.so
  bench/instructions --ours new=NEW.so --peer old=OLD.so --only \\
    --row 'pingpong-*' --row calloc

Exit codes: 0 done, 1 an allocator failed in a row, or nothing to count, 2 wrong use,
130 interrupted (what was counted is printed and written)."""


@dataclass(frozen=True)
class Counted:
    """What one row executed, per operation."""

    instructions: float
    """Inside the allocator's library."""
    with_program: float
    """Together with the benchmark's loop and the C library."""
    operations: int


Counts = dict[str, dict[str, Counted]]
"""By row, then by allocator."""


def count(
    source: ValgrindSource, run: Run, programs: Path, allocator: Allocator, logs: Path
) -> Counted:
    """Count one row with one allocator; raise PipelineError with what went wrong."""
    program = programs.absolute() / run.row.program
    command = (str(program), *run.arguments(ops=run.row.count_ops))
    bench = BenchCommand(run.row.name, command, env=allocator.variables)
    assert allocator.library is not None  # libc's own cannot be told apart from the rest of libc
    found = source.count(bench, allocator.library, GEOMETRY, logs / f"{allocator.name}.log")
    assert found.instructions is not None  # valgrind always counts them
    assert found.total_instructions is not None
    return Counted(found.instructions.value, found.total_instructions.value, found.operations)


def table_of(counts: Counts, names: list[str]) -> Table:
    """Return rows x allocators: instructions in the library per operation."""
    table = Table("instructions per operation", *names, header_style="bold")
    for column in table.columns[1:]:
        column.justify = "right"
    for row, found in counts.items():
        cells = [f"{found[name].instructions:.1f}" if name in found else "-" for name in names]
        table.add_row(row, *cells)
    return table


def _reason(error: PipelineError, log: Path) -> str:
    if log.is_file() and "abbrev" in log.read_text(encoding="utf-8", errors="replace"):
        return "valgrind cannot read its debug information: compile it with -gdwarf-4, or strip it"
    return error.message.splitlines()[0]


def count_all(
    runs: list[Run],
    allocators: list[Allocator],
    source: ValgrindSource,
    programs: Path,
    tell: Callable[[str], None],
) -> tuple[Counts, list[str]]:
    """Count every row with every allocator; return that and one line for each that failed.

    ``tell`` gets the name of each row before it is counted. Ctrl-C and SIGTERM end it early.
    """
    counts: Counts = {}
    failures = []
    with tempfile.TemporaryDirectory(prefix="hakmem-instructions-") as folder:
        try:
            for run in runs:
                tell(run.row.name)
                counts[run.row.name] = {}
                for allocator in allocators:
                    try:
                        counted = count(source, run, programs, allocator, Path(folder))
                        counts[run.row.name][allocator.name] = counted
                    except PipelineError as error:
                        why = _reason(error, Path(folder) / f"{allocator.name}.log")
                        failures.append(f"{run.row.name}: {allocator.name}: {why}")
        except KeyboardInterrupt:
            failures.append("interrupted")
    return counts, failures


@click.command(context_settings={"max_content_width": 100}, epilog=EXAMPLES)
@takes_allocators
@click.option("--row", "patterns", multiple=True, help="Shell pattern: pingpong-*, calloc, ...")
@options.programs
@options.samples("the counts")
def main(
    *,
    chosen: Chosen,
    patterns: tuple[str, ...],
    programs: Path | None,
    json_file: Path | None,
) -> None:
    """Count the instructions that an allocator executes per operation, row by row."""
    console = terminal()
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise Missing("valgrind is needed: apt-get install valgrind libc6-dbg")
    try:
        runs = [run for run in select(("speed",), patterns, (1,)) if run.row.count_ops]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    counted = [allocator for allocator in chosen.allocators if allocator.library]
    if not counted or not runs:
        raise click.ClickException(
            "nothing to count: name an allocator by --ours, or other rows by --row"
        )
    source = ValgrindSource(Path(valgrind))
    folder = find_programs(programs, runs)
    with progress() as tell:
        counts, failures = count_all(
            runs, counted, source, folder, lambda row: tell(f"counting {row}")
        )
    console.print(table_of(counts, [allocator.name for allocator in counted]))
    if json_file:
        plain = {
            row: {name: asdict(one) for name, one in found.items()} for row, found in counts.items()
        }
        replace_text(json_file, json.dumps(plain, indent=1))
    if "interrupted" in failures:
        raise SystemExit(INTERRUPTED)
    if failures:
        raise click.ClickException("\n".join(failures))


if __name__ == "__main__":
    interrupts.install()
    main(prog_name="bench/instructions")
