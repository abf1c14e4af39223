"""Health checks without the library, before anything is built: what cannot be one is named at once.

The stage verify runs them again, minutes later, and leaves those out that show nothing.
"""

from __future__ import annotations

from pathlib import Path

from pipeline.core.console import numbered
from pipeline.core.errors import WorkloadError
from pipeline.profile.workload import Command, Program, Trace
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.workloads import ALONE, STOPPED, command_keys, workload_keys
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.proof.request import STAGE, health_command

NAME = "health"


def tell_unfit_checks(shop: Workshop, setup: Setup) -> None:
    """Run each check twice, unless a build was judged by the same ones, and say which are unfit.

    Raises WorkloadError where one fails by whose command the build trains, or beside itself.
    """
    checks = [one for one in setup.verifying if isinstance(one, Command)]
    if shop.options.dry_run or not checks or _was_judged(shop, checks):
        return
    from pipeline.judge.health import unfit

    logs, found = shop.log(STAGE, "").parent / NAME, {}
    with shop.console.stage(NAME) as line:
        say = numbered(line.step, len(checks))
        for one in checks:
            say(f"{one.name}, without the library")
            if seen := unfit(health_command(shop.tree.root, one), logs):
                found[one.name] = seen.why
                if seen.fails:
                    _require_other(setup, one, seen.why)
                    continue
            if one.threads == 1 or one.counted:
                _require_apart(shop, one, logs)
        line.done(
            "each health program prints the same in two runs without the library: "
            f"{len(checks) - len(found)} of {len(checks)}"
        )
    for name, why in found.items():
        shop.console.notice(f'health check "{name}" will be left out: {why}')
    if len(found) == len(checks):
        shop.console.notice(
            "nothing will be published: no health check can be used; "
            "ctrl-C, and give the profile one that prints the same each time"
        )


def _require_apart(shop: Workshop, check: Command, logs: Path) -> None:
    """Raise WorkloadError where a command fails beside itself: on a port that is taken, say."""
    from pipeline.judge.health import clash

    if why := clash(health_command(shop.tree.root, check), logs):
        raise WorkloadError(
            f'workload "{check.name}" fails where two run at once, as the judge runs it: {why}',
            hint="give each run a port and files of its own: port 0, mktemp",
        )


def _require_other(setup: Setup, check: Command, why: str) -> None:
    """Raise WorkloadError where the build records or trains by the same command, minutes later."""
    for one in (*setup.training, *setup.traces):
        if not isinstance(one, Program) and _fails_alike(one, check):
            raise WorkloadError(
                f'workload "{one.name}" fails as the health check "{check.name}" does: {why}',
                hint=f"{ALONE}; {STOPPED}",
            )


def _fails_alike(one: Command | Trace, check: Command) -> bool:
    return alone(one) == alone(check) and one.timeout_s <= check.timeout_s


def alone(one: Command | Trace) -> tuple[tuple[str, ...], bool, dict[str, str]]:
    """Return what a command does without the library: its words, its folder, its variables."""
    argv = one.argv if isinstance(one, Command) else one.record or ()
    env = {name: value for name, value in one.env.items() if not name.startswith("HAKMEM_")}
    return argv, one.scratch, env


def _was_judged(shop: Workshop, checks: list[Command]) -> bool:
    last = shop.store.latest(STAGE)
    if last is None or last.parts.get("commands") != command_keys(shop, checks):
        return False
    return set(workload_keys(shop, checks)) <= set(last.parts.get("workloads", ()))
