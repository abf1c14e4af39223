"""The command bench/programs: each whole program with each allocator, in turn, and the tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from bench.harness import options, report
from bench.harness.allocators import Allocator
from bench.harness.arguments import OUTPUT, Chosen, check_outputs, takes_allocators
from bench.harness.compare import Plan, exit_code
from bench.harness.programs.model import Program, choose, load_programs
from bench.harness.programs.running import install, lacking, leave_out, measure
from bench.harness.programs.tables import join, tables
from bench.harness.results import Comparison
from bench.harness.servers.command import KINDS
from bench.harness.terminal import print_table, terminal
from pipeline.core.errors import UsageError

EXAMPLES = """\b
Examples:
  bench/programs --ours hakmem=build/clang/lib/libhakmem.so --newer -n 7
  bench/programs --ours hakmem=LIB --also huge=LIB,HAKMEM_HUGE_PAGES=2 \\
    --newer --program 'git-*'
  bench/programs --ours hakmem=LIB --program redis --program postgres \\
    --save servers.json
  bench/programs --ours hakmem=LIB --none --join one.json --join two.json \\
    --markdown all.md
  bench/programs --install        # as root

Exit codes: 0 done, 1 an allocator failed in a program, 2 wrong use, 130 interrupted."""


def as_markdown(found: Comparison) -> str:
    """Return the circumstances and the tables as Markdown."""
    lines = [f"- {key}: {value}" for key, value in found.environment.items()]
    for cells in tables(found):
        lines += ["", *report.markdown_table(cells)]
    return "\n".join([*lines, ""])


def _known() -> list[Program]:
    servers = (Program(name=n, what="a server", needs=k.programs, run="") for n, k in KINDS.items())
    return [*load_programs(), *servers]


def _list(programs: Sequence[Program], allocators: Sequence[Allocator], console: Console) -> None:
    packages = lacking(programs)
    for program in programs:
        here = f"missing: {' '.join(packages[program.name])}" if program.name in packages else ""
        console.print(f"{program.name:16} {program.what:62} {here}", markup=False, highlight=False)
    for allocator in allocators:
        console.print(f"{allocator.name:16} {allocator.library or ''}", highlight=False)


@click.command(context_settings={"max_content_width": 100}, epilog=EXAMPLES)
@takes_allocators
@click.option("--program", "patterns", multiple=True, help="Shell pattern: python-*, redis. [all]")
@click.option("--none", "nothing", is_flag=True, help="Run nothing; only --join.")
@options.repetitions(7)
@options.timeout
@click.option(
    *("--programs", "folder"),
    type=click.Path(file_okay=False, path_type=Path),
    help="Where bench/ is built. [newest in build/]",
)
@click.option(
    *("--join", "earlier"),
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Add the rows of this earlier run, a file of its --save.",
)
@click.option("--save", "--json", "json_file", type=OUTPUT, help="Write all samples as JSON.")
@options.tables()
@click.option(
    "--install", "may_install", is_flag=True, help="First install what is missing (apt-get)."
)
@click.option("--list", "only_list", is_flag=True, help="List programs and allocators, run none.")
def main(
    *,
    chosen: Chosen,
    patterns: tuple[str, ...],
    nothing: bool,
    repetitions: int,
    timeout: float,
    folder: Path | None,
    earlier: tuple[Path, ...],
    json_file: Path | None,
    markdown_file: Path | None,
    may_install: bool,
    only_list: bool,
) -> None:
    """Compare allocators in whole programs: time, memory, page faults, context switches."""
    console = terminal()
    check_outputs(json_file, markdown_file)
    known = _known()
    try:
        names = choose([program.name for program in known], patterns)
        programs = [] if nothing else [program for program in known if program.name in names]
        if only_list:
            _list(programs, chosen.allocators, console)
            return
        if may_install:
            install(programs, console)
        programs = leave_out(programs, console)
        plan = Plan(Path(), (), chosen.allocators, repetitions, 1.0, timeout, False, "cpu")
        found, complete = measure(programs, folder, plan, chosen.ours, console)
        found = join(found, earlier)
    except UsageError as error:
        raise click.UsageError(f"{error.message}\n{error.hint}") from None
    for cells in tables(found):
        print_table(cells, console)
    for line in report.failures(found):
        console.print(f"failed: {line}", markup=False)
    report.write_files(found, (json_file, report.as_json), (markdown_file, as_markdown))
    raise SystemExit(exit_code([found]) or (0 if complete else 1))
