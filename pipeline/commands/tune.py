"""``pipeline tune``: choose the allocator's geometry for a profile, by measuring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.duration import Duration
from pipeline.commands.options import cpu_option, scheduler_option, verbose_option, wait_option
from pipeline.commands.profile_options import profile_option
from pipeline.commands.workshop import open_workshop

if TYPE_CHECKING:
    from pipeline.core.console import BuildConsole
    from pipeline.stages.build.workshop import Workshop
    from pipeline.tune.tuning import Outcome


@click.command(
    "tune",
    epilog="\b\nExamples:\n"
    "  pipeline tune --profile mixed --tune-budget 10m\n"
    "  pipeline tune -p mine --tune-budget 2h --scheduler tcp://farm:8786\n\n"
    "How it works, and how to start workers: docs/tuning.md.",
)
@profile_option
@click.option(
    "--tune-budget",
    "budget_s",
    type=Duration(),
    required=True,
    metavar="TIME",
    help="About how long to search: 90s, 10m, 2h.",
)
@scheduler_option
@cpu_option
@wait_option
@verbose_option
def tune_command(
    profile: str,
    budget_s: float,
    scheduler: str | None,
    cpu: str | None,
    wait: bool,
    verbose: bool,
) -> None:
    """Choose the geometry for a profile by measuring.

    Lane, size classes, magazines, policy and code are tried with its training workloads. Proposals
    come from what the workloads allocate; each is compiled and measured against the default in
    interleaved pairs of runs, the best are combined, and the combination is confirmed by fresh
    runs. What pays is written to layouts/NAME/geometry-CPU.toml, for the kind of processor that
    measured (with `--cpu any` to geometry.toml, for all processors), which `pipeline build` reads;
    if nothing does, and there is no such file, it says so. A run that was stopped loses nothing:
    the same command goes on. The first change of each kind is tried however short the time is.
    """
    from pipeline.core.console import open_console
    from pipeline.core.paths import Tree
    from pipeline.profile.load import load_profile
    from pipeline.stages.build.workshop import Options

    tree, console = Tree.here(), open_console(verbose)
    options = Options(cpu=cpu)
    with open_workshop(tree, load_profile(tree, profile), options, console, wait=wait) as shop:
        outcome, written = _run(shop, budget_s, scheduler)
    show(console, outcome, written)


def _run(shop: Workshop, budget_s: float, scheduler: str | None) -> tuple[Outcome, str]:
    from pipeline.stages.build.baseline import baseline
    from pipeline.stages.build.configure import configure
    from pipeline.stages.build.record import record
    from pipeline.stages.tuning.tune import tune

    setup = configure(shop)
    plain = baseline(shop, setup)
    setup = record(shop, setup)
    return tune(shop, setup, plain, budget_s, scheduler)


def show(console: BuildConsole, outcome: Outcome, written: str) -> None:
    """Print what was tried, what came of it, and what was ``written``."""
    from pipeline.tune.report import lines

    for line in lines(outcome):
        console.say(line)
    for name, reason in outcome.refused.items():
        console.notice(f"{name} cannot be built: {reason}")
    if outcome.untried:
        console.notice(
            "these were not measured, a larger --tune-budget has time for them: "
            + ", ".join(outcome.untried)
        )
    console.say(f"result: {outcome.why}")
    console.say(written)
    if outcome.confirmed is not None:
        console.say(f"its library, compiled plainly: {outcome.confirmed.candidate.library.path}")
