"""``pipeline versus``: two libraries, each with variables of its own, against each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.file_options import complete_file, output_option
from pipeline.commands.options import budget_option, verbose_option
from pipeline.commands.profile_options import any_profile_option
from pipeline.commands.versions import complete_qualified, complete_version

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from pipeline.core.console import BuildConsole
    from pipeline.core.paths import Tree
    from pipeline.judge.request import JudgeRequest
    from pipeline.versus.compare import Effort, Timed
    from pipeline.versus.model import VersusResult


# It moves the stack by up to a page. Whoever pastes a line does without; logs have all of it.
_PADDING = re.compile(r"JUDGE_PADDING=\S* ")


def complete_side(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str | CompletionItem]:
    """Return versions, `current` and profiles for shell completion; paths are the shell's own."""
    if "/" in incomplete or incomplete.startswith("."):
        return complete_file(context, parameter, incomplete)
    words = [word for word in ("current", "libc") if word.startswith(incomplete)]
    named = complete_version(context, parameter, incomplete)
    return [*named, *words, *complete_qualified(incomplete)]


def _even(_context: click.Context, _parameter: click.Parameter, pairs: int | None) -> int | None:
    from pipeline.core.budget import MIN_PAIRS, MOST_PAIRS

    if pairs is not None and (not MIN_PAIRS <= pairs <= MOST_PAIRS or pairs % 2):
        raise click.BadParameter(
            f"{pairs} is not an even number from {MIN_PAIRS} to {MOST_PAIRS:,}"
        )
    return pairs


@click.command("versus")
@click.argument("a", shell_complete=complete_side)
@click.argument("b", shell_complete=complete_side)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, shell_complete=complete_file)
@any_profile_option(
    "Profile of a version that names none [default: mixed], and of the workloads where there is no "
    "COMMAND [default: the one that A or B names, else mixed].",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many threads of all processes of COMMAND work at once; a server with one worker and "
    "a client that waits for it are 1. With 1 both runs of a pair share one CPU at the same time, "
    "so noise hits both alike, and intervals are narrower.",
)
@click.option(
    "--time-of",
    metavar="NAME",
    help="Time only the processes of that name which have the library: a server that COMMAND "
    "starts, without its client.",
)
@click.option(
    "--warmup",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Pairs that do not count.",
)
@click.option(
    "--pairs",
    type=int,
    metavar="N",
    callback=_even,
    help="Run just so many pairs of each workload: an even number, 10 or more.",
)
@budget_option("60s", "Run pairs until the verdict is clear, for so long at most: 30s or more.")
@click.option(
    "--export",
    "form",
    type=click.Choice(["json", "csv", "markdown"]),
    help="Print this in place of the table; with -o, write it to a file.",
)
@output_option("Where to write what --export asks for.")
@verbose_option
def versus_command(
    a: str,
    b: str,
    command: tuple[str, ...],
    profile: str | None,
    threads: int | None,
    time_of: str | None,
    warmup: int,
    pairs: int | None,
    budget_s: float,
    form: str | None,
    output: Path | None,
    verbose: bool,
) -> int:
    """Judge library B against library A.

    They run in COMMAND, or on the verify workloads of a profile. A and B are
    LIBRARY[,NAME=VALUE...]: `libc` (the malloc that programs have by themselves), a libhakmem.so or
    another allocator's file, the folder of a version, or a version's name (`current`, 0.1.0-3f2a,
    mixed:current), then variables for the runs of that side. Runs of both
    come in pairs and go by the judge's statistics (docs/verdicts.md). Of your
    environment they get PATH and HOME alone.

    Ends with exit code 16 if B is shown to be worse.

    \b
    Examples:
      pipeline versus libc shop:current
      pipeline versus libc current -- python3 -c 'print(1)'
      pipeline versus current mixed:0.1.0-77b1
      pipeline versus current current,HAKMEM_PURGE_DELAY=0 --threads 1 -- ./shop
      pipeline versus old.so new.so --pairs 20 --export csv -o speed.csv -- ./shop
    """
    if output is not None and form is None:
        raise click.UsageError("-o needs to know what to write: add --export json, csv or markdown")
    if not command and threads is not None:
        raise click.UsageError(
            "--threads is for a COMMAND: the workloads of a profile say how many threads they have"
        )
    if not command and time_of is not None:
        raise click.UsageError("--time-of is for a COMMAND; a workload of a profile has time_of")
    from pipeline.core.exit_codes import ExitCode
    from pipeline.versus.compare import Effort, Timed
    from pipeline.versus.show import LONGER, longer, next_step

    timed, effort = Timed(command, threads, time_of), Effort(warmup, pairs)
    result = _compare(a, b, timed, profile, effort, budget_s, verbose)
    _show(result, form, output)
    more = f"--pairs {LONGER * pairs}" if pairs else longer(result, budget_s)
    if step := next_step(result, f"the same command with `{more}`", "`--threads 1`"):
        click.echo(step, err=form is not None)
    return ExitCode.REGRESSION if result.worse else ExitCode.OK


