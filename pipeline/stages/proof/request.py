"""Makes the judge's request: from workloads and margins of a profile, and budgets of a mode."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.judge.own_task import task_name
from pipeline.profile.schema import Profile
from pipeline.profile.workload import Command, Program
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup, needed_by
from pipeline.stages.build.programs import command_path, find_program, require_program
from pipeline.stages.build.workloads import task_digest
from pipeline.stages.build.workshop import Library, Workshop

if TYPE_CHECKING:  # numpy and scipy come with the judge: a build that judges nothing skips them
    from pipeline.judge.left_out import LeftOut
    from pipeline.judge.request import BenchCommand, HealthCommand, JudgeRequest
    from pipeline.judge.tasks import Task

STAGE = "verify"
# Under valgrind time passes 50 times slower; what the library does by the clock is switched off.
COUNT_ENV = {"HAKMEM_PURGE_DELAY": "3600000"}


def judge_request(
    shop: Workshop,
    setup: Setup,
    plain: Baseline,
    tuned: Library,
    slowed: Library | None = None,
    *,
    brief: bool = False,
) -> JudgeRequest:
    """Return what the judge is asked: workloads and margins of the profile, budgets of the mode.

    ``brief`` takes the short runs of --quick.
    """
    from pipeline.judge.request import JudgeRequest, Margins, Tools

    gate = shop.profile.gate
    health = [w for w in setup.verifying if isinstance(w, Command)]
    return JudgeRequest(
        baseline=plain.library.path,
        tuned=tuned.path,
        benches=_benches(shop, setup, plain, brief or shop.options.quick),
        health=tuple(health_command(shop.tree.root, w) for w in health),
        margins=Margins(
            throughput=gate.throughput_margin,
            workload=gate.workload_allowance,
            icache=gate.icache_margin,
            rss=gate.rss_margin,
        ),
        pairs=gate.pairs,
        time_budget_s=budget_s(shop),
        seed=gate.seed,
        tasks=judged_tasks(shop),
        count_env=COUNT_ENV,
        slowed=slowed.path if slowed else None,
        self_check_s=self_check_s(shop),
        mode=shop.options.mode,
        left_out=left_out(shop),
        logs=shop.log(STAGE, "").parent,
        tools=Tools(
            valgrind=shop.tools.path("valgrind"),
            perf=shop.tools.path("perf") if shop.tools.has("perf") else None,
        ),
    )


def judged_tasks(shop: Workshop) -> tuple[Task, ...]:
    """Return the tasks of real programs by which the I-cache key judges this profile.

    Each has the digest of its files: the counts of another program are not to be compared.
    """
    own = {task_name(one.name, one.counted_below): one for one in _counted(shop.profile)}
    return tuple(
        replace(task, digest=task_digest(shop, task, own.get(task.name)))
        for task in tasks_of(shop.profile, shop.tree.root)
    )


def tasks_of(profile: Profile, root: Path) -> tuple[Task, ...]:
    """Return our tasks, each with whether verify commands run its program, then those counted.

    Commands of the profile start in ``root``, unless in a scratch folder.
    """
    from pipeline.judge.tasks import JUDGED, found

    commands = [w for w in profile.verifying if isinstance(w, Command)]
    run = {Path(name).name for w in commands for name in needed_by(w)}
    ours = [
        replace(task, own=not run.isdisjoint(task.names))
        for task in JUDGED
        if task.name in profile.gate.programs
    ]
    return found([*ours, *(_task(w, root) for w in _counted(profile))], find_program)


def _counted(profile: Profile) -> list[Command]:
    return [w for w in profile.verifying if isinstance(w, Command) and w.counted]


def _task(command: Command, root: Path) -> Task:
    """Return a command of the profile to be counted as a whole."""
    from pipeline.judge.tasks import Task

    counts = command.counted_below
    return Task(
        task_name(command.name, counts),
        command.argv[0],
        command.argv[1:],
        env={"PATH": command_path(), **command.env},
        folder=None if command.scratch else root,
        weight=command.weight or 1.0,
        own=True,
        of_profile=True,
        counts=counts,
        may_differ=counts is not None or command.threads != 1,
    )


def budget_s(shop: Workshop) -> float:
    """Return the seconds of timed runs that the judge may spend while nothing is decided."""
    gate = shop.profile.gate
    budgets = {
        "quick": gate.quick_budget_s,
        "default": gate.budget_s,
        "thorough": gate.thorough_budget_s,
    }
    return shop.options.verify_s or budgets[shop.options.mode]


def self_check_s(shop: Workshop) -> float:
    """Return the seconds of timed runs for each half of the judge's check of itself."""
    return max(shop.profile.gate.self_check_s, shop.options.verify_s or 0.0)


