"""One run of one bench program with a library preloaded, and the reading of its last line."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import ChildError, WorkloadError
from pipeline.core.preload import preload
from pipeline.core.process import Completed, run
from pipeline.judge.request import BenchCommand
from pipeline.judge.samples import Clock, RunSample

PADDING_VARIABLE = "JUDGE_PADDING"
NOT_PRELOADED = "ERROR: ld.so: object"
_FIELD = re.compile(r"(\w+)=(\S+)")


@dataclass(frozen=True)
class BenchLine:
    """The machine-readable last line of a bench program."""

    operations: int
    seconds: float
    cpu_seconds: float | None
    threads: int | None
    peak_rss_kib: int
    allocator: str | None
    looked: int = 0

    @property
    def clock(self) -> Clock:
        """Return which clock judges this run.

        CPU time, of all threads together: on a shared machine, wall time would measure the
        neighbours. Wall time only for programs that do not print their CPU time. What CPU time
        cannot see, threads that sleep on a lock, is caught by the wall-time veto in keys.py.
        """
        return "wall" if self.cpu_seconds is None else "cpu"

    def sample(self) -> RunSample:
        """Return the run as it is kept in the result."""
        spent = self.seconds if self.cpu_seconds is None else self.cpu_seconds
        return RunSample(
            ops_per_sec=self.operations / spent,
            wall_ops_per_sec=self.operations / self.seconds,
            clock=self.clock,
            threads=self.threads,
            peak_rss_kib=self.peak_rss_kib,
            looked=self.looked,
        )


def parse_bench_line(stdout: str) -> BenchLine:
    """Return the numbers of the last line of ``stdout``.

    Raises ValueError when there is none, when a number is missing, or when one is not positive:
    a measurement that failed must never look like a slow or a small one.
    """
    lines = stdout.strip().splitlines()
    fields = dict(_FIELD.findall(lines[-1])) if lines else {}
    return BenchLine(
        operations=int(_positive(fields, "ops")),
        seconds=_positive(fields, "seconds"),
        cpu_seconds=_positive(fields, "cpu_seconds") if "cpu_seconds" in fields else None,
        threads=int(_positive(fields, "threads")) if "threads" in fields else None,
        peak_rss_kib=int(_positive(fields, "peak_rss_kib")),
        allocator=fields.get("allocator"),
        looked=int(fields.get("looked", "0")),
    )


def _positive(fields: Mapping[str, str], name: str) -> float:
    if name not in fields:
        raise ValueError(f"its last line has no {name}=")
    number = float(fields[name])
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"its last line says {name}={fields[name]}")
    return number


def timed_run(
    bench: BenchCommand,
    library: Path,
    padding: int,
    log: Path,
    env: Mapping[str, str] | None = None,
    place: int = 0,
) -> RunSample:
    """Run ``bench`` once with ``library`` preloaded and return what it measured.

    ``padding`` bytes are added to the environment, and the variables ``env``; the program's code
    lies at ``place``. Raises WorkloadError, with the log, when the program fails, hangs, prints no
    result, or ran without the library.
    """
    variables = {**bench.env, **(env or {}), **preload(library), PADDING_VARIABLE: "x" * padding}
    done = run_workload(bench, bench.at(place), variables, bench.timeout_s, log, tied=False)
    return read_result(bench, done, library).sample()


def run_workload(
    bench: BenchCommand,
    argv: tuple[str, ...],
    env: Mapping[str, str],
    timeout_s: float,
    log: Path,
    tied: bool = True,
) -> Completed:
    """Run ``argv`` for ``bench``; every way to fail becomes a WorkloadError that names it."""
    try:
        return run(argv, env=env, timeout_s=timeout_s, log=log, tied=tied)
    except ChildError as error:
        raise WorkloadError(
            f"workload {bench.name}: {error.how}",  # the program is often one of ours
            hint=error.hint or "run the first line of the log in a shell",
            log=log,
        ) from error


def read_result(bench: BenchCommand, done: Completed, library: Path) -> BenchLine:
    """Return the result line of a finished run, or raise WorkloadError.

    The dynamic linker only warns when it cannot preload a library, and the program then runs on
    libc's allocator: equal to itself, and meaningless. Programs that name the file their malloc
    comes from are held to it.
    """
    if NOT_PRELOADED in done.stderr:
        warning = next(line for line in done.stderr.splitlines() if NOT_PRELOADED in line)
        raise WorkloadError(f"workload {bench.name}: {warning}", log=done.log)
    try:
        line = parse_bench_line(done.stdout)
    except ValueError as error:
        raise WorkloadError(
            f"workload {bench.name}: no result: {error}",
            hint="bench programs end with a line of key=value; see docs/benchmarks.md",
            log=done.log,
        ) from error
    if line.allocator not in (None, library.name):
        raise WorkloadError(
            f"workload {bench.name}: ran on {line.allocator} instead of {library.name}",
            log=done.log,
            hint="is the program linked statically, or setuid?",
        )
    return line