def _compare(
    a: str,
    b: str,
    timed: Timed,
    profile: str | None,
    effort: Effort,
    budget_s: float,
    verbose: bool,
) -> VersusResult:
    from dataclasses import replace

    from pipeline.core import process
    from pipeline.core.console import open_console
    from pipeline.core.paths import Tree
    from pipeline.stages.build.programs import unlike_in_builds
    from pipeline.versus.compare import Subject, compare
    from pipeline.versus.logs import logs_of_errors
    from pipeline.versus.side import parse_side
    from pipeline.versus.workloads_of import DEFAULT, workloads_of

    tree, name = Tree.here(), profile or DEFAULT
    sides = parse_side(tree, name, a), parse_side(tree, name, b)
    console = open_console(beside=True)
    if verbose:
        process.echo = lambda line: console.child(_PADDING.sub("", line))
    notes = unlike_in_builds(timed.command)
    timed = replace(timed, command=whole_path(timed.command))
    for note in notes:
        console.say(f"note: {note}")
    if not timed.command:
        name = profile or workloads_of(tree, a, b)
        console.say(f"the workloads are those of profile {name}; -p takes another one's")
    subject = Subject(timed.command or None, None if timed.command else name)
    with (
        logs_of_errors("hakmem-versus-") as logs,
        _asked(tree, timed, name, budget_s, logs, console) as request,
        console.stage("versus") as line,
    ):
        result = compare(*sides, subject, request, effort, line.step)
        line.done(f"{result.throughput.pairs} pairs")
    return result


def whole_path(words: tuple[str, ...], folder: Path = Path()) -> tuple[str, ...]:
    """Return the command with its program's whole path; UsageError if there is no such program.

    A path that is not whole is one below ``folder``.
    """
    import shutil

    from pipeline.core.errors import UsageError

    if not words:
        return ()
    by_path = "/" in words[0]
    program = shutil.which(folder.absolute() / words[0] if by_path else words[0])
    if program is None:
        raise UsageError(
            f"there is no program {words[0]}", hint="give the path of one that is there"
        )
    return (str(Path(program).absolute()), *words[1:])


@contextmanager
def _asked(
    tree: Tree,
    timed: Timed,
    profile: str,
    budget_s: float,
    logs: Path,
    console: BuildConsole,
) -> Iterator[JudgeRequest]:
    """Give what the judge is asked; ProfileError for an unknown profile.

    On a profile no build works in the tree until that is measured: it would disturb the runs, and
    may remove the programs.
    """
    from pipeline.commands.workshop import open_to_judge
    from pipeline.profile.load import load_profile
    from pipeline.stages.build.workshop import Options
    from pipeline.versus.compare import command_request
    from pipeline.versus.on_profile import profile_request
    from pipeline.versus.runner import command_runner

    if timed.command:
        yield command_request(command_runner(tree), timed, budget_s, logs)
        return
    with open_to_judge(tree, load_profile(tree, profile), Options(), console) as shop:
        yield profile_request(shop, budget_s, logs)


def _show(result: VersusResult, form: str | None, output: Path | None) -> None:
    from pipeline.core.files import replace_text
    from pipeline.versus.show import render

    if output is not None:
        replace_text(output, render(result, form or "json"))
        form = None
    click.echo(render(result, form or "term"), nl=False)