def left_out(shop: Workshop) -> tuple[LeftOut, ...]:
    """Return what this mode does not do."""
    from pipeline.judge.left_out import LeftOut, Subject

    mode = shop.options.mode
    if mode == "thorough":
        return ()
    limit = (
        f"judging ends after {budget_s(shop):g} s of timed runs, or later, once each workload has "
        "its fewest pairs; decided or not"
    )
    if mode == "default":
        return (LeftOut(Subject.BUDGET, f"{limit} (--verify-time sets more)"),)
    full = shop.profile.gate.budget_s
    shorter = LeftOut(Subject.BUDGET, f"{limit} (a full run goes on for {full:g} s)")
    return (
        *((shorter,) if budget_s(shop) < full else ()),
        LeftOut(Subject.SELF_CHECK, "left out with --quick"),
        LeftOut(Subject.RUNS, "training and judging use the shorter runs of the profile"),
    )


def _benches(
    shop: Workshop, setup: Setup, plain: Baseline, quick: bool
) -> tuple[BenchCommand, ...]:
    """Return what is timed: programs of the machine that have a weight, then loops of ours."""
    commands = [w for w in setup.verifying if isinstance(w, Command) and w.timed]
    loops = [w for w in setup.verifying if isinstance(w, Program)]
    whole = (_whole(shop, w, plain) for w in commands)
    return (*whole, *(_bench(w, plain, quick) for w in loops))


def _whole(shop: Workshop, workload: Command, plain: Baseline) -> BenchCommand:
    from pipeline.judge.request import BenchCommand
    from pipeline.judge.whole_command import whole_command

    return BenchCommand(
        name=workload.name,
        argv=whole_command(
            plain.program("bench/command"),
            (str(require_program(workload.argv[0])), *workload.argv[1:]),
            folder=None if workload.scratch else shop.tree.root,
            threads=workload.threads,
            time_of=workload.time_of,
        ),
        env={"PATH": command_path(), **workload.env},
        weight=workload.weight or 1.0,
        allowance=workload.allowance,
        timeout_s=workload.timeout_s,
        kind="program",
    )


def _bench(workload: Program, plain: Baseline, quick: bool) -> BenchCommand:
    from pipeline.judge.request import BenchCommand

    program = str(plain.program(workload.program))
    elsewhere = plain.elsewhere(workload.program)
    ops = workload.quick_ops if quick else workload.ops
    counted = workload.count_ops
    return BenchCommand(
        name=workload.name,
        argv=(program, *workload.arguments(ops)),
        elsewhere=tuple((str(path), *workload.arguments(ops)) for path in elsewhere),
        count_argv=(program, *workload.arguments(counted)) if counted else None,
        env=workload.environment(),
        count_env=COUNT_ENV,
        weight=workload.weight,
        allowance=workload.allowance,
        timeout_s=workload.timeout_s,
    )


def health_command(root: Path, workload: Command) -> HealthCommand:
    """Return a command that must do with the library what it does without, started in ``root``."""
    from pipeline.judge.request import HealthCommand

    return HealthCommand(
        name=workload.name,
        argv=(str(find_program(workload.argv[0])), *workload.argv[1:]),
        timeout_s=workload.timeout_s,
        env={"PATH": command_path(), **workload.env},
        cwd=root,
        scratch=workload.scratch,
    )
