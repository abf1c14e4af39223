"""Counting both libraries in every workload, with the best source this machine has."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pipeline.core.pool import pool
from pipeline.judge.counting import hardware
from pipeline.judge.counting.hardware import HardwareSource
from pipeline.judge.counting.source import Source, Unsupported
from pipeline.judge.counting.valgrind import ValgrindSource
from pipeline.judge.counts import Counting, LibraryCounts, WorkloadCounts
from pipeline.judge.pressure import most_pressing
from pipeline.judge.request import BenchCommand, CacheGeometry, JudgeRequest, Side, Tools
from pipeline.judge.samples import SIDES

Progress = Callable[[str], None]
Item = TypeVar("Item")
Result = TypeVar("Result")


def choose_source(tools: Tools) -> tuple[Source, str]:
    """Return the source and why it was taken: simulation, unless the hardware counts here."""
    try:
        return _hardware(tools), "hardware counters are supported"
    except Unsupported as error:
        return ValgrindSource(tools.valgrind), str(error)


def _hardware(tools: Tools) -> Source:
    if tools.perf is None:
        raise Unsupported("perf is not installed")
    return HardwareSource(tools.perf, hardware.probe(tools.perf))


def count(
    request: JudgeRequest,
    sides: Mapping[Side, Path],
    geometries: tuple[CacheGeometry, ...],
    progress: Progress,
) -> Counting:
    """Return the counts of both sides in the first geometry.

    The others make the curve, of the workload that presses most on the I-cache.
    """
    source, why = choose_source(request.tools)
    counter = _Counter(request, source, sides, progress)
    counted = [bench for bench in request.benches if bench.count_argv is not None]
    workloads = tuple(
        counter.deciding(bench, geometries[0], f"{number} of {len(counted)}")
        for number, bench in enumerate(counted, 1)
    )
    swept = most_pressing(workloads)
    further = [one for one in geometries[1:] if not _is_known(one, workloads)]
    return Counting(
        source=source.name,
        why=why,
        scope=source.scope,
        workloads=workloads,
        curve=tuple(
            counter.simulated(bench, one, f"cache {number} of {len(further)} of its curve")
            for bench in counted
            if bench.name == swept
            for number, one in enumerate(further, 1)
        ),
        uncounted=tuple(one.name for one in request.benches if one.count_argv is None),
    )


def _is_known(cache: CacheGeometry, counted: Sequence[WorkloadCounts]) -> bool:
    """Return whether misses were simulated in ``cache`` already: they would be the same again."""
    return any(one.geometry == cache for one in counted)


class _Counter:
    """One request's counting, workload by workload."""

    def __init__(
        self,
        request: JudgeRequest,
        source: Source,
        sides: Mapping[Side, Path],
        progress: Progress,
    ) -> None:
        self._request = request
        self._source = source
        self._sides = sides
        self._progress = progress
        self._simulation = ValgrindSource(request.tools.valgrind)

    def deciding(self, bench: BenchCommand, geometry: CacheGeometry, which: str) -> WorkloadCounts:
        """Return the counts that the report tells of a workload, which is ``which`` of how many.

        Hardware cannot tell lines and pages: simulation fills them in.
        """
        if self._source.name == "valgrind":
            return self.simulated(bench, geometry, which)
        counts = self._both(self._source, bench, geometry, which)
        footprint = self.simulated(bench, geometry, which)
        return counts.model_copy(
            update={
                "geometry": None,
                "baseline": _with_footprint(counts.baseline, footprint.baseline),
                "tuned": _with_footprint(counts.tuned, footprint.tuned),
            }
        )

    def simulated(self, bench: BenchCommand, geometry: CacheGeometry, which: str) -> WorkloadCounts:
        """Return the counts of a workload in a simulated cache."""
        return self._both(self._simulation, bench, geometry, which)

    def _both(
        self, source: Source, bench: BenchCommand, geometry: CacheGeometry, which: str
    ) -> WorkloadCounts:
        """Count both sides. Simulations run side by side: they do not disturb each other."""
        self._progress(f"counting {bench.name}, {which} ({source.name}, {geometry})")
        folder = self._request.logs / "count" / bench.name

        def one(side: Side) -> LibraryCounts:
            named = replace(bench, name=f"{bench.name} ({side})")  # for messages
            log = folder / f"{side}-{geometry.size}.log"
            return source.count(named, self._sides[side], geometry, log)

        is_simulated = source.name == "valgrind"
        counts = in_parallel(one, SIDES) if is_simulated else list(map(one, SIDES))
        return WorkloadCounts(
            name=bench.name,
            weight=bench.weight,
            argv=bench.count_argv or bench.argv if is_simulated else bench.argv,
            env=dict(bench.count_env) if is_simulated else {},
            geometry=geometry,
            baseline=counts[0],
            tuned=counts[1],
        )


def in_parallel(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return ``work`` of each item, in order; as many at once as there are CPUs for us."""
    with pool(len(os.sched_getaffinity(0))) as threads:
        return list(threads.map(work, items))


def _with_footprint(counts: LibraryCounts, simulated: LibraryCounts) -> LibraryCounts:
    names = ("lines", "hot_lines", "pages", "hot_pages")
    return counts.model_copy(update={name: getattr(simulated, name) for name in names})
