"""Toy libraries of known worth, a program that runs them, and requests to judge them."""

import dataclasses
import shutil
import sys
from pathlib import Path

import pytest
from judge_support import compile_c

from pipeline.judge.request import BenchCommand, HealthCommand, JudgeRequest
from pipeline.judge.tasks import Task

VALGRIND = shutil.which("valgrind")
needs_valgrind = pytest.mark.skipif(VALGRIND is None, reason="valgrind is not installed")


def make_toys(folder: Path) -> Path:
    """Compile the libraries and programs into ``folder``, and return it."""
    for name, place, rounds in (
        ("fast", ".text", 20),
        ("far", ".toy_code", 20),
        ("slow", ".text", 80),
    ):
        flags = ("-shared", "-fPIC", f'-DPLACE="{place}"', f"-DROUNDS={rounds}")
        compile_c("toy_library.c", folder / f"{name}.so", *flags)
    crash = ("-shared", "-fPIC", '-DPLACE=".text"', "-DROUNDS=*(volatile int *)8")
    compile_c("toy_library.c", folder / "crashing.so", *crash)
    compile_c("toy_bench.c", folder / "bench", "-DMEASURED=bench_measured")
    compile_c("toy_bench.c", folder / "unmeasured", "-DMEASURED=something_else")
    return folder


def bench(built: Path, *extra: str, program: str = "bench", ops: int = 300_000) -> BenchCommand:
    path = str(built / program)
    return BenchCommand(
        name="toy",
        argv=(path, str(ops), *extra),
        count_argv=(path, "1000", *extra),
        timeout_s=200.0,
    )


def request(built: Path, logs: Path, baseline: str, tuned: str) -> JudgeRequest:
    return JudgeRequest(
        baseline=built / f"{baseline}.so",
        tuned=built / f"{tuned}.so",
        benches=(bench(built),),
        tasks=(Task("toy", "bench", ("1000",), path=built / "bench"),),
        health=(HealthCommand(name="python", argv=(sys.executable, "-c", "print(abs(-3))")),),
        logs=logs,
        time_budget_s=1.0,
    )


def timed_alone(built: Path, logs: Path, baseline: str, tuned: str) -> JudgeRequest:
    """Return a request that counts nothing."""
    asked = request(built, logs, baseline, tuned)
    (one,) = asked.benches
    return dataclasses.replace(
        asked, benches=(dataclasses.replace(one, count_argv=None),), tasks=()
    )


def quiet(_: str) -> None:
    """Take a line of progress and drop it."""
