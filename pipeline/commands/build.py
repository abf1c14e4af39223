"""``pipeline build``: all stages for one profile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from pipeline.commands.duration import Duration
from pipeline.commands.options import (
    Word,
    cpu_or_all_option,
    line_option,
    scheduler_option,
    verbose_option,
    wait_option,
)
from pipeline.stages import NAMES

if TYPE_CHECKING:
    from pipeline.core.console import BuildConsole
    from pipeline.core.paths import Tree
    from pipeline.profile.schema import Profile
    from pipeline.report.model import ReportModel
    from pipeline.stages.build.workshop import Options, Workshop
    from pipeline.stages.publish.publish import Published


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
    help="Publish also when this workload is shown to lose; or `throughput` or `real-programs`, "
    "each as a whole.",
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
    help="Timed runs for the verdict, such as 5m, where those of the profile decide nothing.",
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

    Stages whose inputs are unchanged are not done again. A run that was stopped, by whatever, goes
    on from its last good stage.
    """
    if quick and thorough:
        raise click.UsageError("--quick and --thorough exclude each other: take one of them")
    if scheduler is not None and tune_budget_s is None and cpu != "all":
        raise click.UsageError("--scheduler needs --tune-budget, or --cpu all")
    if cpu == "all" and tune_budget_s is not None:
        first = f"pipeline tune --profile {profile} --tune-budget {tune_budget_s:g}s"
        raise click.UsageError(f"--cpu all is not tuned: search first, with `.venv/bin/{first}`")
    if dry_run and (cpu == "all" or tune_budget_s is not None):
        raise click.UsageError("--dry-run goes with neither --cpu all nor --tune-budget")
    if cpu == "all" and scheduler == "local":
        raise click.UsageError(
            "--scheduler local is this machine: --cpu all needs the address of one with others"
        )
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


def _run(tree: Tree, name: str, options: Options, console: BuildConsole, wait: bool) -> None:
    import time

    from pipeline.core.variant import split_line
    from pipeline.geometry.load import load_geometry
    from pipeline.profile.load import load_profile
    from pipeline.run import build

    started = time.monotonic()
    profile = load_profile(tree, split_line(name)[0])
    load_geometry(tree, profile.name, options.processor)  # refused before it waits for a lock
    _refuse_unknown(profile, options.allow_regression)
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


def tell_load(console: BuildConsole) -> None:
    """Say at the start, not only when nothing was decided, that others use the machine."""
    import os

    load, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if load > cores:
        console.notice(
            f"load {load:.0f} on {cores} CPUs: this will take longer, and may decide less"
        )


def _refuse_unknown(profile: Profile, allowed: tuple[str, ...]) -> None:
    """Raise UsageError for a regression that no judgement of this profile can name."""
    if not allowed:
        return
    from pipeline.core.errors import UsageError
    from pipeline.judge.regressions import OVERALL, PROGRAMS

    timed = (one.name for one in profile.verifying if one.kind != "command" or one.timed)
    known = [OVERALL, PROGRAMS, *timed]
    unknown = [name for name in allowed if name not in known]
    if unknown:
        raise UsageError(
            f"--allow-regression {unknown[0]}: profile {profile.name!r} judges no such workload",
            hint=f"one of: {', '.join(known)}",
        )


@contextmanager
def open_workshop(
    tree: Tree, profile: Profile, options: Options, console: BuildConsole, *, wait: bool
) -> Iterator[Workshop]:
    """Find the tools, hold the lock of the tree, and keep the store tidy around a build.

    A dry run makes nothing, so it needs no lock, and leaves the store alone.
    """
    from pipeline.core.errors import BuildInterrupted
    from pipeline.core.lock import tree_lock
    from pipeline.core.store import Store
    from pipeline.core.variant import line_of
    from pipeline.stages.build.workshop import Workshop
    from pipeline.toolchain.find import find_toolchain
    from pipeline.toolchain.identity import MEMORY

    tools = find_toolchain(tree.state / MEMORY)
    store = Store(tree.artifacts(line_of(profile.name, options.variant)))
    if options.dry_run:
        _tell_other_run(tree, console)
        yield Workshop(tree, profile, tools, store, console, options)
        return
    with tree_lock(tree.state, wait=wait, say=console.say):
        store.clear_rooms()
        try:
            yield Workshop(tree, profile, tools, store, console, options)
        except KeyboardInterrupt as interrupt:
            raise BuildInterrupted from interrupt
        store.tidy()


