"""Running one training workload with a library preloaded."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.core.child import SAME_HASHES
from pipeline.core.digest import digest_value
from pipeline.core.errors import ChildFailed, ChildTimeout, PipelineError, WorkloadError
from pipeline.core.process import Completed, run
from pipeline.core.processor import machine
from pipeline.profile.workload import Command, Program, Trace
from pipeline.stages.build.baseline import Baseline
from pipeline.stages.build.configure import needed_by
from pipeline.stages.build.programs import command_path, find_needed, require_program
from pipeline.stages.build.workshop import Workshop
from pipeline.toolchain.identity import MEMORY, Identities
from pipeline.toolchain.target import NATIVE, Target

if TYPE_CHECKING:
    from pipeline.judge.tasks import Task

TRY_LIMIT_S = 20.0
SETARCH = "setarch"
ALONE = "run the line at the top of the log to see it alone"
QUICK = " quick"
"""In a stage key: a program that ran as short as `--quick` wants it."""
STOPPED = "a server needs a driver that stops it: docs/profiles.md"


@dataclass(frozen=True)
class Prepared:
    """A workload as a command line: absolute program, arguments, variables, folder."""

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: Path | None


def prepare(shop: Workshop, workload: Program | Command, programs: Baseline) -> Prepared:
    """Return the command line of a workload; quick runs get their shorter length."""
    if isinstance(workload, Program):
        ops = workload.quick_ops if shop.options.quick else workload.ops
        path = programs.program(workload.program)
        return Prepared((str(path), *workload.arguments(ops)), workload.environment(), None)
    found = require_program(workload.argv[0])
    env = {"PATH": command_path(), **workload.env}
    return Prepared((str(found), *workload.argv[1:]), env, shop.tree.root)


def train_on(
    workload: Program | Command,
    prepared: Prepared,
    library: Path,
    programs: Baseline,
    *,
    log: Path,
    env: Mapping[str, str] | None = None,
    target: Target = NATIVE,
) -> Completed:
    """Run a workload with ``library``, which counts, and further variables ``env``.

    Clock, hashes and addresses are the same each time, so that two trainings count alike.
    """
    argv, ours = target.started(prepared.argv, (library, programs.clock))
    same = replace(
        prepared,
        argv=(*same_addresses(), *argv),
        env={**SAME_HASHES, **prepared.env, **(env or {}), **ours},
    )
    return run_workload(workload, same, log=log)


@cache
def same_addresses() -> tuple[str, ...]:
    """Return what starts a program without random addresses; nothing where that is forbidden."""
    words = (SETARCH, "-R")
    try:
        run([*words, "true"], timeout_s=TRY_LIMIT_S)
    except PipelineError:
        return ()
    return words


def run_workload(
    workload: Program | Command | Trace, prepared: Prepared, *, log: Path
) -> Completed:
    """Run a prepared workload; WorkloadError if it crashes, fails or runs into its limit."""
    limit = workload.timeout_s
    with tempfile.TemporaryDirectory(prefix="hakmem-") as scratch:
        own_folder = not isinstance(workload, Program) and workload.scratch
        folder = Path(scratch) if own_folder else prepared.cwd
        try:
            return run(prepared.argv, env=prepared.env, cwd=folder, log=log, timeout_s=limit)
        except ChildTimeout as error:
            end = f"was {error.how}, and was killed"
            hint = ALONE if isinstance(workload, Program) else STOPPED
            raise _failed(workload, end, hint, log) from error
        except ChildFailed as error:
            ours = error.program == SETARCH  # no program of the user
            how = error.how if ours else error.message
            raise _failed(workload, f"failed: {how}", ALONE, log) from error


def _failed(workload: Program | Command | Trace, end: str, hint: str, log: Path) -> WorkloadError:
    return WorkloadError(f'workload "{workload.name}" {end}', hint=hint, log=log)


def workload_keys(shop: Workshop, workloads: Iterable[Program | Command]) -> list[str]:
    """Return what of each workload decides about its result, for stage keys."""
    return [_key(workload, shop.options.quick) for workload in workloads]


def command_keys(shop: Workshop, workloads: Iterable[Program | Command | Trace]) -> dict[str, str]:
    """Return the digests of the programs and files that workloads name, for stage keys.

    Another python3 or gcc is another training, though the profile is the same. So is another
    script, or another server that is an argument of its driver.
    """
    found: dict[str, Path | None] = {}
    for one in workloads:
        found |= {name: find_needed(name) for name in needed_by(one)}
        found |= {name: shop.tree.root / name for name in _files_of(shop.tree.root, one)}
    return _digests(shop, dict(sorted(found.items())))


def _files_of(root: Path, workload: Program | Command | Trace) -> list[str]:
    """Return the arguments of a command that are files where it starts."""
    if isinstance(workload, Program):
        return []
    argv = workload.argv if isinstance(workload, Command) else workload.record or ()
    words = [word for word in argv[1:] if Path(word).is_absolute() or not workload.scratch]
    # Path.is_file raises where a word, such as a whole script, is too long for a name
    return [word for word in words if os.path.isfile(root / word)]  # noqa: PTH113


def task_keys(shop: Workshop, tasks: Iterable[Task]) -> dict[str, str]:
    """Return what decides about the counts of tasks beside the library, for stage keys."""
    return _digests(shop, {f"{one.name}: {one.command}": one.path for one in tasks})


def task_digest(shop: Workshop, task: Task, command: Command | None) -> str | None:
    """Return one digest of what a task runs, wherever it lies; None where that is not there.

    ``command`` is the profile's command that the task counts, None for one of ours.
    """
    digests = task_keys(shop, [task]) if command is None else command_keys(shop, [command])
    return None if task.path is None else digest_value(sorted(digests.values()))


def _digests(shop: Workshop, found: Mapping[str, Path | None]) -> dict[str, str]:
    known = Identities(shop.tree.state / MEMORY)
    return {name: known.of(path)[:16] if path else "missing" for name, path in found.items()}


def machine_key() -> dict[str, str]:
    """Return what of the machine decides what is measured, for stage keys.

    The model, and not its kind alone: models of one kind have other clocks and caches, and all that
    the table of kinds does not know are one kind.
    """
    return {"processor": machine().described, "kernel": platform.release()}


def _key(workload: Program | Command, quick: bool) -> str:
    length = workload.model_dump_json()
    return f"{length}{QUICK}" if quick and isinstance(workload, Program) else length


def in_any_mode(parts: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a stage key without how long its programs ran: people decide the rest."""
    if "workloads" not in parts:
        return parts
    return parts | {"workloads": [one.removesuffix(QUICK) for one in parts["workloads"]]}
