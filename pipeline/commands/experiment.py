"""``pipeline experiment``: the ledger of what was tried, and running it once more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.options import budget_option, verbose_option
from pipeline.commands.say import say

if TYPE_CHECKING:
    from pathlib import Path

    from click.shell_completion import CompletionItem

    from pipeline.core.console import BuildConsole
    from pipeline.core.paths import Tree
    from pipeline.experiment.entry import Entry
    from pipeline.judge.request import JudgeRequest
    from pipeline.stages.build.workshop import Workshop
    from pipeline.versus.model import VersusResult


def _complete_subject(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str | CompletionItem]:
    from pipeline.experiment.entry import SUBJECTS

    return [name for name in SUBJECTS if name.startswith(incomplete)]


def _complete_entry(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str | CompletionItem]:
    from pipeline.core.paths import Tree
    from pipeline.experiment.entry import ledger

    found = ledger(Tree.here()).glob(f"*/{incomplete}*.toml")
    return [path.stem for path in sorted(found)]


def _require_subject(subject: str) -> None:
    from pipeline.core.errors import UsageError
    from pipeline.core.spelling import did_you_mean
    from pipeline.experiment.entry import SUBJECTS

    if subject not in SUBJECTS:
        raise UsageError(
            f"there is no subject {subject!r}; known: {', '.join(SUBJECTS)}",
            hint=did_you_mean(subject, SUBJECTS, "take one of these"),
        )


def _known_subject(
    _context: click.Context, _parameter: click.Parameter, subject: str | None
) -> str | None:
    if subject is not None:
        _require_subject(subject)
    return subject


@click.group("experiment")
def experiment_command() -> None:
    """Note what was tried and what it was worth; run it again."""


@experiment_command.command(
    "new",
    short_help="Write a commented entry NAME about SUBJECT.",
    epilog="Example: pipeline experiment new magazines my-idea",
)
@click.argument("subject", shell_complete=_complete_subject)
@click.argument("name")
def new_command(subject: str, name: str) -> None:
    """Write a commented entry NAME about SUBJECT, to be edited and run.

    SUBJECT is one of: hot-path, lanes, magazines, remote, purge, placement, large, huge-pages,
    robustness, layout, judging, tuning, recording, ablation, measuring.
    """
    from pipeline.core.paths import Tree
    from pipeline.experiment.entry import new_place
    from pipeline.experiment.page import write_page
    from pipeline.experiment.write import write_template

    _require_subject(subject)
    tree = Tree.here()
    path = new_place(tree, subject, name)
    write_template(path)
    write_page(tree)
    click.echo(f"wrote {path}")
    click.echo("next: say in it what you change and what you expect, then")
    say(f"  .venv/bin/pipeline experiment run {name}")
    click.echo("which also writes its row in docs/experiments.md; without a run this does:")
    say("  .venv/bin/python -m pipeline.experiment.page")


@experiment_command.command(
    "list",
    short_help="List the entries, each with its newest verdict.",
    epilog="Example: pipeline experiment list --subject magazines",
)
@click.option(
    "--subject",
    metavar="SUBJECT",
    callback=_known_subject,
    shell_complete=_complete_subject,
    help="This one alone.",
)
@click.option("--runnable", is_flag=True, help="Only entries that can be run again.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON in place of the table.")
def list_command(subject: str | None, runnable: bool, as_json: bool) -> None:
    """List the entries, each with the newest verdict of each kind of processor."""
    import json

    from pipeline.core.output import room
    from pipeline.core.paths import Tree
    from pipeline.experiment.entry import load_entries
    from pipeline.experiment.listing import as_row, lines

    found = load_entries(Tree.here(), subject)
    rows = [as_row(one) for one in found if one.kind == "trial" or not runnable]
    if as_json:
        click.echo(json.dumps({"schema_version": 1, "experiments": rows}, indent=1))
        return
    for line in lines(rows, room()):
        click.echo(line)


@experiment_command.command(
    "run",
    short_help="Build both sides, judge them, note the verdict.",
    epilog="Example: pipeline experiment run half-depth-64",
)
@click.argument("name", shell_complete=_complete_entry)
@budget_option("60s", "Run pairs until the verdict is clear, for so long at most.")
@verbose_option
def run_command(name: str, budget_s: float, verbose: bool) -> int:
    """Build both sides of the entry NAME, judge them, and write the verdict into the entry.

    Side A is the tree as it is, side B has the change. They are judged as by `pipeline versus`, and
    here too exit code 16 says that B is shown to be worse.
    """
    from pipeline.core.console import open_console
    from pipeline.core.exit_codes import ExitCode
    from pipeline.core.paths import Tree
    from pipeline.experiment.entry import find_entry
    from pipeline.experiment.page import write_page
    from pipeline.experiment.sides import geometry_of, require_trial
    from pipeline.experiment.trial import result_of, unreached
    from pipeline.experiment.write import add_result
    from pipeline.versus.show import longer, next_step, render

    tree = Tree.here()
    entry = find_entry(tree, name)
    if not require_trial(entry).patch:  # a patch may change what there is to cut
        geometry_of(tree, entry)  # refused before anybody waits for a lock
    found, commit = _judge(tree, entry, budget_s, open_console(verbose, beside=True))
    add_result(entry.path, result_of(commit, found))
    write_page(tree)
    click.echo(render(found, "term"), nl=False)
    if note := unreached(require_trial(entry), found):
        say(note)
    click.echo(f"noted in {entry.path}")
    again = f"`.venv/bin/pipeline experiment run {name} {longer(found, budget_s)}`"
    step = next_step(found, again, f"`threads = 1` in {entry.path.name}")
    say(step or f"next: {_conclusion(found)}")
    return ExitCode.REGRESSION if found.worse else ExitCode.OK


def _conclusion(found: VersusResult) -> str:
    """Return what a verdict means for the tree."""
    from pipeline.judge.verdict import Verdict

    better = Verdict.GO in (found.speed.verdict, found.memory.verdict)
    if better and not found.worse:
        do = "make the change in the tree, if more than this one trial speaks for it"
    else:
        do = "leave the change out"
    return (
        f"{do}; commit the entry and docs/experiments.md, which tell others what was tried, "
        "or take the note back: `git checkout docs/experiments*`, and delete the entry if it is new"
    )


def _judge(
    tree: Tree, entry: Entry, budget_s: float, console: BuildConsole
) -> tuple[VersusResult, str]:
    """Return what was found, and the commit at which both sides were compiled."""
    from pipeline.commands.workshop import open_to_judge
    from pipeline.experiment.sides import build_sides, require_trial
    from pipeline.experiment.trial import commit_now
    from pipeline.profile.load import load_profile
    from pipeline.stages.build.workshop import Options
    from pipeline.versus.compare import Effort, Subject, compare
    from pipeline.versus.logs import logs_of_errors

    trial = require_trial(entry)
    profile = load_profile(tree, trial.profile)
    with open_to_judge(tree, profile, Options(), console) as shop:
        with console.stage("experiment") as line:
            line.step("compiling both sides")
            commit = commit_now(tree, None if trial.run else trial.profile)
            sides = build_sides(shop, entry)
            line.done("both sides are compiled")
        subject = Subject(trial.run or None, None if trial.run else trial.profile)
        with logs_of_errors("hakmem-experiment-") as logs:
            request = _request(shop, entry, budget_s, logs)  # it may have stages of its own
            with console.stage("versus") as line:
                found = compare(*sides, subject, request, Effort(), line.step)
                line.done(f"{found.throughput.pairs} pairs")
    return found, commit


def _request(shop: Workshop, entry: Entry, budget_s: float, logs: Path) -> JudgeRequest:
    """Return what the judge is asked: about the command of the trial, or about a profile."""
    from pipeline.commands.versus import whole_path
    from pipeline.experiment.sides import require_trial
    from pipeline.versus.compare import Timed, command_request
    from pipeline.versus.on_profile import profile_request
    from pipeline.versus.runner import command_runner

    trial = require_trial(entry)
    if not trial.run:
        return profile_request(shop, budget_s, logs)
    # Whoever runs the entry, and from wherever, runs the same.
    root = shop.tree.root
    timed = Timed(whole_path(trial.run, root), trial.threads, folder=root)
    return command_request(command_runner(shop.tree), timed, budget_s, logs)
