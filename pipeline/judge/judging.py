"""The judgement as one straight page: stage, check health, count, measure, check itself, decide."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from pipeline.judge import environment
from pipeline.judge.counting.count import count
from pipeline.judge.counting.whole import count_programs, whole_counter
from pipeline.judge.counts import RealProgram
from pipeline.judge.health import check_all
from pipeline.judge.icache import counts_own, icache_key
from pipeline.judge.keys import throughput_key
from pipeline.judge.l1i import SWEEP, machine_l1i
from pipeline.judge.memory_key import memory_key, rss_guard
from pipeline.judge.model import Keys, Library, VerifyResult
from pipeline.judge.pairing import PairedRunner, stage
from pipeline.judge.request import CacheGeometry, JudgeRequest, Mode, Side
from pipeline.judge.samples import SIDES, Throughput
from pipeline.judge.selfcheck import check
from pipeline.judge.throughput import measure
from pipeline.toolchain.elf_file import reading, text_bytes

Progress = Callable[[str], None]


def judge(
    request: JudgeRequest, progress: Progress, notice: Progress = lambda _: None
) -> VerifyResult:
    """Judge ``request.tuned`` against ``request.baseline``.

    ``progress`` gets short lines as the work goes on, ``notice`` a failed health check at once.
    Raises WorkloadError when a workload fails, ArtifactError when a library is not one. A
    worse build is no error: it is a result.
    """
    started, load_before = time.monotonic(), environment.load()
    libraries = {side: describe(_library(request, side)) for side in SIDES}
    sides = stage({side: _library(request, side) for side in SIDES}, request.logs)
    health = check_all(request.health, sides["tuned"], request.logs / "health", progress, notice)
    counting = count(request, sides, geometries(request.mode), progress)
    programs = count_programs(whole_counter(request), sides, request.tasks, progress)
    runner = PairedRunner(sides, request.logs / "throughput")
    throughput = measure(request, runner.block, progress)
    self_check = check(request, programs, progress)
    return VerifyResult(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=round(time.monotonic() - started, 3),
        mode=request.mode,
        left_out=request.left_out,
        seed=request.seed,
        margins=request.margins,
        baseline=libraries["baseline"],
        tuned=libraries["tuned"],
        throughput=throughput,
        counting=counting,
        keys=_keys(request, throughput, programs),
        rss=rss_guard(throughput, request.margins),
        health=health,
        self_check=self_check,
        programs=programs,
        own_counted=counts_own(programs),
        environment=environment.record(vars(request.tools), load_before),
    )


def _keys(request: JudgeRequest, throughput: Throughput, programs: Sequence[RealProgram]) -> Keys:
    return Keys(
        throughput=throughput_key(throughput, request.margins),
        icache=icache_key(programs, request.margins),
        memory=memory_key(throughput, request.seed),
    )


def _library(request: JudgeRequest, side: Side) -> Path:
    return request.baseline if side == "baseline" else request.tuned


def describe(library: Path) -> Library:
    """Return what identifies a library file. Raises ArtifactError when it is no ELF file."""
    code = reading(library, text_bytes)
    content = library.read_bytes()
    return Library(
        path=str(library),
        sha256=sha256(content).hexdigest(),
        file_bytes=len(content),
        text_bytes=code,
    )


def geometries(mode: Mode) -> tuple[CacheGeometry, ...]:
    """Return the caches to simulate: this machine's own, which decides, and the curve's.

    Only a thorough judgement has the curve: no key goes by it.
    """
    return (machine_l1i()[0], *(SWEEP if mode == "thorough" else ()))
