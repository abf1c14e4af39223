"""Builders of small judgements, so that each test spells out only what it is about."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pipeline.judge.campaign import Runner
from pipeline.judge.counts import (
    Counting,
    LibraryCounts,
    Measured,
    ProgramCounts,
    RealProgram,
    WorkloadCounts,
)
from pipeline.judge.icache import counts_own, icache_key
from pipeline.judge.keys import throughput_key
from pipeline.judge.memory_key import memory_key, rss_guard
from pipeline.judge.model import Environment, Health, HealthCheck, Keys, Library, VerifyResult
from pipeline.judge.request import BenchCommand, CacheGeometry, JudgeRequest, Margins
from pipeline.judge.samples import PairSample, RunSample, Throughput
from pipeline.judge.schedule import PlannedPair
from pipeline.judge.statistics import Interval
from pipeline.judge.summarise import summarise
from pipeline.judge.throughput import ended
from pipeline.judge.verdict import Verdict

HERE = Path(__file__).parent
RunPair = Callable[[BenchCommand, PlannedPair], PairSample]


def compiler() -> str:
    found = [path for name in ("clang-22", "clang", "gcc", "cc") if (path := shutil.which(name))]
    if not found:
        pytest.skip("there is no C compiler")
    return found[0]


def compile_c(source: str, output: Path, *flags: str) -> Path:
    command = [compiler(), "-O2", "-gdwarf-4", "-fno-builtin", str(HERE / source)]
    subprocess.run([*command, *flags, "-o", str(output)], check=True)
    return output


def in_turn(run_pair: RunPair) -> Runner:
    """Return a runner that runs the pairs of a block one after the other."""
    return lambda bench, block: [run_pair(bench, pair) for pair in block]


L1I = CacheGeometry(size=32 * 1024, ways=8)
WOBBLE = (0.0, 0.001, -0.001, 0.002, -0.002)


def waiting(samples: Sequence[PairSample], wall: float, threads: int = 2) -> list[PairSample]:
    """Return the pairs of a program whose speed by wall time changes by this factor more."""
    return [
        one.model_copy(
            update={
                side: getattr(one, side).model_copy(
                    update={
                        "threads": threads,
                        "wall_ops_per_sec": getattr(one, side).ops_per_sec * factor,
                    }
                )
                for side, factor in (("baseline", 1.0), ("tuned", wall))
            }
        )
        for one in samples
    ]


MARGINS = Margins()


def interval(low: float, high: float) -> Interval:
    return Interval(value=(low + high) / 2, low=low, high=high, confidence=0.95)


def pair(number: int, baseline: float, tuned: float, rss: tuple[int, int]) -> PairSample:
    return PairSample(
        round=number,
        first="tuned" if number % 2 else "baseline",
        padding=0,
        together=False,
        baseline=run_sample(baseline, rss[0]),
        tuned=run_sample(tuned, rss[1]),
    )


def run_sample(
    rate: float, rss_kib: int = 4096, wall_rate: float | None = None, threads: int = 1
) -> RunSample:
    return RunSample(
        ops_per_sec=rate,
        wall_ops_per_sec=wall_rate or rate,
        clock="cpu",
        threads=threads,
        peak_rss_kib=rss_kib,
    )


def pairs(
    ratio: float, count: int = 10, noise: float = 1.0, rss: tuple[int, int] = (4096, 4096)
) -> list[PairSample]:
    """Return pairs around ``ratio``, spread evenly by up to 0.2 % times ``noise``."""
    return [
        pair(number, 1e7, 1e7 * ratio * (1 + noise * WOBBLE[number % 5]), rss)
        for number in range(count)
    ]


def request_of(
    names: Sequence[str], margins: Margins | None = None, programs: Sequence[str] = ()
) -> JudgeRequest:
    return JudgeRequest(
        baseline=Path("/baseline.so"),
        tuned=Path("/tuned.so"),
        benches=tuple(
            BenchCommand(
                name=name,
                argv=(f"/bench/{name}", "--ops", "1000000"),
                kind="program" if name in programs else "loop",
            )
            for name in names
        ),
        logs=Path("/logs"),
        margins=margins or Margins(),
    )


def throughput_of(programs: Sequence[str] = (), /, **samples: list[PairSample]) -> Throughput:
    """Return the summary of the given pairs per workload, as after the last look.

    The workloads called ``programs`` are real programs.
    """
    request = request_of(list(samples), programs=programs)
    summary = summarise(request, dict(samples), share=1.0, looks=1, seconds=10.0)
    clear = throughput_key(summary, Margins()).verdict is not Verdict.INCONCLUSIVE
    stopped = "decided after 10 pairs" if clear else "not decided within 10 s"
    return ended(request, summary, stopped)


def exactly(value: float | None) -> Measured | None:
    return None if value is None else Measured(value=value, low=value, high=value)


def counts(misses: float | None, hot_lines: int | None = 20) -> LibraryCounts:
    return LibraryCounts(
        operations=10_000,
        instructions=exactly(30.0),
        total_instructions=exactly(90.0),
        i1_misses=exactly(misses),
        lines=None if hot_lines is None else hot_lines + 20,
        hot_lines=hot_lines,
        pages=None if hot_lines is None else 4,
        hot_pages=None if hot_lines is None else 2,
    )


def workload_counts(
    name: str, baseline: LibraryCounts, tuned: LibraryCounts, weight: float = 1.0
) -> WorkloadCounts:
    return WorkloadCounts(
        name=name,
        weight=weight,
        argv=(f"/bench/{name}", "--ops", "10000"),
        env={"HAKMEM_PURGE_DELAY": "3600000"},
        geometry=L1I,
        baseline=baseline,
        tuned=tuned,
    )


def counting_of(*workloads: WorkloadCounts, why: str = "as asked for") -> Counting:
    return Counting(source="valgrind", why=why, scope="bench_measured", workloads=workloads)


def program_of(name: str, baseline: float, tuned: float | None) -> RealProgram:
    """Return a real program with so many thousand misses; None for one that was not counted."""
    if tuned is None:
        detail = f"{name} is not installed"
        return RealProgram(name=name, command=name, status="skipped", detail=detail)
    return RealProgram(
        name=name,
        command=name,
        status="counted",
        detail="simulated",
        baseline=program_counts(baseline),
        tuned=program_counts(tuned),
    )


def program_counts(thousand_misses: float) -> ProgramCounts:
    return ProgramCounts(
        instructions=300_000,
        i1_misses=round(1000 * thousand_misses),
        hot_lines=200,
        total_instructions=30_000_000,
        total_i1_misses=500_000,
    )


def health_of(status: str = "passed") -> Health:
    check = HealthCheck.model_validate({"name": "python", "status": status, "detail": "as plain"})
    return Health(checks=(check,), sound=status == "passed", reason=f"python {status}")


def environment_of() -> Environment:
    return Environment(
        cpu="Example CPU",
        cores=2,
        kernel="6.1.0",
        libc="glibc 2.36",
        memory_mib=8192,
        governor=None,
        transparent_hugepages="madvise",
        pages_of_64_kib="madvise",
        aslr="2",
        load_before=0.5,
        load_after=1.25,
        l1i=L1I,
        l1i_source="sysfs",
        tools={"valgrind": "3.19.0", "perf": "not installed"},
    )


def library_of(name: str, text_bytes: int) -> Library:
    return Library(
        path=f"/build/{name}/libhakmem.so",
        sha256=(name[0].encode().hex() * 32)[:64],
        file_bytes=4 * text_bytes,
        text_bytes=text_bytes,
    )


def result_of(
    throughput: Throughput | None = None,
    counting: Counting | None = None,
    health: Health | None = None,
    programs: Sequence[RealProgram] = (program_of("python3", 4.0, 3.0),),
) -> VerifyResult:
    throughput = throughput or throughput_of(mixed=pairs(1.05))
    counting = counting or counting_of(workload_counts("mixed", counts(4.0), counts(3.0)))
    margins = Margins()
    return VerifyResult(
        created="2026-01-02T03:04:05+00:00",
        seconds=12.5,
        mode="default",
        left_out=(),
        seed=1,
        margins=margins,
        baseline=library_of("baseline", 20_000),
        tuned=library_of("tuned", 18_000),
        throughput=throughput,
        counting=counting,
        keys=Keys(
            throughput=throughput_key(throughput, margins),
            icache=icache_key(programs, margins),
            memory=memory_key(throughput, seed=1),
        ),
        rss=rss_guard(throughput, margins),
        health=health or health_of(),
        self_check=None,
        programs=tuple(programs),
        own_counted=counts_own(programs),
        environment=environment_of(),
    )
