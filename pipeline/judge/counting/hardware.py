"""Counting by hardware: perf samples every n-th event and names the library it happened in.

perf stat cannot count one library alone, so samples are counted: the number of samples in the
library times the sampling period. Events are recorded in groups that the machine counts at once,
which a probe finds out, so nothing is multiplexed; each group is recorded several times, so the
spread is known. Optional events that the machine does not support are None; without the required
ones the whole source is unavailable. Nothing unknown becomes a zero.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median

from pipeline.core.errors import ChildError, DataError, WorkloadError
from pipeline.core.process import run
from pipeline.judge.bench import read_result, run_workload
from pipeline.judge.counting.perf_output import Samples, parse_samples, parse_stat
from pipeline.judge.counting.source import Unsupported
from pipeline.judge.counting.valgrind import client_command
from pipeline.judge.counts import CountingSource, LibraryCounts, Measured
from pipeline.judge.request import COUNTING_SLOWDOWN, BenchCommand, CacheGeometry

INSTRUCTIONS, I1_MISSES = "instructions", "L1-icache-load-misses"
REQUIRED = (INSTRUCTIONS, I1_MISSES)
EVENTS: Mapping[str, tuple[str, int]] = {
    INSTRUCTIONS: ("instructions", 1_000_003),
    "cycles": ("cycles", 1_000_003),
    "branches": ("branches", 200_003),
    "branch-misses": ("branch_misses", 1_009),
    I1_MISSES: ("i1_misses", 10_007),
    "iTLB-load-misses": ("itlb_misses", 1_009),
    "L1-dcache-load-misses": ("l1d_misses", 10_007),
    "dTLB-load-misses": ("dtlb_misses", 1_009),
}
"""perf's event -> field of LibraryCounts, and events per sample.

The periods are primes, so that sampling does not fall into step with a loop."""

GROUPS = (
    (INSTRUCTIONS, "cycles", "branches"),
    (I1_MISSES, "iTLB-load-misses"),
    ("L1-dcache-load-misses", "dTLB-load-misses", "branch-misses"),
)
"""What is wished to be counted at once: four programmable counters are common, two always."""

REPEATS = 3
PROBE_LIMIT_S = 20.0
Group = tuple[str, ...]


def probe(perf: Path) -> tuple[Group, ...]:
    """Return the groups of events that this machine counts without multiplexing.

    A group that does not fit is taken apart, and events that are not supported are left out.
    Raises Unsupported when a required event is among these.
    """
    known = {event for event in EVENTS if _counts(perf, (event,))}
    for event in REQUIRED:
        if event not in known:
            raise Unsupported(f"perf cannot count {event}:u on this machine")
    return tuple(part for group in GROUPS for part in _fitting(perf, group, known))


def _fitting(perf: Path, group: Group, known: set[str]) -> Iterator[Group]:
    left = tuple(event for event in group if event in known)
    if len(left) > 1 and not _counts(perf, left):
        yield from ((event,) for event in left)
    elif left:
        yield left


def _counts(perf: Path, group: Group) -> bool:
    """Return whether perf counts all events of ``group`` at once, in user mode."""
    spelled = "{" + ",".join(f"{event}:u" for event in group) + "}"
    try:
        done = run([perf, "stat", "-x", ";", "-e", spelled, "true"], timeout_s=PROBE_LIMIT_S)
    except ChildError:
        return False
    values = parse_stat(done.stderr)
    return all(values.get(event) is not None for event in group)


class HardwareSource:
    """Counts with the machine's own counters, over the whole process in user mode."""

    name: CountingSource = "hardware"
    scope = "the whole process in user mode, sampled by hardware counters"

    def __init__(self, perf: Path, groups: tuple[Group, ...]) -> None:
        """Use ``perf``, with the groups that :func:`probe` has found."""
        self._perf = perf
        self._groups = groups

    def count(
        self, bench: BenchCommand, library: Path, geometry: CacheGeometry, log: Path
    ) -> LibraryCounts:
        """Return counts of ``library`` in runs of ``bench.argv``.

        The real cache is what it is, so ``geometry`` plays no part. Lines and pages cannot be
        told from samples: they are None.
        """
        del geometry
        library = library.resolve()
        log.parent.mkdir(parents=True, exist_ok=True)
        counts: dict[str, Measured] = {}
        operations = 1
        for number, group in enumerate(self._groups):
            runs, operations = self._repeat(bench, library, group, log.with_suffix(f".{number}"))
            counts |= _per_operation(runs, group, library, operations)
        if not counts[EVENTS[INSTRUCTIONS][0]].value:
            raise WorkloadError(
                f"workload {bench.name}: the preloaded library executed nothing",
                log=log,
                hint="does the program take its malloc from libc?",
            )
        return LibraryCounts.model_validate({"operations": operations, **counts})

    def _repeat(
        self, bench: BenchCommand, library: Path, group: Group, stem: Path
    ) -> tuple[list[Samples], int]:
        runs, operations = [], 1
        for number in range(REPEATS):
            log = stem.with_name(f"{stem.name}-{number}.log")
            samples, operations = self._record(bench, library, group, log)
            runs.append(samples)
        return runs, operations

    def _record(
        self, bench: BenchCommand, library: Path, group: Group, log: Path
    ) -> tuple[Samples, int]:
        data = log.with_suffix(".perf")
        argv = (str(self._perf), "record", "-q", "-e", spelled(group), "-o", str(data), "--",
                *client_command(bench.argv, library))  # fmt: skip
        done = run_workload(bench, argv, bench.env, bench.timeout_s * COUNTING_SLOWDOWN, log)
        operations = read_result(bench, done, library).operations
        script = run([self._perf, "script", "-i", data, "-F", "event,period,ip,dso"])
        data.unlink()
        samples = parse_samples(script.stdout)
        if INSTRUCTIONS in group and not samples.get(INSTRUCTIONS):
            raise DataError(
                "perf recorded no sample of a whole run",
                log=log,
                hint="`.venv/bin/pipeline doctor` says what this machine can count",
            )
        return samples, operations


def spelled(group: Group) -> str:
    """Return a group as perf record takes it: at once, each with its period, in user mode."""
    return "{" + ",".join(f"{event}/period={EVENTS[event][1]}/u" for event in group) + "}"


def _per_operation(
    runs: list[Samples], group: Group, library: Path, operations: int
) -> dict[str, Measured]:
    """Return field -> events per operation in ``library``.

    An event without a sample happened less often than its period, in a run of millions of
    instructions: zero is what was measured.
    """
    found: dict[str, list[float]] = defaultdict(list)
    for samples in runs:
        for event in group:
            counted = samples.get(event, Counter())
            found[EVENTS[event][0]].append(counted.get(str(library), 0) / operations)
            if event == INSTRUCTIONS:
                found["total_instructions"].append(sum(counted.values()) / operations)
    return {name: _middle(values) for name, values in found.items()}


def _middle(values: list[float]) -> Measured:
    return Measured(value=median(values), low=min(values), high=max(values))
