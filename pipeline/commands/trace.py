"""``pipeline trace``: looking at traces, and making traces from traces."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.file_options import (
    EXISTING_FILE,
    OUTPUT_FILE,
    new_file_option,
    require_folder,
)
from pipeline.core.files import replace_text, replacing

if TYPE_CHECKING:
    from pipeline.trace.read import Process
    from pipeline.trace.tools import RecorderTools

# Lines of a list of processes; a script may start hundreds.
SHOWN_PROCESSES = 12

_file = click.argument("file", type=EXISTING_FILE)
_output = new_file_option("The new trace; it must not exist yet.", required=True)
_process = click.option(
    "--process",
    type=click.IntRange(0),
    metavar="N",
    help="Process number N of the file, instead of the one with the most events.",
)


class _Traces(click.Group):
    """The commands; a file where one of them is expected gets the command that was meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; UsageError, with `info` in front, if the word is a file."""
        from pipeline.core.errors import UsageError

        if args[0] not in self.commands and Path(args[0]).is_file():
            raise UsageError(
                f"{args[0]} is a file, and a command has to stand before it",
                hint=f"`.venv/bin/pipeline trace info {shlex.quote(args[0])}` shows what is in it",
            )
        return super().resolve_command(ctx, args)


@click.group("trace", cls=_Traces)
def trace_command() -> None:
    """Look at traces; cut, merge, join, anonymise them."""


@trace_command.command(
    "info",
    short_help="Show counts, sizes, how long blocks live, memory over time.",
    epilog="Example: pipeline trace info app.trace --html app.html",
)
@_file
@_process
@click.option(
    "--html",
    type=OUTPUT_FILE,
    callback=require_folder,
    metavar="OUT",
    help="Write a page with plots instead.",
)
def info_command(file: Path, process: int | None, html: Path | None) -> None:
    """Show counts, sizes, how long blocks live, memory over time and threads of a trace."""
    from pipeline.core.output import room
    from pipeline.trace.read import processes, read
    from pipeline.trace.statistics import statistics
    from pipeline.trace.text import render

    tools = _tools()
    found = processes(tools, file)
    statistic = statistics(read(tools, file, process))
    if html is not None:
        from pipeline.trace.html import render_page

        replace_text(html, render_page(file.name, found, statistic))
        click.echo(f"wrote {html}")
        return
    for line in _process_lines(found):
        click.echo(line)
    click.echo(render(statistic, room()), nl=False)


@trace_command.command(
    "cut", epilog="Example: pipeline trace cut app.trace --last 100000 -o a.trace"
)
@_file
@_output
@_process
@click.option(
    "--first",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="From event N on; the first is 0.",
)
@click.option(
    "--last", type=click.IntRange(0), required=True, metavar="N", help="Up to event N, and with it."
)
def cut_command(file: Path, output: Path, process: int | None, first: int, last: int) -> None:
    """Keep a range of events of one process.

    Objects that are alive at its beginning are allocated first, so that the range makes sense.
    """
    from pipeline.core.errors import UsageError
    from pipeline.trace.read import change, choose, processes

    if last < first:
        raise UsageError(
            f"--last {last} lies before --first {first}",
            hint="give the range as --first FROM --last TO; without --first it begins at 0",
        )
    tools = _tools()
    found = processes(tools, file)
    number = choose(file, found, process)
    with replacing(output) as fresh:
        change(tools, "cut", file, str(number), str(first), str(last), fresh)
        if processes(tools, fresh)[0].sealed_events == 0:
            raise UsageError(
                f"{file} ends before event {first:,}",
                hint=f"its process {number} has about {found[number].about_events:,} events",
            )
    _say_what(tools, output)


@trace_command.command(
    "merge",
    short_help="Make one process of all, threads side by side.",
    epilog="Example: pipeline trace merge worker*.trace -o all.trace",
)
@click.argument("files", nargs=-1, required=True, type=EXISTING_FILE)
@_output
def merge_command(files: tuple[Path, ...], output: Path) -> None:
    """Make one process of all: their threads side by side, in the order of their clocks."""
    from pipeline.trace.read import change

    tools = _tools()
    with replacing(output) as fresh:
        change(tools, "merge", fresh, *files)
    _say_what(tools, output)


@trace_command.command(
    "join",
    short_help="Put traces, or parts of a recording, into one file.",
    epilog="Example: pipeline trace join -o app.trace app.trace.parts",
)
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@_output
def join_command(paths: tuple[Path, ...], output: Path) -> None:
    """Put traces, or the parts of a recording that did not end, into one file."""
    from pipeline.trace.read import processes
    from pipeline.trace.record import join

    files = [f for p in paths for f in (sorted(p.iterdir()) if p.is_dir() else [p])]
    tools = _tools()
    for file in files:
        processes(tools, file)  # names the file that is not a trace
    join(files, output)
    _say_what(tools, output)
    for folder in (path for path in paths if path.is_dir()):
        click.echo(f"{folder} is not needed any more")


@trace_command.command(
    "anonymise",
    short_help="Leave out what tells of people and places; sizes stay.",
    epilog="Example: pipeline trace anonymise a.trace -o b.trace",
)
@_file
@_output
def anonymise_command(file: Path, output: Path) -> None:
    """Leave out command lines, addresses, call sites, times and process numbers. Sizes stay."""
    _change(_tools(), output, "anonymise", file)


def _tools() -> RecorderTools:
    from pipeline.core.paths import Tree
    from pipeline.trace.tools import recorder_tools

    return recorder_tools(Tree.here())


def _change(tools: RecorderTools, output: Path, command: str, *arguments: str | Path) -> None:
    from pipeline.trace.read import change

    with replacing(output) as fresh:
        change(tools, command, *arguments, fresh)
    _say_what(tools, output)


def _say_what(tools: RecorderTools, output: Path) -> None:
    from pipeline.trace.read import processes

    for line in _process_lines(processes(tools, output), always=True):
        click.echo(line)


def _process_lines(found: list[Process], always: bool = False) -> list[str]:
    """Return a line for each process if there are several; of many, the busiest."""
    from pipeline.core.output import room
    from pipeline.report.text import short

    if len(found) < 2 and not always:
        return []
    by_events = sorted(enumerate(found), key=lambda row: -row[1].about_events)
    rest = len(found) - SHOWN_PROCESSES
    width, columns = len(str(len(found) - 1)), room()
    return [
        *(
            _with_name(
                f"process {number:>{width}}  about {short(process.about_events):>6} events  ",
                process.name,
                columns,
            )
            for number, process in by_events[:SHOWN_PROCESSES]
        ),
        *([f"and {rest} smaller ones" if rest > 1 else "and a smaller one"] if rest > 0 else []),
        *([] if always else [""]),
    ]


def _with_name(figures: str, name: str, width: int) -> str:
    """Return the line of a process with the beginning of its command line, as far as it fits."""
    from pipeline.trace.words import NAME_WIDTH, one_line

    return f"{figures}{one_line(name, min(NAME_WIDTH, width - len(figures)))}"
