"""Commands that a build trains by or records: each first runs once, without the library.

So a command that fails is named before the library is compiled for minutes.
"""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.core.console import numbered
from pipeline.core.errors import ChildTimeout, WorkloadError
from pipeline.profile.workload import Command, Program, Trace
from pipeline.report.text import many
from pipeline.stages.build.configure import Setup
from pipeline.stages.build.programs import command_path, require_program
from pipeline.stages.build.record import STAGE as RECORD
from pipeline.stages.build.workloads import Prepared, command_keys, run_workload, workload_keys
from pipeline.stages.build.workshop import Workshop
from pipeline.stages.pgo.train import STAGE as TRAIN
from pipeline.stages.proof.plain import alone

NAME = "commands"
LIMIT_S = 10.0
"""A command that fails does so at its start; one that runs for longer is ended, and has begun."""


def try_commands(shop: Workshop, setup: Setup) -> None:
    """Run each command that is new once; WorkloadError if one fails within LIMIT_S."""
    new = list(_new(shop, setup))
    if shop.options.dry_run or not new:
        return
    with shop.console.stage(NAME) as line:
        say = numbered(line.step, len(new))
        for one in new:
            say(f"{one.name}, without the library")
            _try(shop, one)
        line.done(f"{many(len(new), 'command')} tried without the library: no failure")


def _new(shop: Workshop, setup: Setup) -> Iterator[Command | Trace]:
    """Yield what neither ran as a health check nor is known from an earlier build."""
    seen = [alone(check) for check in setup.verifying if isinstance(check, Command)]
    for one in (*setup.training, *setup.traces):
        if isinstance(one, Program) or (isinstance(one, Trace) and one.record is None):
            continue
        if alone(one) not in seen and not _is_known(shop, one):
            seen.append(alone(one))
            yield one


def _is_known(shop: Workshop, one: Command | Trace) -> bool:
    """Return whether the last training or recording had this command, with the same programs."""
    trains = isinstance(one, Command)
    key = workload_keys(shop, [one])[0] if isinstance(one, Command) else one.model_dump_json()
    last = shop.store.latest(TRAIN if trains else RECORD)
    parts = last.parts if last else {}
    same = command_keys(shop, [one]).items() <= parts.get("commands", {}).items()
    return same and key in parts.get("workloads" if trains else "traces", ())


def _try(shop: Workshop, one: Command | Trace) -> None:
    argv, _, env = alone(one)
    program, *words = argv
    prepared = Prepared(
        (str(require_program(program)), *words), {"PATH": command_path(), **env}, shop.tree.root
    )
    limited = one.model_copy(update={"timeout_s": min(one.timeout_s, LIMIT_S)})
    try:
        run_workload(limited, prepared, log=shop.log(NAME, one.name))
    except WorkloadError as error:
        if not isinstance(error.__cause__, ChildTimeout) or limited.timeout_s == one.timeout_s:
            raise
