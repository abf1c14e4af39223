"""The command bench/servers: each server with each allocator, in turn, and the tables."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click
from rich.console import Console

from bench.harness import options, report
from bench.harness.allocators import Allocator
from bench.harness.arguments import Chosen, check_outputs, takes_allocators
from bench.harness.circumstances import describe_environment
from bench.harness.compare import rotated
from bench.harness.results import RunResult, of_allocators
from bench.harness.runner import RunFailed, Sample
from bench.harness.servers import nginx, postgres, redis
from bench.harness.terminal import terminal
from pipeline.apps.packages import present


@dataclass(frozen=True)
class Kind:
    """A server: what it needs, its rows, and how a session of it is measured."""

    programs: dict[str, str]
    rows: Sequence[str]
    measure: Callable[[Allocator, Path, float], Iterator[tuple[str, Sample]]]


KINDS = {
    "redis": Kind(redis.PROGRAMS, redis.ROWS, redis.measure),
    "nginx": Kind(nginx.PROGRAMS, nginx.ROWS, nginx.measure),
    "postgres": Kind(postgres.PROGRAMS, postgres.ROWS, postgres.measure),
}


def run_kind(
    kind: Kind, allocators: Sequence[Allocator], repetitions: int, scale: float, console: Console
) -> list[RunResult]:
    """Measure a server with every allocator, in turn and in another order in each repetition."""
    results = {row: RunResult(row, timed=row not in redis.UNTIMED) for row in kind.rows}
    for repetition in range(repetitions):
        for allocator in rotated(allocators, repetition):
            if any(allocator.name in result.failures for result in results.values()):
                continue
            try:
                session(kind, allocator, scale, results)
            except RunFailed as error:
                for result in results.values():
                    result.failures.setdefault(allocator.name, str(error))
        done = ", ".join(kind.rows)
        console.print(f"{done}: {repetition + 1} of {repetitions}", highlight=False)
    return list(results.values())


def session(kind: Kind, allocator: Allocator, scale: float, results: dict[str, RunResult]) -> None:
    """Run a server once, in a folder with a short name: unix sockets must fit 108 bytes."""
    folder = Path(tempfile.mkdtemp(prefix="hakmem-servers-", dir="/tmp"))
    folder.chmod(0o777)  # the server may run as another user
    try:
        for row, sample in kind.measure(allocator, folder, scale):
            results[row].samples.setdefault(allocator.name, []).append(sample)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_programs(kinds: Sequence[Kind]) -> None:
    """Refuse to start without the servers and their load generators, with the line that helps."""
    needed = {what: package for kind in kinds for what, package in kind.programs.items()}
    lacking = sorted({package for what, package in needed.items() if not present(what)})
    if lacking:
        names = " ".join(lacking)
        raise click.ClickException(
            f"these packages are missing: {names}. "
            f"`apt-get install -y --no-install-recommends {names}` installs them"
        )


@click.command(context_settings={"max_content_width": 100})
@takes_allocators
@click.option("--server", "names", multiple=True, type=click.Choice(list(KINDS)), help="[all]")
@options.repetitions(3)
@options.scale("every load's length")
@options.by("the server's processor time per request")
@options.samples("all samples")
@options.tables()
def main(
    *,
    chosen: Chosen,
    names: tuple[str, ...],
    repetitions: int,
    scale: float,
    by: Literal["wall", "cpu"],
    json_file: Path | None,
    markdown_file: Path | None,
) -> None:
    """Compare allocators under redis, nginx and PostgreSQL: time, p99 latency and memory."""
    console = terminal()
    kinds = [KINDS[name] for name in names or KINDS]
    check_programs(kinds)
    check_outputs(json_file, markdown_file)
    environment = describe_environment(repetitions, scale)
    results = [
        result
        for kind in kinds
        for result in run_kind(kind, chosen.allocators, repetitions, scale, console)
    ]
    comparison = of_allocators(chosen.ours, chosen.allocators, environment, by, results)
    report.print_tables(comparison, console)
    report.write_files(comparison, (json_file, report.as_json), (markdown_file, report.as_markdown))
    if report.failures(comparison):
        raise SystemExit(1)
