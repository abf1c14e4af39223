"""``pipeline build``: all stages for one profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.duration import Duration
from pipeline.commands.options import (
    Word,
    cpu_or_all_option,
    scheduler_option,
    verbose_option,
    wait_option,
)
from pipeline.commands.profile_options import line_option
from pipeline.stages import NAMES

if TYPE_CHECKING:
    from pipeline.core.console import BuildConsole
    from pipeline.core.paths import Tree
    from pipeline.stages.build.workshop import Options, Workshop


@click.command("build")
@line_option
@click.option("--quick", is_flag=True, help="Short training and judging: 90 s on two quiet CPUs.")
@click.option("--thorough", is_flag=True, help="Judge until it is clear, however long that takes.")
@click.option(
    "--from",
    "start",
    type=Word(NAMES),
    metavar="STAGE",
    help=f"Do STAGE and all after it again: {', '.join(NAMES)}.",
)
@click.option(
    "--explain", is_flag=True, help="Build, and say for each stage why it is done, or not."
)
@click.option(
    "--allow-neutral", is_flag=True, help="Publish also when no key is GO, if none is worse."
)
@click.option(
    "--allow-regression",
    multiple=True,
    metavar="NAME",
    help="Publish also when NAME is shown to lose: a workload, `throughput` or `real-programs`.",
)
@click.option(
    "--branch-stacks",
    is_flag=True,
    help="BOLT's profile by perf, on machines with branch stacks.",
)
@click.option(
    "--tune-budget",
    "tune_budget_s",
    type=Duration(),
    metavar="TIME",
    help="First choose the geometry, for about 90s, 10m, 2h (docs/tuning.md).",
)
@scheduler_option
@cpu_or_all_option
@click.option(
    "--verify-time",
    "verify_s",
    type=Duration(),
    metavar="TIME",
    help="Measure for so long, such as 5m, where the time of the profile decides nothing.",
)
@click.option("--no-publish", is_flag=True, help="Judge and report only: publish nothing.")
@click.option(
    "--dry-run", is_flag=True, help="Say which stage a build would do first, and why; do nothing."
)
@wait_option
@verbose_option
def build_command(
    profile: str,
    quick: bool,
    thorough: bool,
    start: str | None,
    explain: bool,
    allow_neutral: bool,
    allow_regression: tuple[str, ...],
    branch_stacks: bool,
    tune_budget_s: float | None,
    scheduler: str | None,
    cpu: str | None,
    verify_s: float | None,
    no_publish: bool,
    dry_run: bool,
    wait: bool,
    verbose: bool,
) -> None:
    """Build, train, judge and publish a library for a profile.

    Stages whose inputs are unchanged are not done again. A run that was stopped goes on from its
    last good stage.

    \b
    Examples:
      pipeline build --profile mixed
      pipeline build -p mixed --quick --no-publish
      pipeline build -p mixed --dry-run        # says what it would do
    """
    if quick and thorough:
        raise click.UsageError("--quick and --thorough exclude each other: take one of them")
    _refuse_misplaced(profile, scheduler, tune_budget_s, cpu, dry_run)
    from pipeline.core.console import open_console
    from pipeline.core.paths import Tree
    from pipeline.core.variant import PRODUCTION, split_line
    from pipeline.stages.build.workshop import Options

    variant = split_line(profile)[1]
    if variant != PRODUCTION and tune_budget_s is not None:
        raise click.UsageError("the geometry is chosen for production: tune without --variant")
    redo = frozenset(NAMES[NAMES.index(start) :]) if start else frozenset()
    options = Options(
        quick=quick,
        redo=redo,
        explain=explain,
        allow_neutral=allow_neutral,
        allow_regression=allow_regression,
        branch_stacks=branch_stacks,
        thorough=thorough,
        tune_budget_s=tune_budget_s,
        scheduler=scheduler,
        verify_s=verify_s,
        cpu=cpu,
        variant=variant,
        no_publish=no_publish,
        dry_run=dry_run,
    )
    console = open_console(verbose)
    _run(Tree.here(), profile, options, console, wait)


def _refuse_misplaced(
    profile: str, scheduler: str | None, tune_budget_s: float | None, cpu: str | None, dry_run: bool
) -> None:
    """Raise UsageError where tuning, other machines and a dry run do not go together."""
    if scheduler is not None and tune_budget_s is None and cpu != "all":
        raise click.UsageError("--scheduler needs --tune-budget, or --cpu all")
    if cpu == "all" and tune_budget_s is not None:
        raise click.UsageError(
            "--cpu all is not tuned: search first, with "
            f"`.venv/bin/pipeline tune --profile {profile} --tune-budget {tune_budget_s:g}s`"
        )
    if dry_run and (cpu == "all" or tune_budget_s is not None):
        raise click.UsageError("--dry-run goes with neither --cpu all nor --tune-budget")
    if cpu == "all" and scheduler == "local":
        raise click.UsageError(
            "--scheduler local is this machine: --cpu all needs the address of one with others"
        )


def _run(tree: Tree, name: str, options: Options, console: BuildConsole, wait: bool) -> None:
    import time

    from pipeline.commands.build_result import conclude
    from pipeline.commands.may_lose import refuse_unknown
    from pipeline.commands.workshop import open_workshop, tell_load
    from pipeline.core.variant import split_line
    from pipeline.geometry.load import load_geometry
    from pipeline.profile.load import load_profile
    from pipeline.run import build

    started = time.monotonic()
    profile = load_profile(tree, split_line(name)[0])
    load_geometry(tree, profile.name, options.processor)  # refused before it waits for a lock
    refuse_unknown(profile, options.allow_regression)
    with open_workshop(tree, profile, options, console, wait=wait) as shop:
        if options.dry_run:
            _plan(shop)
            return
        tell_load(console)
        published = build(shop)
    conclude(console, published, time.monotonic() - started)


def _plan(shop: Workshop) -> None:
    """Say what a build would do first; stages behind that have keys that nobody knows yet."""
    from pipeline.run import make
    from pipeline.stages.build.workshop import StageDue

    try:
        make(shop)
    except StageDue as due:
        shop.console.say(f"dry run: a build does {due} first, then all that depends on it")
    else:
        shop.console.say("dry run: no stage has anything to do")
