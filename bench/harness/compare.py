"""The command bench/compare: runs rows with allocators, in turn, and compares them."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click
from rich.console import Console

from bench.harness import allocators as allocator_list
from bench.harness import report, syscalls
from bench.harness.allocators import REPOSITORY, Allocator
from bench.harness.results import Comparison, RunResult
from bench.harness.rows import GROUPS, MEMORY, Run, of_traces, select
from bench.harness.runner import RunFailed, measure

_HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


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


def run_one(plan: Plan, run: Run, number: int) -> RunResult:
    """Measure one run with every allocator, in turn and in another order in each repetition."""
    result = RunResult(run.name, timed=run.row not in MEMORY)
    program = plan.programs / run.row.program
    arguments = run.arguments(scale=plan.scale)
    for repetition in range(plan.repetitions):
        for allocator in rotated(plan.allocators, number + repetition):
            if allocator.name in result.failures:
                continue
            try:
                sample = measure(program, arguments, allocator, plan.timeout_s)
                result.samples.setdefault(allocator.name, []).append(sample)
            except RunFailed as error:
                result.failures[allocator.name] = str(error)
    if plan.count_calls:
        _count_calls(plan, result, program, arguments)
    return result


def _count_calls(plan: Plan, result: RunResult, program: Path, arguments: Sequence[str]) -> None:
    for allocator in plan.allocators:
        if allocator.name in result.failures:
            continue
        try:
            counted = syscalls.count_calls(program, arguments, allocator, 10 * plan.timeout_s)
            result.calls[allocator.name] = counted
        except RunFailed as error:
            result.failures[allocator.name] = str(error)


def describe_environment(repetitions: int, scale: float) -> dict[str, object]:
    """Return what a reader must know to judge the numbers."""
    cpu = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "processor": cpu,
        "processors": os.cpu_count(),
        "kernel": platform.release(),
        "libc": " ".join(platform.libc_ver()),
        "transparent huge pages": _huge_pages_setting(),
        "load before": os.getloadavg()[0],
        "repetitions": repetitions,
        "scale": scale,
    }


def _huge_pages_setting() -> str:
    if not _HUGE_PAGES.is_file():
        return "unknown"
    text = _HUGE_PAGES.read_text(encoding="utf-8")
    return text[text.index("[") + 1 : text.index("]")] if "[" in text else "unknown"


@contextmanager
def huge_pages(setting: str | None) -> Iterator[None]:
    """Set transparent huge pages for the whole system while this lasts; needs root."""
    if setting is None:
        yield
        return
    before = _huge_pages_setting()
    try:
        _HUGE_PAGES.write_text(setting, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"--thp needs root: {_HUGE_PAGES}: {error.strerror}") from None
    try:
        yield
    finally:
        _HUGE_PAGES.write_text(before, encoding="utf-8")


def terminal() -> Console:
    """Return the console to print to; a file gets tables of full width."""
    console = Console()
    return console if console.is_terminal else Console(width=200)


def find_programs(folder: Path | None) -> Path:
    """Return the folder with the built programs; the newest build if none is named."""
    if folder is not None:
        return folder
    found = sorted(
        (path.parent for path in REPOSITORY.glob("build/*/bench/random_mixed")),
        key=lambda path: (path / "random_mixed").stat().st_mtime,
    )
    if not found:
        raise click.ClickException(
            "no benchmark programs are built; do that with\n"
            "  cmake -S bench -B build/bench/bench && cmake --build build/bench/bench"
        )
    return found[-1]


def choose_allocators(
    ours: str | None, peers: Sequence[str], only: bool, newer: bool
) -> list[Allocator]:
    """Return ours first, then the peers; raise ClickException for what cannot be read."""
    try:
        chosen = [allocator_list.parse(ours)] if ours else []
        if not only:
            chosen += allocator_list.debian_peers()
        if newer:
            chosen += allocator_list.newer_peers()
        return allocator_list.unique([*chosen, *map(allocator_list.parse, peers)])
    except ValueError as error:
        raise click.ClickException(str(error)) from None


def compare(plan: Plan, ours: str | None, console: Console) -> Comparison:
    """Run the plan, with a line for each run as it ends."""
    environment = describe_environment(plan.repetitions, plan.scale)
    names = tuple(allocator.name for allocator in plan.allocators)
    results: list[RunResult] = []
    for number, run in enumerate(plan.runs):
        result = run_one(plan, run, number)
        results.append(result)
        so_far = Comparison(ours, names, (result,), environment, plan.by)
        cells = [f"{name} {report.short_cell(so_far, result, name)}" for name in names]
        ratio = so_far.time_ratio(result, ours) if ours else None
        tail = f"  ratio {ratio:.2f}" if ratio is not None and result.timed else ""
        console.print(f"{run.name:22} {'  '.join(cells)}{tail}", markup=False, highlight=False)
    return Comparison(ours, names, tuple(results), environment, plan.by)


@click.command(context_settings={"max_content_width": 100})
@click.option("--ours", metavar="NAME=PATH", help="The allocator under test, e.g. hakmem=lib.so.")
@click.option(
    "--peer",
    "peers",
    multiple=True,
    metavar="NAME=PATH",
    help="A further allocator; NAME= is the C library's; ,VARIABLE=value sets its environment.",
)
@click.option("--only", is_flag=True, help="Leave out glibc and the system's packaged allocators.")
@click.option("--newer", is_flag=True, help="Add what bench/peers/build has built.")
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
@click.option("-n", "--repetitions", default=5, show_default=True, type=click.IntRange(1))
@click.option("--scale", default=1.0, show_default=True, help="Factor on every row's operations.")
@click.option("--timeout", default=120.0, show_default=True, help="Seconds for one run.")
@click.option("--programs", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--by",
    type=click.Choice(["wall", "cpu"]),
    default="wall",
    show_default=True,
    help="Ratios of wall time, or of processor time (steadier on a busy machine).",
)
@click.option("--count-calls", is_flag=True, help="Count mmap, madvise, ... in one run by strace.")
@click.option(
    "--thp",
    type=click.Choice(["always", "madvise", "never"]),
    help="Transparent huge pages for the time of the comparison (root).",
)
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write all samples.")
@click.option("--markdown", "markdown_file", type=click.Path(path_type=Path))
@click.option("--list", "only_list", is_flag=True, help="List rows and allocators, run nothing.")
def main(
    *,
    ours: str | None,
    peers: tuple[str, ...],
    only: bool,
    newer: bool,
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
    only_list: bool,
) -> None:
    """Compare allocators: time, processor time and memory, row by row, interleaved."""
    console = terminal()
    try:
        rows = groups or patterns or not traces
        runs = select(groups or ("speed",), patterns, threads) if rows else []
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    runs += of_traces(traces)
    chosen = choose_allocators(ours, peers, only, newer)
    if only_list:
        for run in runs:
            command = f"{run.row.program} {' '.join(run.arguments(scale=scale))}"
            console.print(f"{run.name:22} {command}", markup=False, highlight=False)
        for allocator in chosen:
            console.print(f"{allocator.name:22} {allocator.library or ''}", highlight=False)
        return
    if not chosen or not runs:
        raise click.ClickException("nothing to compare: no allocators or no rows")
    if count_calls and not syscalls.available():
        raise click.ClickException("--count-calls needs strace: apt-get install strace")
    plan = Plan(find_programs(programs), runs, chosen, repetitions, scale, timeout, count_calls, by)
    with huge_pages(thp):
        comparison = compare(plan, chosen[0].name if ours else None, console)
    report.print_tables(comparison, console)
    report.write_files(
        (json_file, report.as_json(comparison)), (markdown_file, report.as_markdown(comparison))
    )
    if report.failures(comparison):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
