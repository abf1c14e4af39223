"""What a person sees while a build runs.

On a terminal each stage has a live line with its time so far and what it does at the moment; else
each stage prints a plain line when it starts, one now and then while it works, and one when it is
done.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial

from rich.console import Console

from pipeline.core import process
from pipeline.core.paste import in_lines, runnable
from pipeline.core.repeating import repeating

NAME_WIDTH = 18  # of context-instrument, the longest
# In a log, a stage says what it does at most once in so many seconds.
QUIET_S = 20.0
BRIEF = "PIPELINE_BRIEF"
"""`.ci/review` sets this variable: its answer comes later, and has the tables."""
Say = Callable[[str], None]


def is_brief() -> bool:
    """Say whether a build shows its headline alone, and no next commands."""
    return bool(os.environ.get(BRIEF))


class StageLine:
    """The line of one stage: tell what it does now, and in the end what came of it."""

    def __init__(self, show: Say) -> None:
        """Show intermediate steps by ``show``."""
        self._show = show
        self._text = ""
        self.result = ""

    def step(self, text: str) -> None:
        """Say what the stage does at the moment."""
        self._text = text
        self._show(text)

    def part(self, done: int, total: int) -> None:
        """Say how much of the last step is done."""
        self._show(f"{self._text}, {done} of {total}")

    def done(self, text: str) -> None:
        """Say what came of the stage, in a few words."""
        self.result = text


class StageLog:
    """What a log gets of a stage: what it does, in a line each QUIET_S at most.

    A step that takes long is named again: else it looks like one that hangs.
    """

    def __init__(self, name: str, say: Say, clock: Callable[[], float]) -> None:
        """Tell of the stage ``name`` by ``say``, from now on."""
        self._name, self._say, self._clock = name, say, clock
        self._started = self._last = clock()
        self._text = "at work"
        self._lock = threading.Lock()

    def step(self, text: str) -> None:
        """Note what the stage does now, and say it if nothing was said for long."""
        with self._lock:
            self._text = text
        self.remind()

    def remind(self) -> None:
        """Say what the stage does, if nothing was said for long."""
        with self._lock:
            now = self._clock()
            if now - self._last >= QUIET_S:
                self._last = now
                self._say(f"{self._name}: {self._text} (for {now - self._started:.0f} s now)")

    def reminding(self) -> AbstractContextManager[None]:
        """Remind from a thread of its own while the block works."""
        return repeating(self.remind, QUIET_S / 4)


class _Screen(Console):
    def on_broken_pipe(self) -> None:
        """Go on in silence: who reads, as head does, has seen enough, and the work is not done."""
        with suppress(SystemExit):
            super().on_broken_pipe()


class BuildConsole:
    """Progress and messages of one run, on one rich console."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        """Write to ``console``; whether it is a terminal decides the style."""
        self.rich = console
        self._clock = clock
        self.live = console.is_terminal

    def say(self, text: str) -> None:
        """Print one plain line, as it is."""
        self._print(runnable(text))

    def prose(self, text: str) -> None:
        """Print a sentence: on a terminal in lines that fit."""
        self._print(in_lines(text, self.rich.width) if self.live else runnable(text))

    def _print(self, text: str, style: str | None = None) -> None:
        self.rich.print(text, style=style, markup=False, highlight=False, soft_wrap=True)

    def heading(self, text: str) -> None:
        """Print a line that begins a section."""
        self.rich.rule(f"[bold]{text}", align="left")

    def notice(self, text: str) -> None:
        """Print one line that a person should not overlook."""
        self._print(runnable(f"note: {text}"), "yellow")

    def child(self, line: str) -> None:
        """Print the pasteable line of a child process (``-v``)."""
        self._print(f"  $ {line}", "dim")

    def reused(self, name: str, result: str) -> None:
        """Show a stage whose artifact is there already."""
        if self.live:
            self.rich.print(
                f"[green]✓[/] [bold]{name:<{NAME_WIDTH}}[/]  unchanged  ", end="", style="dim"
            )
            self.say(result)
        else:
            self.say(f"{name}: unchanged{': ' if result else ''}{result}")

    @contextmanager
    def stage(self, name: str) -> Iterator[StageLine]:
        """Show a stage while it works; its result when it is done; nothing more if it fails."""
        started = self._clock()
        with self._steps(name) as line:
            yield line
        self._finished(name, line.result, self._clock() - started)

    @contextmanager
    def _steps(self, name: str) -> Iterator[StageLine]:
        if not self.live:
            self.say(f"{name}: started")
            log = StageLog(name, self.say, self._clock)
            with log.reminding():
                yield StageLine(log.step)
            return
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.table import Column

        # The last column has what is left of the width: it is the one that is cut.
        columns = (
            SpinnerColumn(),
            TextColumn(f"[bold]{name:<{NAME_WIDTH}}"),
            TimeElapsedColumn(),
            TextColumn(
                "{task.description}",
                style="dim",
                markup=False,
                table_column=Column(ratio=1, no_wrap=True),
            ),
        )
        with Progress(*columns, console=self.rich, transient=True, expand=True) as progress:
            task = progress.add_task("", total=None)
            yield StageLine(lambda text: progress.update(task, description=text))

    def _finished(self, name: str, result: str, seconds: float) -> None:
        if self.live:
            self.rich.print(f"[green]✓[/] [bold]{name:<{NAME_WIDTH}}[/]{seconds:6.1f} s  ", end="")
            self.say(result)
        else:
            self.say(f"{name}: done in {seconds:.1f} s{': ' if result else ''}{result}")


def open_console(verbose: bool = False, *, beside: bool = False) -> BuildConsole:
    """Return the console of this run; with ``verbose`` it also shows every child command.

    ``beside``: what the run tells goes to stderr, as its result is what stdout is for.
    """
    console = BuildConsole(_Screen(stderr=beside))
    if verbose:
        process.echo = console.child
    return console


def numbered(say: Callable[[str], None], total: int) -> Callable[[str], None]:
    """Return ``say`` with a number behind each text: one takes seconds, and there are many."""
    numbers = itertools.count(1)
    return lambda text: say(f"{text}, {next(numbers)} of {total}")


class HeldConsole(BuildConsole):
    """The console of a stage that works beside others: it is silent until told to speak."""

    def __init__(self, console: BuildConsole) -> None:
        """Hold what is for ``console``."""
        super().__init__(console.rich)
        self._console = console
        self._held: list[Callable[[], None]] = []

    def tell(self) -> None:
        """Say all that was held, in order."""
        for words in self._held:
            words()
        self._held.clear()

    def reused(self, name: str, result: str) -> None:
        """Hold the line of a stage whose artifact is there already."""
        self._held.append(partial(self._console.reused, name, result))

    def heading(self, text: str) -> None:
        """Hold a line that begins a section."""
        self._held.append(partial(self._console.heading, text))

    def _print(self, text: str, style: str | None = None) -> None:
        self._held.append(partial(self._console._print, text, style))

    @contextmanager
    def _steps(self, _name: str) -> Iterator[StageLine]:
        yield StageLine(lambda _: None)

    def _finished(self, name: str, result: str, seconds: float) -> None:
        self._held.append(partial(self._console._finished, name, result, seconds))
