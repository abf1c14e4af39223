"""Counting by hardware: perf samples every n-th event and names the library it happened in.

perf stat cannot count one library alone, so samples are counted: the number of samples in the
library times the sampling period. Each event is recorded in a run of its own, so nothing is
multiplexed, and each run is repeated, so the spread is known. What the machine does not support
is unknown: it makes this source unavailable, never a zero.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from pipeline.core.errors import ChildError, DataError, WorkloadError
from pipeline.core.process import run
from pipeline.judge.bench import read_result, run_workload
from pipeline.judge.counting.source import Unsupported
from pipeline.judge.counting.valgrind import client_command
from pipeline.judge.model import CountingSource, LibraryCounts, Measured
from pipeline.judge.request import COUNTING_SLOWDOWN, BenchCommand, CacheGeometry

INSTRUCTIONS = "instructions:u"
I1_MISSES = "L1-icache-load-misses:u"
PERIODS = {INSTRUCTIONS: 1_000_003, I1_MISSES: 10_007}
"""Events per sample; primes, so that sampling does not fall into step with a loop."""

REPEATS = 3
PROBE_LIMIT_S = 20.0
_SAMPLE = re.compile(r"^\s*(\d+)\s+\S+\s+[0-9a-f]+\s+\((.*)\)\s*$")


def probe(perf: Path) -> None:
    """Return when this machine counts both events. Raises Unsupported with the reason."""
    events = f"{INSTRUCTIONS},{I1_MISSES}"
    try:
        done = run([perf, "stat", "-x", ";", "-e", events, "true"], timeout_s=PROBE_LIMIT_S)
    except ChildError as error:
        raise Unsupported(f"perf stat failed: {error.message.splitlines()[-1].strip()}") from error
    values = parse_stat(done.stderr)
    for event in (INSTRUCTIONS, I1_MISSES):
        value = values.get(event.removesuffix(":u"))
        if value is None:
            raise Unsupported(f"perf cannot count {event} on this machine")


def parse_stat(text: str) -> dict[str, int | None]:
    """Return event -> count from ``perf stat -x ;``; None is what perf does not know.

    "<not supported>", "<not counted>" and a count that was multiplexed (a running share below
    100 %) are unknown. Names are returned without their modifier.
    """
    values: dict[str, int | None] = {}
    for line in text.splitlines():
        fields = line.split(";")
        if len(fields) >= 5:
            whole = fields[0].isdigit() and float(fields[4].replace(",", ".")) > 99.9
            values[fields[2].split(":")[0]] = int(fields[0]) if whole else None
    return values


class HardwareSource:
    """Counts with the machine's own counters, over the whole process in user mode."""

    name: CountingSource = "hardware"
    scope = "the whole process in user mode, sampled by hardware counters"

    def __init__(self, perf: Path) -> None:
        self._perf = perf

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
        instructions, totals, operations = self._repeat(bench, library, INSTRUCTIONS, log)
        misses, _, _ = self._repeat(bench, library, I1_MISSES, log)
        if not instructions.value:
            raise WorkloadError(
                f"verify workload {bench.name}: the preloaded library executed nothing", log=log
            )
        return LibraryCounts(
            operations=operations,
            instructions=instructions,
            total_instructions=totals,
            i1_misses=misses,
        )

    def _repeat(
        self, bench: BenchCommand, library: Path, event: str, log: Path
    ) -> tuple[Measured, Measured, int]:
        inside, overall, operations = [], [], 1
        for number in range(REPEATS):
            one_log = log.with_suffix(f".{event.removesuffix(':u')}-{number}.log")
            per_object, operations = self._record(bench, library, event, one_log)
            inside.append(per_object.get(str(library), 0) / operations)
            overall.append(sum(per_object.values()) / operations)
        return _middle(inside), _middle(overall), operations

    def _record(
        self, bench: BenchCommand, library: Path, event: str, log: Path
    ) -> tuple[Mapping[str, int], int]:
        data = log.with_suffix(".perf")
        client = client_command(bench.argv, library)
        argv = (str(self._perf), "record", "-q", "-e", event, "-c", str(PERIODS[event]),
                "-o", str(data), "--", *client)  # fmt: skip
        limit = bench.timeout_s * COUNTING_SLOWDOWN
        done = run_workload(bench, argv, bench.env, limit, log)
        operations = read_result(bench, done, library).operations
        script = run([self._perf, "script", "-i", data, "-F", "event,period,ip,dso"])
        data.unlink()
        return parse_samples(script.stdout), operations


def parse_samples(text: str) -> dict[str, int]:
    """Return object -> events from ``perf script -F event,period,ip,dso``.

    Raises DataError when there is not one sample: a run without samples tells nothing.
    """
    counts: dict[str, int] = {}
    for line in text.splitlines():
        found = _SAMPLE.match(line)
        if found:
            period, name = int(found[1]), found[2]
            counts[name] = counts.get(name, 0) + period
    if not counts:
        raise DataError("perf recorded no sample")
    return counts


def _middle(values: list[float]) -> Measured:
    return Measured(value=median(values), low=min(values), high=max(values))