def _tell_other_run(tree: Tree, console: BuildConsole) -> None:
    """Say what else works in the tree: its artifacts may be there a minute later."""
    from pipeline.core.lock import other_run

    if other := other_run(tree.state):
        console.notice(f"{other}: what it has not finished is listed as still to be made")


@contextmanager
def open_to_judge(
    tree: Tree, profile: Profile, options: Options, console: BuildConsole
) -> Iterator[Workshop]:
    """Open the workshop for a judgement of which nothing is kept: an interrupt says so."""
    from pipeline.core.errors import BuildInterrupted, JudgementInterrupted

    try:
        with open_workshop(tree, profile, options, console, wait=True) as shop:
            yield shop
    except BuildInterrupted as interrupt:
        raise JudgementInterrupted from interrupt


def _conclude_beside(console: BuildConsole, published: Published, seconds: float) -> None:
    """Say why ``current`` has not moved, and what would move it."""
    from pipeline.core.paths import from_here

    name, profile = published.folder.name, published.folder.parent.name
    if published.report is not None:
        _show(console, published.report)
        where = from_here(published.folder)
        console.say(f"published in {seconds:.1f} s, but not made current: {where}")
        cure = (
            f"`.venv/bin/pipeline rollback -p {profile} --to {name}` makes it current all the same"
        )
    else:
        cure = (
            f"`.venv/bin/pipeline unpin -p {profile}` lifts that; "
            "so does a change of sources, flags, training, lists or geometry"
        )
    console.prose(f"{_where_it_stays(published)}; {cure}")
    _tell_next(console, published.report)


def _tell_mended(console: BuildConsole, published: Published) -> None:
    """Say which files a damaged version has again, and that nothing else of it is new."""
    console.prose(
        f"{published.folder.name} is whole again: {', '.join(published.mended)} had been damaged; "
        "its report and its date are as they were"
    )
    if published.stays is not None:
        console.prose(_where_it_stays(published))


def _where_it_stays(published: Published) -> str:
    """Say which version is current still, and why."""
    now = published.before.name if published.before else "no version"
    return f"`current` is still {now}: {published.stays}"


def _where_it_is(published: Published) -> str:
    """Say which version is current now, and which one was before."""
    now, before = published.folder.name, published.before
    if before is None:
        return f"`current` is now {now}; no version was current before"
    if before.name == now:
        return f"`current` is {now}, as before"
    return f"`current` is now {now}; it was {before.name} before"


def _show(console: BuildConsole, report: ReportModel) -> None:
    """Print the verdict table. Where nothing was done there is none, and its modules stay away."""
    from pipeline.report.terminal import show_verdict

    show_verdict(console, report)


def _tell_next(console: BuildConsole, report: ReportModel | None) -> None:
    """Say which command would decide what is undecided in a build that was published."""
    if report is None:
        return
    from pipeline.report.view import next_command

    if step := next_command(report):
        console.prose(f"next: {step}")


def conclude(console: BuildConsole, published: Published, seconds: float) -> None:
    """Print the verdict table (or why there was nothing to do) and the line to copy."""
    from pipeline.core.paths import from_here
    from pipeline.core.preload import preloading

    if published.judged is not None and published.report is not None:
        from pipeline.release.current import untouched
        from pipeline.report.view import next_command

        _show(console, published.report)
        console.prose(
            f"judged in {seconds:.1f} s, and not published, as --no-publish asks; "
            f"{untouched(published.folder.parent)}; "
            f"report: {from_here(published.judged)}; {next_command(published.report)}"
        )
        return
    if published.mended:
        _tell_mended(console, published)
    elif published.stays is not None:
        _conclude_beside(console, published, seconds)
        return
    elif published.report is not None:
        _show(console, published.report)
        console.say(f"published in {seconds:.1f} s: {from_here(published.folder)}")
    else:
        console.prose(
            "nothing to do: sources, profile, layout, flags and tools are those of "
            f"{published.folder.name} (checked in {seconds:.1f} s)"
        )
    if published.stays is None:
        console.say(_where_it_is(published))
    _tell_next(console, published.report)
    for library in published.beside:
        console.say(f"on {library.parent.name}:  {preloading(library)} your-program")
    console.say(f"use it:  {preloading(published.library)} your-program")
