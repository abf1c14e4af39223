"""Counting by simulation: callgrind, exact to the instruction, on any machine.

Only the function ``bench_measured`` is collected, so start-up, set-up and printing are left out.
Results repeat exactly, also under another environment size; a test says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import DataError, ToolError, WorkloadError
from pipeline.core.preload import check_preloadable
from pipeline.core.process import Completed
from pipeline.judge.bench import read_result, run_workload
from pipeline.judge.counting.callgrind_file import Profile, Region, read_profile
from pipeline.judge.counts import CountingSource, LibraryCounts, Measured
from pipeline.judge.request import COUNTING_SLOWDOWN, BenchCommand, CacheGeometry
from pipeline.toolchain.elf_file import interpreter, reading
from pipeline.toolchain.loader_log import files_of, mapped, tell_loaded

LINE = 64
PAGE = 4096
MEASURED_FUNCTION = "bench_measured"
Starter = Callable[[tuple[str, ...], Mapping[str, str]], Completed]


@dataclass(frozen=True)
class Simulation:
    """What is simulated: a program with its variables, the library, and where to look.

    ``argv`` has an absolute program path. ``function`` limits collecting to one function and
    what it calls; None collects from the first instruction to the last. ``branches`` are counted
    too, which costs time.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    library: Path
    geometry: CacheGeometry
    log: Path
    function: str | None = MEASURED_FUNCTION
    branches: bool = True

    def command(self, valgrind: Path, counts: Path) -> tuple[str, ...]:
        """Return the command line that writes ``counts``."""
        return (*self.simulator(valgrind, str(counts)), *client_command(self.argv, self.library))

    def simulator(self, valgrind: Path, counts: str) -> tuple[str, ...]:
        """Return valgrind with its options; ``counts`` may have %p for the number of a process."""
        collect = (f"--toggle-collect={self.function}",) if self.function else ()
        cache = self.geometry
        return (
            str(valgrind),
            "--command-line-only=yes",  # no options from ~/.valgrindrc or VALGRIND_OPTS
            "--tool=callgrind",
            *collect,
            "--cache-sim=yes",
            f"--I1={cache.size},{cache.ways},{cache.line}",
            f"--branch-sim={'yes' if self.branches else 'no'}",
            "--dump-instr=yes",
            "--dump-line=no",
            "--compress-strings=no",
            "--compress-pos=no",
            f"--callgrind-out-file={counts}",
        )


def simulate(valgrind: Path, what: Simulation, start: Starter) -> tuple[Profile, Completed]:
    """Run a simulation by ``start(argv, env)``; return what the library did, and the run.

    Raises what ``start`` raises, and DataError when the library was not mapped into the program
    or the counts cannot be used.
    """
    log, library = what.log, what.library
    loader_log, counts = log.with_suffix(".ld"), log.with_suffix(".callgrind")
    log.parent.mkdir(parents=True, exist_ok=True)
    _remove(loader_log, counts)
    done = start(what.command(valgrind, counts), {**what.env, **tell_loaded(loader_log)})
    profile = read_profile(counts, _find_region(loader_log, library))
    _remove(loader_log, counts)
    return profile, done


class ValgrindSource:
    """Counts under callgrind with a simulated instruction cache."""

    name: CountingSource = "valgrind"
    scope = f"the function {MEASURED_FUNCTION} alone, simulated instruction cache"

    def __init__(self, valgrind: Path) -> None:
        self._valgrind = valgrind

    def count(
        self, bench: BenchCommand, library: Path, geometry: CacheGeometry, log: Path
    ) -> LibraryCounts:
        """Return exact counts of ``library`` in one run of ``bench.count_argv``."""
        library = library.resolve()
        argv = bench.count_argv or bench.argv
        what = Simulation(argv, {**bench.env, **bench.count_env}, library, geometry, log)

        def start(argv: tuple[str, ...], env: Mapping[str, str]) -> Completed:
            return run_workload(bench, argv, env, bench.timeout_s * COUNTING_SLOWDOWN, log)

        profile, done = simulate(self._valgrind, what, start)
        operations = read_result(bench, done, library).operations
        _check(bench, profile, log)
        return _counts(profile, operations)


def client_command(argv: tuple[str, ...], library: Path) -> tuple[str, ...]:
    """Return the command that loads ``library`` into the client and nothing else.

    valgrind is a shell script and a launcher before it is a simulator; LD_PRELOAD would load the
    library into both. The dynamic linker, called by name, takes the preload as an option.
    """
    linker = reading(Path(argv[0]), interpreter)
    if linker is None:
        raise ToolError(
            f"{argv[0]} is statically linked: no library can be preloaded into it",
            hint="name a program that is linked dynamically",
        )
    check_preloadable(library)
    return (linker, "--preload", str(library), *argv)


def _find_region(loader_log: Path, library: Path) -> Region:
    """Return where the dynamic linker mapped ``library`` in the client."""
    for path in files_of(loader_log):
        region = region_at(mapped(path, library), library)
        if region:
            return region
    raise DataError(
        f"{library} was not mapped into the counted program",
        log=loader_log,
        hint="is the program linked statically, or setuid?",
    )


def region_at(place: tuple[int, int] | None, library: Path) -> Region | None:
    """Return where ``library`` lies by base and size; None: nowhere."""
    return None if place is None else Region(str(library), *place)


def _check(bench: BenchCommand, profile: Profile, log: Path) -> None:
    if not profile.total_instructions:
        raise WorkloadError(
            f"workload {bench.name}: {MEASURED_FUNCTION} was never entered",
            hint="bench programs need an external, not inlined function of that name",
            log=log,
        )
    if not profile.instructions:
        raise WorkloadError(
            f"workload {bench.name}: the preloaded library executed nothing",
            log=log,
            hint="does the program take its malloc from libc?",
        )


def _counts(profile: Profile, operations: int) -> LibraryCounts:
    return LibraryCounts(
        operations=operations,
        instructions=exactly(profile.instructions.total() / operations),
        total_instructions=exactly(profile.total_instructions / operations),
        i1_misses=exactly(profile.i1_misses.total() / operations),
        branches=None if profile.branches is None else exactly(profile.branches / operations),
        lines=profile.touched(LINE),
        hot_lines=profile.hot(LINE),
        pages=profile.touched(PAGE),
        hot_pages=profile.hot(PAGE),
    )


def exactly(value: float) -> Measured:
    """Return a count that has no spread."""
    return Measured(value=value, low=value, high=value)


def _remove(loader_log: Path, counts: Path) -> None:
    counts.unlink(missing_ok=True)
    for path in loader_log.parent.glob(f"{loader_log.name}.*"):
        path.unlink()
