"""The suites of ``pipeline test``: the commands of each, in order.

What has shown its worth but takes long, or tests by another way what is tested already, runs with
``--full`` alone: ctest's label ``slow``, pytest's markers ``slow`` and ``e2e``, of the gcc build
what does not depend on the compiler, clang's static analyzer, ARMv8.1's atomics, and half an hour
of the fuzzer.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

SUITES = (
    *("ruff", "mypy", "format", "clang", "tidy", "gcc", "guard", "hardened", "research"),
    *("musl", "aarch64", "aarch64-lse", "fuzz", "pytest"),
)
ONLY_FULL = ("aarch64-lse", "fuzz")
VARIANTS = ("guard", "hardened", "research")
FUZZER = "fuzz"
# As CMakePresets.json calls it; a test says so.
PRESETS_CLANG = "clang-22"
# Whose build folder has the test programs that the variants run, too.
PROGRAMS = "clang"
# Research builds differ from production by a wrapper and counters, hardened ones by a table; what
# looks at the core's life in a process is not repeated.
RESEARCH_LABELS = "unit|interface|stress|misuse|research"
HARDENED_LABELS = "unit|interface|stress|misuse"
# What a second compiler hardly changes: options, tables, real programs, and a failure at each step.
NOT_OF_THE_COMPILER = "options|preload|valgrind|docs|each_step"
ANALYZER = "clang-analyzer-*"
SLOW = "slow"
QUICK_TESTS = "not slow and not e2e"
BESIDE = "pytest"
NAMING = ("-p", "tests.pipeline.tell_failures")
"""Lets pytest name each failed test as it fails."""
# It ends with the tests that took longest: where the run has to become shorter.
PYTEST = (sys.executable, "-m", "pytest", "-q", *NAMING, "--durations=25", "--durations-min=5")
Words = Sequence[str | Path]


@dataclass(frozen=True)
class Step:
    """One command of a suite. A test runner shows its output; others only when they fail."""

    argv: tuple[str | Path, ...]
    shown: bool = False
    mend: str = ""
    """What mends what this one finds."""


def steps(suite: str, root: Path, full: bool = False) -> list[Step]:
    """Return the commands of a suite, in order."""
    slow = () if full else ("-LE", SLOW)

    here = Path(sys.executable).parent
    by_suite = {
        "ruff": lambda: (
            quiet([here / "ruff", "check", "."]) + quiet([here / "ruff", "format", "--check", "."])
        ),
        "mypy": lambda: quiet([here / "mypy"]),
        "format": lambda: formatted(c_sources(root)),
        "clang": lambda: _tested("clang", clang(), root, slow, _parts(full, "CUT_SANITIZERS")),
        "tidy": lambda: _tidy(root, full),
        "gcc": lambda: _gcc(root, full),
        "guard": lambda: _variant("guard", root, slow),
        "hardened": lambda: _variant("hardened", root, ("-L", HARDENED_LABELS, *slow)),
        "research": lambda: _variant("research", root, ("-L", RESEARCH_LABELS, *slow)),
        "musl": lambda: _portable("musl", root, slow),
        "aarch64": lambda: _portable("aarch64", root, slow),
        "aarch64-lse": lambda: _portable("aarch64-lse", root, slow),
        FUZZER: lambda: _fuzzed(root),
        "pytest": lambda: [
            Step(
                (*PYTEST, *(() if full else ("-m", QUICK_TESTS))),
                shown=True,
            )
        ],
    }
    return by_suite[suite]()


def c_sources(root: Path) -> list[Path]:
    """Return the C files and headers of the repository."""
    folders = ("allocator", "bench", "training", "tests")
    return sorted(p for f in folders for p in (root / f).rglob("*.[ch]"))


def quiet(argv: Words, mend: str = "") -> list[Step]:
    """Return one command that shows its output only when it fails."""
    return [Step(tuple(argv), mend=mend)]


def formatted(sources: Iterable[str | Path]) -> list[Step]:
    """Return the check of the layout of C files; what fails is mended by ``clang-format -i``."""
    program = llvm("clang-format")
    return quiet([program, "--dry-run", "--Werror", *sources], f"{program} -i FILE...")


def llvm(program: str) -> Path:
    """Return the path of one of LLVM's programs."""
    from pipeline.toolchain.find import find_llvm

    return find_llvm() / program


