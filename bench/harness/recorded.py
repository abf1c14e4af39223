"""The command bench/recorded: how much longer a program runs while it is recorded."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

import click

from bench.harness import options
from pipeline.core import interrupts
from pipeline.core.errors import PipelineError
from pipeline.core.files import replace_text
from pipeline.core.paths import Tree
from pipeline.trace.read import processes
from pipeline.trace.record import EVERYTHING
from pipeline.trace.tools import RecorderTools, recorder_tools

EXAMPLES = """\b
Examples:
  bench/recorded -- build/clang/bench/random_mixed --ops 3M
  bench/recorded --pairs 7 -- \\
    python3 -c 'print(sum(map(len, map(str, range(10**6)))))'"""


@dataclass(frozen=True)
class Took:
    """One run: processor time of the program and its children, and time by the clock."""

    cpu_s: float
    wall_s: float


@dataclass(frozen=True)
class Cost:
    """Runs with the recorder and without, in pairs; events and bytes of the last trace."""

    plain: tuple[Took, ...]
    recorded: tuple[Took, ...]
    events: int
    size: int


def run(argv: Sequence[str], env: dict[str, str]) -> Took:
    """Run a program without its output. Raises ClickException unless it ends with 0."""
    began = time.perf_counter()
    with subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise click.ClickException(f"{argv[0]} ended with {child.returncode}")
    return Took(used.ru_utime + used.ru_stime, time.perf_counter() - began)


def measure(tools: RecorderTools, argv: Sequence[str], pairs: int) -> Cost:
    """Run ``argv`` with and without the recorder in turns, after one run of each."""
    plain: list[Took] = []
    recorded: list[Took] = []
    events = size = 0
    for pair in range(-1, pairs):
        with tempfile.TemporaryDirectory(prefix="hakmem-", dir=Path.cwd()) as folder:
            wishes = EVERYTHING.environment(tools.library, Path(folder))
            both = [(plain, dict(os.environ)), (recorded, {**os.environ, **wishes})]
            for took, env in both if pair % 2 else reversed(both):
                took.append(run(argv, env))
            found = [p for part in Path(folder).iterdir() for p in processes(tools, part)]
        events = sum(process.sealed_events for process in found)
        size = sum(process.sealed_bytes for process in found)
    return Cost(tuple(plain[1:]), tuple(recorded[1:]), events, size)


def ratios_of(found: Cost, key: str) -> list[float]:
    """Return the ratio of each pair."""
    pairs = zip(found.plain, found.recorded, strict=True)
    return [getattr(recorded, key) / getattr(plain, key) for plain, recorded in pairs]


def ratio(found: Cost, key: str) -> str:
    """Return the median of the pairs' ratios, and its quartiles."""
    ratios = ratios_of(found, key)
    low, _, high = quantiles(ratios, n=4)
    return f"{median(ratios):.2f} [{low:.2f}, {high:.2f}]"


def render(found: Cost) -> str:
    """Return the result: ratios of time, events, bytes of an event."""
    each = f"{found.size / found.events:.2f} bytes each" if found.events else "nothing recorded"
    return (
        f"processor time: {ratio(found, 'cpu_s')} times that without the recorder "
        f"(median and quartiles of {len(found.plain)} pairs)\n"
        f"by the clock:   {ratio(found, 'wall_s')}\n"
        f"events:         {found.events:,}, {each}"
    )


def as_json(found: Cost) -> str:
    """Return a line of JSON: the ratios of each pair, and what the trace had."""
    each = {"events": found.events, "bytes_per_event": found.size / max(found.events, 1)}
    both = zip(ratios_of(found, "cpu_s"), ratios_of(found, "wall_s"), strict=True)
    return json.dumps([{"cpu_ratio": cpu, "wall_ratio": wall, **each} for cpu, wall in both]) + "\n"


@click.command(
    context_settings={
        "max_content_width": 100,
        "ignore_unknown_options": True,
        "allow_interspersed_args": False,
    },
    epilog=EXAMPLES,
)
@click.option("--pairs", default=15, show_default=True, type=click.IntRange(3), help="Of runs.")
@options.samples("the ratios of each pair")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def main(pairs: int, json_file: Path | None, command: tuple[str, ...]) -> None:
    """Run COMMAND with and without the recorder in turns; say what recording costs.

    Its output is dropped, its traces are removed; they lie in this folder meanwhile.
    """
    try:
        found = measure(recorder_tools(Tree.here()), command, pairs)
    except PipelineError as error:
        raise click.ClickException(f"{error.message}\n{error.hint}") from error
    except OSError as error:
        raise click.ClickException(f"{command[0]}: {error.strerror}") from error
    click.echo(render(found))
    if json_file:
        replace_text(json_file, as_json(found))


if __name__ == "__main__":
    interrupts.install()
    main(prog_name="bench/recorded")
