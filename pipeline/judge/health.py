"""Health: real programs must do with the tuned library what they do without it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import ChildError
from pipeline.core.paths import from_here
from pipeline.core.pool import pool
from pipeline.core.preload import preload
from pipeline.core.process import WORDS, Completed, describe_exit, first_line, run
from pipeline.judge.bench import NOT_PRELOADED
from pipeline.judge.model import SILENT, Health, HealthCheck
from pipeline.judge.request import HealthCommand

VARIES = "its output differs from run to run without the library, too"
PLAIN_RUNS = 6
"""Without the library, before other output is called the library's fault: two lines that race for
their order may come alike a few times."""


def check_all(
    commands: tuple[HealthCommand, ...],
    library: Path,
    logs: Path,
    progress: Callable[[str], None],
    notice: Callable[[str], None] = lambda _: None,
) -> Health:
    """Run every command plain and preloaded, and return what was found.

    A program that fails plain proves nothing about the library: it is skipped, and named.
    ``notice`` hears at once what stops the build: the measurements that follow take minutes.
    """
    checks = []
    for command in commands:
        progress(f"health: {command.name}")
        checks.append(check_one(command, library, logs))
    health = summarise(tuple(checks))
    if health.silent:
        notice(f"{health.silent}; a check has to print what its program worked out")
    if not health.sound:
        notice(f"nothing will be published: {health.reason}; the build goes on for its report")
    return health


def summarise(checks: tuple[HealthCheck, ...]) -> Health:
    """Return whether the library is healthy: nothing failed, and something really ran."""
    failed = [one for one in checks if one.status == "failed"]
    passed = [one for one in checks if one.status == "passed"]
    if failed:
        named = "; ".join(map(_failed, failed))
        return Health(checks=checks, sound=False, reason=f"health check failed: {named}")
    if not passed:
        why = "".join(f"; {one.name}: {one.detail}" for one in checks)
        reason = f"no health check could be run, so nothing is shown{why}"
        return Health(checks=checks, sound=False, reason=reason)
    ran = "1 program runs" if len(passed) == 1 else f"{len(passed)} programs run"
    return Health(checks=checks, sound=True, reason=f"{ran} correctly")


def plain_log(name: str) -> str:
    """Return the file name of the log of a check without the library."""
    return f"{name}-plain.log"


def preloaded_log(name: str) -> str:
    """Return the file name of the log of a check with the library."""
    return f"{name}-preloaded.log"


def compare_logs(names: Sequence[str], folder: str) -> str:
    """Return what to look at first after these checks failed; ``folder`` has their logs."""
    each = " and ".join(f"`{plain_log(name)}` with `{preloaded_log(name)}`" for name in names)
    return f"compare {each} in {folder}; what follows the `$` in their first line runs it again"


def _failed(check: HealthCheck) -> str:
    log = f" (log: {from_here(check.log)})" if check.log else ""
    return f"{check.name}: {check.detail}{log}"


@dataclass(frozen=True)
class Unfit:
    """Why a command can show nothing, and whether it ``fails`` without the library."""

    why: str
    fails: bool


def unfit(command: HealthCommand, logs: Path) -> Unfit | None:
    """Return why a command can show nothing, by two runs without the library; None if it can."""
    log = logs / plain_log(command.name)
    printed = []
    for _ in range(2):
        plain = _run(command, {}, log)
        if isinstance(plain, str) or plain.returncode:
            return Unfit(f"plain run: {_ended(plain)} (log: {from_here(log)})", fails=True)
        printed.append(plain.stdout)
    if printed[0] == printed[1]:
        return None
    return Unfit(f"{VARIES}; {_first_difference(*printed)}", fails=False)


def clash(command: HealthCommand, logs: Path) -> str | None:
    """Return how one of two runs at once fails without the library; None if both end well.

    Such are the runs of a pair, where a workload has one thread, and runs that are counted.
    """
    numbered = [logs / f"{command.name}-at-once-{number}.log" for number in (1, 2)]
    with pool(len(numbered)) as threads:
        runs = list(threads.map(lambda log: _run(command, {}, log), numbered))
    for plain, log in zip(runs, numbered, strict=True):
        if isinstance(plain, str) or plain.returncode:
            return f"{_ended(plain)} (log: {from_here(log)})"
    return None


def check_one(command: HealthCommand, library: Path, logs: Path) -> HealthCheck:
    """Run one command plain and preloaded."""
    if shutil.which(command.argv[0], path=command.env.get("PATH")) is None:
        return _result(command, "skipped", f"{command.argv[0]} is not installed")
    without = logs / plain_log(command.name)
    log = logs / preloaded_log(command.name)
    plain = _run(command, {}, without)
    if isinstance(plain, str) or plain.returncode:
        return _result(command, "skipped", f"plain run: {_ended(plain)}", without)
    return _judged(command, plain, _run(command, preload(library), log), logs, log)


def _judged(
    command: HealthCommand, plain: Completed, loaded: Completed | str, logs: Path, log: Path
) -> HealthCheck:
    """Hold the preloaded run against the plain one, and that against other plain ones."""
    if isinstance(loaded, str):
        return _result(command, "failed", loaded, log)
    if problem := _problem(loaded):
        return _result(command, "failed", problem, log)
    if loaded.stdout == plain.stdout:
        return _passed(command, loaded, log)
    if _varies(command, plain, logs):
        return _result(command, "skipped", VARIES, log)
    other = f"other output: {_first_difference(plain.stdout, loaded.stdout)}"
    return _result(command, "failed", other, log)


def _passed(command: HealthCommand, loaded: Completed, log: Path) -> HealthCheck:
    silent = not loaded.stdout.strip()
    found = _result(command, "passed", SILENT if silent else "same as plain", log)
    return found.model_copy(update={"stderr": first_line(loaded.stderr), "silent": silent})


def _varies(command: HealthCommand, plain: Completed, logs: Path) -> bool:
    """Return whether one of several further plain runs prints something else."""
    log = logs / f"{command.name}-plain-again.log"
    again = (_run(command, {}, log) for _ in range(PLAIN_RUNS - 1))
    return any(isinstance(one, Completed) and one.stdout != plain.stdout for one in again)


def _run(command: HealthCommand, extra: dict[str, str], log: Path) -> Completed | str:
    """Return the finished run, or the sentence that says why there is none."""
    try:
        with tempfile.TemporaryDirectory(prefix="health-") as scratch:
            return run(
                command.argv,
                env={**command.env, **extra},
                cwd=Path(scratch) if command.scratch else command.cwd,
                timeout_s=command.timeout_s,
                log=log,
                expect=None,
            )
    except ChildError as error:
        return error.message


def _problem(loaded: Completed) -> str | None:
    if NOT_PRELOADED in loaded.stderr:
        return "the library could not be preloaded"
    return _ended(loaded) if loaded.returncode else None


def _ended(done: Completed | str) -> str:
    """Return how a run ended, with the last line that it wrote to stderr."""
    if isinstance(done, str):
        return done
    lines = done.stderr.strip().splitlines()
    last = f", its last words: {lines[-1].strip()[:WORDS]!r}" if lines else ""
    return f"{describe_exit(done.returncode)}{last}"


def _first_difference(plain: str, loaded: str) -> str:
    """Return the first line that differs, cut to a readable length."""
    left, right = plain.splitlines(), loaded.splitlines()
    order = ", the same lines in another order" if sorted(left) == sorted(right) else ""
    for number, (one, other) in enumerate(zip(left, right, strict=False), start=1):
        if one != other:
            return f"line {number}: {one[:60]!r} became {other[:60]!r}{order}"
    return f"{len(left)} lines became {len(right)}"


def _result(
    command: HealthCommand,
    status: str,
    detail: str,
    log: Path | None = None,
) -> HealthCheck:
    return HealthCheck.model_validate(
        {
            "name": command.name,
            "status": status,
            "detail": detail,
            "log": None if log is None else str(log),
        }
    )
