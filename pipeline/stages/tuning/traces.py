"""What the training workloads allocate, recorded for the models of the stage tune."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.console import Say, StageLine, numbered
from pipeline.core.digest import digest_tree
from pipeline.core.errors import DataError, WorkloadError
from pipeline.core.receipt import Notes
from pipeline.profile.workload import REPLAY, Command, Program, Trace
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.record import make_trace
from pipeline.stages.build.workloads import command_keys
from pipeline.stages.build.workshop import Workshop
from pipeline.trace.tools import SOURCES, recorder_tools

if TYPE_CHECKING:
    from pipeline.trace.read import Trace as Events

STAGE = "tune-traces"
# Enough to know how a program allocates; a model looks at each of them a dozen times.
EVENTS = 1_000_000


def training_traces(
    shop: Workshop, setup: Setup, plain: Baseline
) -> dict[str, tuple[Events, float]]:
    """Return the events of each training workload with its weight, by name.

    Workloads that play a trace are known; all others are recorded, in their short runs. One
    that cannot be recorded is named and left out. DataError if that is all of them.
    """
    wanted = [workload for workload in setup.training if _plays(workload) is None]
    parts = {
        "workloads": [workload.model_dump_json() for workload in wanted],
        "commands": command_keys(shop, wanted),
        "programs": setup.programs,
        "recorder": digest_tree(shop.tree.root, SOURCES),
        "events": EVENTS,
    }

    def work(room: Path, line: StageLine) -> Notes:
        say = numbered(line.step, len(wanted))
        return {"recorded": [w.name for w in wanted if _recorded(shop, plain, w, room, say)]}

    def summary(notes: Notes) -> str:
        return f"{len(notes['recorded'])} training workloads recorded"

    made = shop.do(STAGE, parts, work, summary=summary)
    names = made.receipt.notes["recorded"]
    files = {name: made.path(f"{name}.trace") for name in names}
    files |= {w.name: Path(trace) for w in setup.training if (trace := _plays(w)) is not None}
    if not files:
        raise DataError(
            "no training workload allocates anything that could be recorded",
            hint="add a training workload that allocates",
        )
    return _read(shop, setup, files)


def _read(shop: Workshop, setup: Setup, files: dict[str, Path]) -> dict[str, tuple[Events, float]]:
    from pipeline.trace.read import read

    tools = recorder_tools(shop.tree)
    return {
        workload.name: (read(tools, files[workload.name]), workload.weight or 1.0)
        for workload in setup.training
        if workload.name in files
    }


def _plays(workload: Program | Command) -> str | None:
    """Return the trace that a workload plays, if it plays one."""
    if not isinstance(workload, Program) or workload.program != REPLAY:
        return None
    return dict(zip(workload.args, workload.args[1:], strict=False))["--trace"]


def _recorded(
    shop: Workshop, plain: Baseline, workload: Program | Command, room: Path, say: Say
) -> bool:
    """Record one workload into the room. False: it cannot be recorded, and a note says so."""
    say(f"recording {workload.name}")
    try:
        make_trace(shop, recorder_tools(shop.tree), _as_trace(plain, workload), room)
    except (WorkloadError, DataError) as error:
        shop.console.notice(f"{error.message}; tuning goes on without a trace of this workload")
        return False
    return True


def _as_trace(plain: Baseline, workload: Program | Command) -> Trace:
    """Return what to record of a workload: its short run."""
    if isinstance(workload, Command):
        argv, env, scratch = workload.argv, workload.env, workload.scratch
    else:
        program = str(plain.program(workload.program))
        argv = (program, *workload.arguments(workload.quick_ops))
        env, scratch = workload.environment(), False
    return Trace(
        kind="trace",
        name=workload.name,
        role="train",
        record=argv,
        env=env,
        scratch=scratch,
        events=EVENTS,
        ops=1,
        quick_ops=1,
        weight=1.0,
        timeout_s=workload.timeout_s,
    )
