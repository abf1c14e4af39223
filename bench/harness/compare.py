"""The command bench/compare: runs rows with allocators, in turn, and compares them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import click
from rich.console import Console

from bench.harness import options, report, saved, syscalls
from bench.harness.allocators import Allocator, copied
from bench.harness.arguments import (
    INTERRUPTED,
    Chosen,
    Missing,
    check_outputs,
    find_programs,
    takes_allocators,
)
from bench.harness.circumstances import busy_note, describe_environment, huge_pages, today
from bench.harness.results import Comparison, RunResult, of_allocators
from bench.harness.rows import GROUPS, MEMORY, Run, of_traces, select
from bench.harness.runner import RunFailed, measure, warm_memory
from bench.harness.tables import standing
from bench.harness.terminal import terminal
from pipeline.core import interrupts

EXAMPLES = """\b
Examples:
  bench/compare --ours hakmem=build/clang/lib/libhakmem.so \\
    --row 'random-*' --by cpu
  bench/compare --ours new=NEW.so --peer old=OLD.so --only \\
    -n 11 --scale 0.2 --json new.json
  bench/compare --ours hakmem=LIB --peer at-once=LIB,HAKMEM_PURGE_DELAY=0 \\
    --group memory

Exit codes: 0 done, 1 an allocator failed in a row, 2 wrong use, 4 a tool is missing,
130 interrupted (what was measured is printed and written)."""


@dataclass(frozen=True)
class Plan:
    """What to run, how often and with whom."""

    programs: Path
    runs: Sequence[Run]
    allocators: Sequence[Allocator]
    repetitions: int
    scale: float
    timeout_s: float
    count_calls: bool
    by: Literal["wall", "cpu"]


def rotated(items: Sequence[Allocator], by: int) -> list[Allocator]:
    """Return the items in order, beginning with another one each time."""
    shift = by % len(items)
    return [*items[shift:], *items[:shift]]


def run_one(plan: Plan, run: Run, number: int, result: RunResult) -> None:
    """Measure one run with every allocator, in turn and in another order in each repetition.

    An interrupt leaves in ``result`` what was measured until then.
    """
    program = plan.programs / run.row.program
    arguments = run.arguments(scale=plan.scale)
    for repetition in range(plan.repetitions):
        for allocator in rotated(plan.allocators, number + repetition):
            if allocator.name in result.failures:
                continue
            try:
                warm_memory(run.row.warm_mib)
                sample = measure(program, arguments, allocator, plan.timeout_s)
                result.samples.setdefault(allocator.name, []).append(sample)
            except RunFailed as error:
                result.failures[allocator.name] = str(error)
    if plan.count_calls:
        _count_calls(plan, result, program, arguments)


def _count_calls(plan: Plan, result: RunResult, program: Path, arguments: Sequence[str]) -> None:
    for allocator in plan.allocators:
        if allocator.name in result.failures:
            continue
        try:
            counted = syscalls.count_calls(program, arguments, allocator, 10 * plan.timeout_s)
            result.calls[allocator.name] = counted
        except RunFailed as error:
            result.failures[allocator.name] = str(error)


def compare(
    plan: Plan,
    ours: str | None,
    console: Console,
    keep: Callable[[Comparison], None] = lambda _: None,
) -> Comparison:
    """Run the plan, with a line for each run as it ends.

    ``keep`` gets what there is after each run, so that nothing is lost when this process is killed.
    Ctrl-C and SIGTERM end it early: the result is then marked as interrupted.
    """
    environment = describe_environment(plan.repetitions, plan.scale)
    found = of_allocators(ours, plan.allocators, environment, plan.by)
    results: list[RunResult] = []
    try:
        for number, run in enumerate(plan.runs):
            results.append(RunResult(run.name, timed=run.row not in MEMORY))
            run_one(plan, run, number, results[-1])
            _print_progress(replace(found, results=(results[-1],)), console)
            keep(replace(found, results=tuple(results)))
    except KeyboardInterrupt:
        environment["interrupted"] = True
        console.print(f"interrupted in row {len(results)} of {len(plan.runs)}", style="bold")
    begun = tuple(result for result in results if result.samples or result.failures)
    found = replace(found, results=begun)
    if "interrupted" in environment:
        keep(found)
    return found


def _print_plan(plan: Plan, ours: str | None, console: Console) -> None:
    """Say how much is to come: all rows take many minutes."""
    sizes = f"rows: {len(plan.runs)}, allocators: {len(plan.allocators)}"
    sizes += f", runs of each: {plan.repetitions}"
    without = "" if ours else "; no ratios without --ours NAME=PATH"
    console.print(
        f"{sizes}; ctrl-C ends it with what was measured{without}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def _print_progress(found: Comparison, console: Console) -> None:
    (result,) = found.results
    cells = [f"{name} {report.short_cell(found, result, name)}" for name in found.allocators]
    ratio = found.time_ratio(result, found.ours) if found.ours else None
    tail = f"  ratio {ratio:.2f}" if ratio is not None and result.timed else ""
    console.print(f"{result.name:22} {'  '.join(cells)}{tail}", markup=False, highlight=False)


def exit_code(found: Collection[Comparison]) -> int:
    """Return that of a command that found this: 0, 1 if something failed, 130 if interrupted."""
    if any("interrupted" in comparison.environment for comparison in found):
        return INTERRUPTED
    return 1 if any(report.failures(comparison) for comparison in found) else 0


def _print_list(
    runs: Sequence[Run], allocators: Sequence[Allocator], scale: float, console: Console
) -> None:
    for run in runs:
        command = f"{run.row.program} {' '.join(run.arguments(scale=scale))}"
        console.print(f"{run.name:22} {command}", markup=False, highlight=False)
    for allocator in allocators:
        console.print(f"{allocator.name:22} {allocator.library or ''}", highlight=False)


@click.command(context_settings={"max_content_width": 100}, epilog=EXAMPLES)
@takes_allocators
@click.option("--group", "groups", multiple=True, type=click.Choice(list(GROUPS)), help="[speed]")
@click.option("--row", "patterns", multiple=True, help="Shell pattern: random-*, calloc/1t, ...")
@click.option(
    "--trace",
    "traces",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Play this recorded trace; without --group and --row nothing else.",
)
@click.option("--threads", multiple=True, type=int, help="Only rows with so many threads.")
@options.repetitions(5)
@options.scale("every row's operations")
@options.timeout
@options.programs
@options.by("processor time (steadier on a busy machine)")
@click.option("--count-calls", is_flag=True, help="Count mmap, madvise, ... in one run by strace.")
@click.option(
    "--thp",
    type=click.Choice(["always", "madvise", "never"]),
    help="Transparent huge pages for the time of the comparison (root).",
)
@options.samples("all samples, anew after each row")
@options.tables()
@click.option("--save", "keep_it", is_flag=True, help="Keep JSON and a page in docs/results/.")
@click.option("--list", "only_list", is_flag=True, help="List rows and allocators, run nothing.")
def main(
    *,
    chosen: Chosen,
    groups: tuple[str, ...],
    patterns: tuple[str, ...],
    traces: tuple[Path, ...],
    threads: tuple[int, ...],
    repetitions: int,
    scale: float,
    timeout: float,
    programs: Path | None,
    by: Literal["wall", "cpu"],
    count_calls: bool,
    thp: str | None,
    json_file: Path | None,
    markdown_file: Path | None,
    keep_it: bool,
    only_list: bool,
) -> None:
    """Compare allocators: time, processor time and memory, row by row, interleaved."""
    console = terminal()
    try:
        rows = groups or patterns or not traces
        runs = select(groups or ("speed",), patterns, threads) if rows else []
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    runs += of_traces(traces)
    if only_list:
        _print_list(runs, chosen.allocators, scale, console)
        return
    if not runs:
        raise click.UsageError("no row has so many threads; --list shows them")
    if count_calls and not syscalls.available():
        raise Missing("--count-calls needs strace: apt-get install strace")
    check_outputs(json_file, markdown_file)
    programs = find_programs(programs, runs)
    place = saved.new_place(*today()) if keep_it else None

    def keep(found: Comparison) -> None:
        report.write_files(found, (json_file, report.as_json), (markdown_file, report.as_markdown))
        if place:
            saved.save(found, place)

    load = os.getloadavg()[0]
    with huge_pages(thp), copied(chosen.allocators) as allocators:
        plan = Plan(programs, runs, allocators, repetitions, scale, timeout, count_calls, by)
        _print_plan(plan, chosen.ours, console)
        comparison = compare(plan, chosen.ours, console, keep)
    report.print_tables(comparison, console)
    if note := busy_note(load):
        console.print(note, markup=False, highlight=False, soft_wrap=True)
    if place:
        console.print(f"saved {place} and {place.with_suffix('.md').name}", soft_wrap=True)
        console.print(standing.how_to_add(comparison), soft_wrap=True)
    raise SystemExit(exit_code([comparison]))


if __name__ == "__main__":
    interrupts.install()
    main(prog_name="bench/compare")
