"""``pipeline sample``: what the library costs a process, and what samples of perf say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.file_options import new_file_option
from pipeline.commands.options import Finite

if TYPE_CHECKING:
    from pipeline.fleet.merging import Given
    from pipeline.fleet.samples import Shares

SHOWN_FUNCTIONS = 12


@click.command("sample", epilog="Example: pipeline sample --pid 4711 --seconds 30 -o perf.data")
@click.option("--pid", type=click.IntRange(1), required=True, metavar="PID", help="The process.")
@click.option(
    "--seconds",
    type=Finite(0.1, 3600),
    default=10.0,
    show_default=True,
    metavar="N",
    help="How long.",
)
@new_file_option("What perf writes.", default=Path("perf.data"), show_default=True)
def sample_command(pid: int, seconds: float, output: Path) -> None:
    """Show what the library costs a running process, by perf.

    The process goes on at full speed. With branch stacks perf also sees where branches go.
    """
    from pipeline.fleet.merging import Given
    from pipeline.fleet.samples import require_busy, require_process, sample

    require_process(pid)
    perf = find_perf()
    click.echo(f"sampling process {pid} for {seconds:g} s", err=True)
    kind = sample(perf, pid, seconds, output)
    require_busy(perf, pid, seconds, output)
    click.echo(f"sampled process {pid} for {seconds:g} s by {kind}: {output}")
    show_samples([Given(output)])


def show_samples(files: Sequence[Given]) -> None:
    """Print what samples say about the library, file by file and together by weight.

    A file that perf cannot read is named and skipped; DataError if all are like that.
    """
    from pipeline.core.errors import DataError
    from pipeline.fleet.samples import together

    perf, read = find_perf(), []
    for given in files:
        try:
            read.append((given.weight, _show(perf, given.path)))
        except DataError as error:
            click.echo(f"skipped: {error.message}", err=True)
    if not read:
        raise DataError(
            "no file has samples that can be read",
            hint="name .profraw, .profdata or .fdata files, or data of perf",
        )
    if len(read) > 1:
        share, functions = together(read)
        click.echo(f"together, by weight: {100 * share:.1f} % in libhakmem")
        _show_functions(functions)


def _show(perf: Path, data: Path) -> Shares:
    from pipeline.fleet.samples import read_samples, shares

    found = read_samples(perf, data)
    share = f" ({100 * found.inside / found.total:.1f} %)" if found.total else ""
    click.echo(f"{data}: {found.total:,} samples, {found.inside:,} in libhakmem{share}")
    if found.library is None:
        click.echo("the process did not run with libhakmem, or was not busy in it")
    result = shares(found)
    if result.unknown:
        click.echo(f"functions are unknown: {result.unknown}")
    _show_functions(result.functions)
    return result


def _show_functions(functions: Mapping[str, float]) -> None:
    total = sum(functions.values())
    for name, share in sorted(functions.items(), key=lambda row: -row[1])[:SHOWN_FUNCTIONS]:
        click.echo(f"  {100 * share / total:5.1f} %  {name}")


def find_perf() -> Path:
    """Return perf; ToolError if the machine has none."""
    import shutil

    from pipeline.core.errors import ToolError

    found = shutil.which("perf")
    if found is None:
        raise ToolError("there is no perf", hint="`apt-get install linux-perf`")
    return Path(found)
