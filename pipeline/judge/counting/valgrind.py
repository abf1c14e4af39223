"""Counting by simulation: callgrind, exact to the instruction, on any machine.

Only the function ``bench_measured`` is collected, so start-up, set-up and printing are left out.
Results repeat exactly, also under another environment size; a test says so.
"""

from __future__ import annotations

import re
from pathlib import Path

from pipeline.core.errors import DataError, ToolError, WorkloadError
from pipeline.judge.bench import read_result, run_workload
from pipeline.judge.counting.callgrind_file import Profile, Region, read_profile
from pipeline.judge.counting.elf import read_elf
from pipeline.judge.model import CountingSource, LibraryCounts, Measured
from pipeline.judge.request import COUNTING_SLOWDOWN, BenchCommand, CacheGeometry

LINE = 64
PAGE = 4096
MEASURED_FUNCTION = "bench_measured"
_MAPPED = re.compile(
    r"file=(\S+) \[\d+\];\s+generating link map\s.*?base: (0x\w+)\s+size: (0x\w+)", re.DOTALL
)


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
        loader_log, counts = log.with_suffix(".ld"), log.with_suffix(".callgrind")
        log.parent.mkdir(parents=True, exist_ok=True)
        _remove(loader_log, counts)
        argv = self._command(bench, library, geometry, counts)
        loader = {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(loader_log)}
        env = {**bench.env, **bench.count_env, **loader}
        done = run_workload(bench, argv, env, bench.timeout_s * COUNTING_SLOWDOWN, log)
        operations = read_result(bench, done, library).operations
        region = _find_region(loader_log, library)
        profile = read_profile(counts, region)
        _check(bench, profile, log)
        _remove(loader_log, counts)
        return _counts(profile, operations)

    def _command(
        self, bench: BenchCommand, library: Path, geometry: CacheGeometry, counts: Path
    ) -> tuple[str, ...]:
        argv = bench.count_argv or bench.argv
        return (
            str(self._valgrind),
            "--command-line-only=yes",  # no options from ~/.valgrindrc or VALGRIND_OPTS
            "--tool=callgrind",
            f"--toggle-collect={MEASURED_FUNCTION}",
            "--cache-sim=yes",
            f"--I1={geometry.size},{geometry.ways},{geometry.line}",
            "--dump-instr=yes",
            "--dump-line=no",
            "--compress-strings=no",
            "--compress-pos=no",
            f"--callgrind-out-file={counts}",
            *client_command(argv, library),
        )


def client_command(argv: tuple[str, ...], library: Path) -> tuple[str, ...]:
    """Return the command that loads ``library`` into the client and nothing else.

    valgrind is a shell script and a launcher before it is a simulator; LD_PRELOAD would load the
    library into both. The dynamic linker, called by name, takes the preload as an option.
    """
    interpreter = read_elf(Path(argv[0])).interpreter
    if interpreter is None:
        raise ToolError(f"{argv[0]} is statically linked: no library can be preloaded into it")
    return (interpreter, "--preload", str(library), *argv)


def _find_region(loader_log: Path, library: Path) -> Region:
    """Return where the dynamic linker mapped ``library`` in the client."""
    for path in sorted(loader_log.parent.glob(f"{loader_log.name}.*")):
        text = re.sub(r"^ *\d+:\t?", "", path.read_text(errors="replace"), flags=re.MULTILINE)
        for name, base, size in _MAPPED.findall(text):
            if name == str(library):
                return Region(path=name, base=int(base, 16), span=int(size, 16))
    raise DataError(f"{library} was not mapped into the counted program", log=loader_log)


def _check(bench: BenchCommand, profile: Profile, log: Path) -> None:
    if not profile.total_instructions:
        raise WorkloadError(
            f"verify workload {bench.name}: {MEASURED_FUNCTION} was never entered",
            hint="bench programs need an external, not inlined function of that name",
            log=log,
        )
    if not profile.instructions:
        raise WorkloadError(
            f"verify workload {bench.name}: the preloaded library executed nothing", log=log
        )


def _counts(profile: Profile, operations: int) -> LibraryCounts:
    return LibraryCounts(
        operations=operations,
        instructions=exactly(profile.instructions.total() / operations),
        total_instructions=exactly(profile.total_instructions / operations),
        i1_misses=exactly(profile.i1_misses.total() / operations),
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
