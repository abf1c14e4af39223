"""``pipeline test``: every check of the repository, with a summary and one exit code."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

SUITES = ("ruff", "mypy", "format", "clang", "tidy", "gcc", "pytest")


@dataclass(frozen=True)
class Step:
    """One command of a suite."""

    suite: str
    argv: tuple[str | Path, ...]


@dataclass(frozen=True)
class Outcome:
    """What came of a suite: seconds, and the command that failed, if any."""

    suite: str
    seconds: float
    failed: str = ""


@click.command("test")
@click.option("--only", multiple=True, type=click.Choice(SUITES), help="Run these suites alone.")
@click.option("--verbose", "-v", is_flag=True, help="Show commands as lines to paste.")
def test_command(only: tuple[str, ...], verbose: bool) -> None:
    """Run all tests: C and Python, style, types, clang and gcc builds."""
    from pipeline.core.console import open_console
    from pipeline.core.errors import TestsFailed
    from pipeline.core.paths import Tree

    console = open_console(verbose)
    chosen = only or SUITES
    outcomes = []
    for suite in SUITES:
        if suite in chosen:
            console.heading(suite)
            outcomes.append(_run_suite(suite, Tree.here().root))
    _summarise(outcomes)
    failed = [outcome for outcome in outcomes if outcome.failed]
    if failed:
        raise TestsFailed(
            f"{len(failed)} of {len(outcomes)} suites failed",
            hint=f"alone: ./bootstrap test --only {failed[0].suite}",
        )


def steps(suite: str, root: Path) -> list[Step]:
    """Return the commands of a suite, in order."""
    import sys

    python = Path(sys.executable)
    here = python.parent
    by_suite: dict[str, list[Sequence[str | Path]]] = {
        "ruff": [[here / "ruff", "check", "."], [here / "ruff", "format", "--check", "."]],
        "mypy": [[here / "mypy"]],
        "format": [[_llvm("clang-format"), "--dry-run", "--Werror", *c_sources(root)]],
        "clang": _cmake("clang", root),
        "tidy": [
            [
                _llvm("clang-tidy"),
                "-p",
                root / "build" / "clang",
                "--quiet",
                "--warnings-as-errors=*",
                *_tidied(root),
            ]
        ],
        "gcc": _cmake("gcc", root),
        "pytest": [[python, "-m", "pytest", "-q"]],
    }
    return [Step(suite, tuple(argv)) for argv in by_suite[suite]]


def c_sources(root: Path) -> list[Path]:
    """Return the C files and headers of the repository."""
    folders = ("allocator", "bench", "training", "tests")
    return sorted(p for f in folders for p in (root / f).rglob("*.[ch]"))


def _tidied(root: Path) -> list[Path]:
    return sorted((root / "allocator").rglob("*.c"))


def _llvm(program: str) -> Path:
    from pipeline.toolchain.find import find_llvm

    return find_llvm() / program


def _cmake(preset: str, root: Path) -> list[Sequence[str | Path]]:
    """Return configure, build and test of a preset, with the compiler that was found."""
    compiler = _llvm("clang") if preset == "clang" else Path("gcc")
    build = root / "build" / preset
    return [
        ["cmake", "--preset", preset, f"-DCMAKE_C_COMPILER={compiler}"],
        ["cmake", "--build", build],
        ["ctest", "--test-dir", build, "--output-on-failure", "-j", "2"],
    ]


def _run_suite(suite: str, root: Path) -> Outcome:
    from pipeline.core.process import pasteable, run_visible

    started = time.monotonic()
    for step in steps(suite, root):
        code = run_visible(step.argv, cwd=root)
        if code != 0:
            line = pasteable([str(word) for word in step.argv[:6]], None, None)
            return Outcome(suite, time.monotonic() - started, f"exit code {code}: {line}")
    return Outcome(suite, time.monotonic() - started)


def _summarise(outcomes: list[Outcome]) -> None:
    click.echo("\nsummary")
    for outcome in outcomes:
        state = f"FAILED  {outcome.failed}" if outcome.failed else "passed"
        colour = "red" if outcome.failed else "green"
        click.echo(
            f"  {outcome.suite:<8}{outcome.seconds:7.1f} s  " + click.style(state, fg=colour)
        )