def _tested(
    preset: str, compiler: Path | str, root: Path, chosen: Words = (), settings: Words = ()
) -> list[Step]:
    """Return configure, build and test of a preset, with the compiler that was found.

    ``chosen`` are ctest's words for which tests, ``settings`` cmake's for what is built.
    """
    build = root / "build" / preset
    return [
        Step(("cmake", "--preset", preset, f"-DCMAKE_C_COMPILER={compiler}", *settings)),
        Step(("cmake", "--build", build)),
        Step((*_ctest(build), *chosen), shown=True),
    ]


def clang() -> Path | str:
    """Return the compiler as the presets name it, where that name leads to the LLVM that was found.

    For CMake another word is another compiler: it forgets all settings and builds all anew.
    """
    found, named = llvm("clang"), shutil.which(PRESETS_CLANG)
    return PRESETS_CLANG if named and Path(named).resolve() == found.resolve() else found


def _variant(preset: str, root: Path, chosen: Words) -> list[Step]:
    """Return the steps of a variant, which runs the test programs of clang's build."""
    compiler = clang()
    programs = Step(("cmake", "--preset", PROGRAMS, f"-DCMAKE_C_COMPILER={compiler}"))
    return [programs, *_tested(preset, compiler, root, chosen, programs_of(root))]


def programs_of(root: Path) -> Words:
    """Return cmake's word for a variant that shall take test programs from clang's build."""
    return [f"-DHAKMEM_TEST_PROGRAMS={root / 'build' / PROGRAMS}"]


def _ctest(build: Path) -> Words:
    return ("ctest", "--test-dir", build, "--output-on-failure", "-j", str(jobs()))


def _gcc(root: Path, full: bool) -> list[Step]:
    """Return the gcc suite. Sanitizers and the libraries with other geometries are clang's."""
    chosen = () if full else ("-LE", f"{SLOW}|{NOT_OF_THE_COMPILER}")
    return _tested("gcc", Path("gcc"), root, chosen, _parts(full, "SANITIZERS", "CUTS"))


def _parts(full: bool, *names: str) -> Words:
    """Return cmake's words for what is built with ``--full`` alone."""
    return [f"-DHAKMEM_TEST_{name}={'ON' if full else 'OFF'}" for name in names]


def _portable(preset: str, root: Path, chosen: Words) -> list[Step]:
    """Return the steps for another libc or processor, whose preset knows the compiler.

    Where its packages are missing, bootstrap has said so: nothing is done.
    """
    needs = ("musl-gcc",) if preset == "musl" else ("aarch64-linux-gnu-gcc", "qemu-aarch64")
    if not all(shutil.which(one) for one in needs):
        click.echo(f"{preset} is left out: {' and '.join(needs)} are not installed")
        return []
    build = root / "build" / preset
    # An emulator may hang by itself where a program forks; a deadlock of ours hangs again.
    again = () if preset == "musl" else ("--repeat", "after-timeout:2")
    return [
        Step(("cmake", "--preset", preset)),
        Step(("cmake", "--build", build)),
        Step((*_ctest(build), *again, *chosen), shown=True),
    ]


def _fuzzed(root: Path) -> list[Step]:
    """Return the steps that build libFuzzer's program and let it run: docs/fuzzing.md."""
    configure, _, test = _tested(FUZZER, clang(), root, ("-L", FUZZER))
    build = ("cmake", "--build", root / "build" / FUZZER, "--target", "test_fuzz")
    return [configure, Step(build), test]


def jobs() -> int:
    """Return how many tests run at a time: some take a gibibyte, and some wait for the clock.

    While one waits, all processors have something to do.
    """
    return min(4, len(os.sched_getaffinity(0)) + 1)


def _tidy(root: Path, full: bool) -> list[Step]:
    """Return clang-tidy over the library; its own build folder names each file only once.

    The static analyzer, which follows paths through the code, takes most of the time.
    """
    build = root / "build" / "tidy"
    off = [f"-DHAKMEM_{part}=OFF" for part in ("TESTS", "BENCH", "TRAINING")]
    configure = ("cmake", "--preset", "clang", "-B", build, f"-DCMAKE_C_COMPILER={clang()}")
    check = (llvm("run-clang-tidy"), "-p", build, "-quiet", f"-j{jobs()}", "-warnings-as-errors=*")
    chosen = () if full else (f"-checks=-{ANALYZER}",)
    return [
        Step((*configure, *off)),
        Step((*check, *chosen, "-clang-tidy-binary", llvm("clang-tidy"), f"{root}/allocator/")),
    ]
