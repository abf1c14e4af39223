"""``pipeline record``: a program with the recorder preloaded."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.file_options import complete_file, new_file_option
from pipeline.commands.say import say

if TYPE_CHECKING:
    from pipeline.trace.tools import RecorderTools


@click.command(
    "record",
    context_settings={"allow_interspersed_args": False},
    epilog="Example: pipeline record -o app.trace -- ./server --its args",
)
@new_file_option("The trace; it must not exist yet.", required=True)
@click.option("--sites", is_flag=True, help="Also record a hash of each call site (3 bytes).")
@click.option(
    "--sample",
    type=click.IntRange(1, 1 << 20),
    default=1,
    metavar="N",
    help="Record one of N addresses, for long runs.",
)
@click.option(
    "--ring",
    type=click.IntRange(1, 4096),
    metavar="MIB",
    help="Keep the last MIB of each process only.",
)
@click.argument(
    "command", nargs=-1, required=True, type=click.UNPROCESSED, shell_complete=complete_file
)
def record_command(
    output: Path, sites: bool, sample: int, ring: int | None, command: tuple[str, ...]
) -> int:
    """Record what COMMAND and its processes allocate and free.

    COMMAND keeps its input, output and environment, and its exit code is ours. What it recorded
    is readable however it ends. `pipeline trace info FILE` shows what is in it.
    """
    from pipeline.core.paths import Tree
    from pipeline.stages.build.programs import differing_programs
    from pipeline.trace.record import Wishes, record
    from pipeline.trace.tools import recorder_tools

    for line in differing_programs(command):
        click.echo(f"note: {line}", err=True)
    tools = recorder_tools(Tree.here())
    code = record(tools, command, output, Wishes(sites, sample, ring or 0))
    if code:
        click.echo(f"warning: the command ended with exit code {code}", err=True)
    summarise(tools, output)
    return code


def summarise(tools: RecorderTools, output: Path) -> None:
    """Print on stderr what was recorded, lost, and what recording cost."""
    from pipeline.trace.read import busiest, processes
    from pipeline.trace.words import one_line, overhead, size, warnings

    found = processes(tools, output)
    main = found[busiest(found)]
    events = sum(process.about_events for process in found)
    click.echo(
        f"recorded {output}: {len(found)} {'process' if len(found) == 1 else 'processes'}, "
        f"about {events:,} events, "
        f"{size(output.stat().st_size)}, {sum(p.lost for p in found):,} lost",
        err=True,
    )
    click.echo(f"busiest: {one_line(main.name)}; time spent recording: {overhead(main)}", err=True)
    for text in warnings(main):
        click.echo(f"warning: {text}", err=True)
    look = f"look at it: .venv/bin/pipeline trace info {shlex.quote(str(output))}"
    say(look, err=True)
