"""Running one pair of processes: together on one CPU, or one after the other.

On a shared machine the speed of a CPU changes by a third within seconds: its neighbours come and
go. A single-threaded pair therefore runs *together*, pinned to one CPU, where the kernel takes
turns every few milliseconds and charges each process its own CPU time: whatever slows the one
slows the other. The two pairs of a block run side by side, each on a CPU of its own: on a shared
machine the judge so gets twice as much of it. Programs with several threads need their CPUs
for themselves, and their wall time means something: they run *in turn*, A B B A.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pipeline.core.errors import SpaceError, WorkloadError
from pipeline.core.pool import pool
from pipeline.judge.bench import timed_run
from pipeline.judge.request import BenchCommand, Side
from pipeline.judge.samples import PairSample, RunSample
from pipeline.judge.schedule import BLOCK, Block, PlannedPair

KEPT_LOGS = 100
"""Runs are short and many: the logs of the last so many pairs of a workload are kept."""


def stage(libraries: Mapping[Side, Path], folder: Path) -> dict[Side, Path]:
    """Copy both libraries to paths of equal length below ``folder``, and return these.

    The path is part of the environment of each run: a longer one would move the stack of that
    side alone. The copies also keep what was judged, whatever happens to the originals.
    """
    staged: dict[Side, Path] = {}
    for (side, library), name in zip(libraries.items(), "ab", strict=True):
        target = folder.resolve() / name / "libhakmem.so"
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(library, target)
        except OSError as error:
            raise SpaceError(f"cannot write {target}: {error.strerror}") from error
        staged[side] = target
    return staged


class PairedRunner:
    """Runs pairs of real processes with the two libraries preloaded."""

    def __init__(self, sides: Mapping[Side, Path], logs: Path) -> None:
        """Use the library of each side; ``logs`` gets a folder per workload."""
        self._sides = sides
        self._logs = logs
        self._single: dict[str, bool] = {}

    def __call__(self, bench: BenchCommand, pair: PlannedPair) -> PairSample:
        """Run one pair. Raises WorkloadError that names workload and side."""
        together = self._is_single_threaded(bench)
        runs = self._together(bench, pair) if together else self._in_turn(bench, pair)
        return PairSample(
            round=pair.round,
            first=pair.first,
            padding=pair.padding,
            place=pair.place,
            together=together,
            baseline=runs["baseline"],
            tuned=runs["tuned"],
        )

    def block(self, bench: BenchCommand, block: Block) -> list[PairSample]:
        """Run the pairs of a block: side by side if each has a CPU, else one after the other."""
        if len(os.sched_getaffinity(0)) < BLOCK or not self._is_single_threaded(bench):
            return [self(bench, pair) for pair in block]
        with pool(BLOCK) as threads:
            return list(threads.map(lambda pair: self(bench, pair), block))

    def warm_up(self, bench: BenchCommand) -> None:
        """Run it once if it has not run yet; that does not count."""
        self._is_single_threaded(bench)

    def _is_single_threaded(self, bench: BenchCommand) -> bool:
        """Ask the program, by a first run that is not counted and warms the page cache.

        A program that does not tell its threads or its CPU time is run in turn.
        """
        if bench.name not in self._single:
            log = self._logs / bench.name / "warm-up.log"
            env = bench.side_env.get("baseline")
            sample = timed_run(bench, self._sides["baseline"], 0, log, env)
            self._single[bench.name] = sample.threads == 1 and sample.clock == "cpu"
        return self._single[bench.name]

    def _in_turn(self, bench: BenchCommand, pair: PlannedPair) -> dict[Side, RunSample]:
        return {side: self._run(bench, pair, side) for side in pair.order}

    def _together(self, bench: BenchCommand, pair: PlannedPair) -> dict[Side, RunSample]:
        """Run both sides at once on one CPU, another one each pair; the first one starts first."""
        cpus = sorted(os.sched_getaffinity(0))
        cpu = cpus[pair.round % len(cpus)]
        patient = replace(bench, timeout_s=2 * bench.timeout_s)

        def pinned(side: Side) -> RunSample:
            os.sched_setaffinity(0, {cpu})  # of this thread alone; its child inherits it
            try:
                return self._run(patient, pair, side)
            except WorkloadError as error:
                if bench.kind == "loop":  # ours, which share nothing
                    raise
                raise _beside_itself(error) from error

        with pool(2) as threads:
            futures = {side: threads.submit(pinned, side) for side in pair.order}
        return {side: future.result() for side, future in futures.items()}

    def _run(self, bench: BenchCommand, pair: PlannedPair, side: Side) -> RunSample:
        log = self._logs / bench.name / f"{pair.round % KEPT_LOGS:03d}-{side}.log"
        named = replace(bench, name=f"{bench.name} ({side})")  # for messages
        env = bench.side_env.get(side)
        return timed_run(named, self._sides[side], pair.padding, log, env, pair.place)


def _beside_itself(error: WorkloadError) -> WorkloadError:
    """Return the error of a program that may have failed because another run was beside it."""
    needs = "with `threads` 1 several run at once: each needs a port and files of its own"
    hint = "; ".join(filter(None, (error.hint, needs)))
    return WorkloadError(error.message, hint=hint, log=error.log)
