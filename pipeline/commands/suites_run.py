"""Suites are run, one after the other or beside each other, and summed up."""

from __future__ import annotations

import shlex
import textwrap
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.suites import BESIDE, Step

if TYPE_CHECKING:
    from pipeline.core.console import BuildConsole
    from pipeline.core.paths import Tree


# A build or clang-tidy that needs longer than this hangs; in seconds.
STEP_LIMIT_S = 3600.0
REMINDED_S = 30.0
# Of a command below a suite that failed: with blanks before it and "..." behind it 80 columns are
# full.
DETAIL_WIDTH = 72
BUILDING = ("cmake", "--build")


@dataclass(frozen=True)
class Outcome:
    """What came of a suite: seconds, those of processors, and the command that failed, if any.

    ``unbuilt``: a compiler refused the sources, so what else fails may fail for that.
    """

    suite: str
    seconds: float
    cpu_s: float
    failed: str = ""
    unbuilt: bool = False


def conclude(outcomes: list[Outcome], again: str) -> None:
    """Print the summary; raise TestsFailed with the command that runs the failed suite again."""
    from pipeline.core.errors import TestsFailed

    summarise(outcomes)
    failed = [outcome for outcome in outcomes if outcome.failed]
    if failed:
        raise TestsFailed(
            f"{len(failed)} of {len(outcomes)} suites failed",
            hint=f"mend it, then run {again.format(suite=failed[0].suite)}",
        )


def run_all(
    todo: dict[str, list[Step]], tree: Tree, console: BuildConsole, *, quick: bool = False
) -> list[Outcome]:
    """Run suites one after the other; the one that goes beside the others is shown last.

    ``quick``: that one is left out where a compiler refuses what the others test.
    """
    from pipeline.core.beside import running_beside
    from pipeline.core.paths import from_here

    if BESIDE not in todo or len(todo) == 1:
        return [_run_one(suite, commands, tree, console) for suite, commands in todo.items()]
    log = tree.state / "tests" / f"{BESIDE}.log"
    console.say(f"{BESIDE} has begun, beside the others; its log: {from_here(log)}")
    (step,) = todo.pop(BESIDE)
    shown = False
    try:
        with running_beside(step.argv, log=log, cwd=tree.root) as beside:
            outcomes = [_run_one(suite, some, tree, console) for suite, some in todo.items()]
            if quick and any(one.unbuilt for one in outcomes):
                console.say(f"{BESIDE} is left out: first mend what the compiler refuses")
                return outcomes
            console.heading(BESIDE)
            shown = True
            code, seconds, cpu_s = beside.finish(lambda text: click.echo(text, nl=False))
    except KeyboardInterrupt:
        if not shown:
            _tell_failed(log)
        raise
    failed = _failure(step, code) if code != 0 else ""
    return [*outcomes, Outcome(BESIDE, seconds, cpu_s, failed)]


def _tell_failed(log: Path) -> None:
    """Name the tests that failed before an interrupt, of a run that was not shown yet."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    for line in dict.fromkeys(line for line in lines if line.startswith("FAILED ")):
        click.echo(line)


def _run_one(suite: str, todo: list[Step], tree: Tree, console: BuildConsole) -> Outcome:
    console.heading(suite)
    return run_suite(suite, todo, tree)


def run_suite(suite: str, todo: list[Step], tree: Tree) -> Outcome:
    """Run the commands of a suite up to the first that fails."""
    from pipeline.core.beside import children_cpu_s

    started, used = time.monotonic(), children_cpu_s()
    failed, unbuilt = "", False
    for number, step in enumerate(todo, start=1):
        log = tree.state / "tests" / f"{suite}-{number}.log"
        code = _run_step(step, log, tree.root)
        if code != 0:
            failed = _failure(step, code, None if step.shown else log)
            unbuilt = step.argv[:2] == BUILDING
            break
    return Outcome(suite, time.monotonic() - started, children_cpu_s() - used, failed, unbuilt)


def _failure(step: Step, code: int, log: Path | None = None) -> str:
    """Return what failed, in a few lines: a build names more than a hundred targets."""
    from pipeline.core.paste import in_shell_lines
    from pipeline.core.paths import from_here

    words, is_cut = _first_words(step)
    parts = [f"exit code {code}: {in_shell_lines(words, DETAIL_WIDTH)}{' ...' if is_cut else ''}"]
    if log or is_cut:
        parts += [f"all of it: {from_here(log) if log else 'shown with -v'}"]
    parts += [f"to mend it: {step.mend}"] if step.mend else []
    return "\n".join(parts)


def _first_words(step: Step) -> tuple[list[str], bool]:
    """Return as much of a command as tells which one it is, quoted, and whether that is not all."""
    from pipeline.core.process import WORDS

    words = [shlex.quote(str(word)) for word in step.argv]
    kept = [*words]
    while len(kept) > 1 and len(" ".join(kept)) > WORDS:
        kept.pop()
    return kept, kept != words


def summarise(outcomes: list[Outcome]) -> None:
    """Print one line per suite, its time and that of processors, and below it what failed.

    On a busy machine the time of processors says what a suite costs.
    """
    click.echo("\nsummary")
    for outcome in outcomes:
        word, colour = ("FAILED", "red") if outcome.failed else ("passed", "green")
        times = f"{outcome.seconds:7.1f} s {outcome.cpu_s:7.1f} s of processors"
        click.echo(f"  {outcome.suite:<11}{times}  {click.style(word, fg=colour)}")
        if outcome.failed:
            click.echo(textwrap.indent(outcome.failed, "    "))
    click.echo(f"  {'all':<11}{'':9} {sum(one.cpu_s for one in outcomes):7.1f} s of processors")


def _reminding(step: Step) -> AbstractContextManager[None]:
    """Say now and then, while a quiet step runs, that it does: one that compiles takes minutes."""
    from pipeline.core.repeating import repeating

    began = time.monotonic()
    name = " ".join([Path(step.argv[0]).name, *map(str, step.argv[1:2])])

    def remind() -> None:
        click.echo(f"still at it, for {time.monotonic() - began:.0f} s now: {name}")

    return repeating(remind, REMINDED_S)


def _run_step(step: Step, log: Path, root: Path) -> int:
    """Return the exit code of a step; a quiet one shows its output only when it failed."""
    from pipeline.core.process import run, run_visible

    if step.shown:
        return run_visible(step.argv, cwd=root)
    with _reminding(step):
        done = run(step.argv, cwd=root, log=log, timeout_s=STEP_LIMIT_S, expect=None)
    if done.returncode != 0:
        click.echo(done.stdout + done.stderr)
    return done.returncode
