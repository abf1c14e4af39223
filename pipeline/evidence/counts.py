"""Counting many builds in the same workloads, by simulation: what chain and layout null share."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from pipeline.judge.counting.valgrind import ValgrindSource
from pipeline.judge.means import weighted_mean
from pipeline.judge.model import LibraryCounts, Measured
from pipeline.judge.pressure import presses
from pipeline.judge.request import BenchCommand, CacheGeometry

Counts = Mapping[str, LibraryCounts]
"""Counts of one build by workload."""


class BuildCounter:
    """Counts libraries in workloads under valgrind, as many at once as there are CPUs."""

    def __init__(self, valgrind: Path, geometry: CacheGeometry, logs: Path) -> None:
        """Simulate the instruction cache ``geometry``; ``logs`` gets a folder per build."""
        self._source = ValgrindSource(valgrind)
        self._geometry = geometry
        self._logs = logs

    def count(
        self,
        libraries: Mapping[str, Path],
        benches: Sequence[BenchCommand],
        done: Callable[[str], None] = lambda _: None,
    ) -> dict[str, Counts]:
        """Return the counts of each library by its name; WorkloadError if a run fails.

        ``done`` gets the name of each build as it is finished. Workloads without ``count_argv``
        are left out.
        """
        counted = [bench for bench in benches if bench.count_argv is not None]

        def one(task: tuple[str, BenchCommand]) -> LibraryCounts:
            name, bench = task
            log = self._logs / name / f"{bench.name}.log"
            named = replace(bench, name=f"{bench.name} ({name})")  # for messages
            return self._source.count(named, libraries[name], self._geometry, log)

        results: dict[str, Counts] = {}
        with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
            tasks = [(name, bench) for name in libraries for bench in counted]
            found = pool.map(one, tasks)
            for name in libraries:
                results[name] = {bench.name: next(found) for bench in counted}
                done(name)
        return results


def pressed(builds: Mapping[str, Counts]) -> tuple[str, ...]:
    """Return the workloads in which any of the builds presses on the I-cache."""
    names = next(iter(builds.values()), {})
    return tuple(name for name in names if presses(*(counts[name] for counts in builds.values())))


def weighted(
    counts: Counts, weights: Mapping[str, float], field: str, names: Sequence[str]
) -> float | None:
    """Return the mean of a field of LibraryCounts over the workloads ``names``, by weight.

    None where there is no workload, or the count is unknown in one of them.
    """
    return weighted_mean((weights[name], _value(getattr(counts[name], field))) for name in names)


def _value(count: Measured | float | None) -> float | None:
    return count.value if isinstance(count, Measured) else count
