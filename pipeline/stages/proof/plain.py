"""Health checks without the library, before anything is built: what cannot be one is told at once.

The stage verify runs them again, minutes later, and leaves those out that show nothing.
"""

from __future__ import annotations

from pipeline.core.console import numbered
from pipeline.profile.schema import Command
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workloads import command_keys, workload_keys
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.request import STAGE, health_command

NAME = "health"


def tell_unfit_checks(shop: Workshop, setup: Setup) -> None:
    """Run each check twice, unless a build was judged by the same ones, and say which are unfit."""
    checks = [one for one in setup.verifying if isinstance(one, Command)]
    if shop.options.dry_run or not checks or _was_judged(shop, checks):
        return
    from pipeline.judge.health import unfit

    logs, found = shop.log(STAGE, "").parent / NAME, {}
    with shop.console.stage(NAME) as line:
        say = numbered(line.step, len(checks))
        for one in checks:
            say(f"{one.name}, without the library")
            if why := unfit(health_command(shop.tree.root, one), logs):
                found[one.name] = why
        line.done(f"{len(checks) - len(found)} of {len(checks)} do the same twice")
    for name, why in found.items():
        shop.console.notice(f'health check "{name}" will be left out: {why}')
    if len(found) == len(checks):
        shop.console.notice("nothing will be published: no health check can be used")


def _was_judged(shop: Workshop, checks: list[Command]) -> bool:
    last = shop.store.latest(STAGE)
    if last is None or last.parts.get("commands") != command_keys(shop, checks):
        return False
    return set(workload_keys(shop, checks)) <= set(last.parts.get("workloads", ()))
