"""The command bench/places: misses of caches if the blocks of a heap lay elsewhere.

A program runs under qemu-x86_64 with a plugin that writes what it reads and writes, and with a
recorder in front of the library that writes its blocks (``bench/placement``). The trace goes
through a pipe into a simulation of caches, once for each placement of the small blocks.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from bench.harness import options
from bench.harness.arguments import Missing, find_programs
from bench.harness.terminal import Cells, print_table, terminal
from pipeline.core import interrupts
from pipeline.core.files import replace_text

LEVELS = {"d1": "D1", "l2": "L2", "ll": "LL", "tlb": "TLB", "tlb2": "TLB 2"}
"""Keys of the simulation's lines, and what the table calls them."""
TOOLS = ("place", "place_recorder.so", "place_tracer.so")

EXAMPLES = """\b
Examples:
  bench/places --train 'lua5.4 one.lua' --test 'lua5.4 other.lua'
  bench/places --library build/clang/lib/libhakmem.so \\
    --test 'sqlite3 :memory: ".read work.sql"'"""


@dataclass(frozen=True)
class Found:
    """Totals of a trace, and the misses of each placement by level; the traced one is first."""

    totals: dict[str, int]
    misses: dict[str, dict[str, int]]


def parse(text: str) -> Found:
    """Return what ``place`` printed: totals, then a line for each placement."""
    first, *lines = (dict(word.split("=") for word in line.split()) for line in text.splitlines())
    names = [line.pop("policy") for line in lines]
    counts = [{key: int(value) for key, value in line.items()} for line in lines]
    totals = {key: int(value) for key, value in first.items()}
    return Found(totals, dict(zip(names, counts, strict=True)))


def _program(line: str) -> list[str]:
    words = shlex.split(line)
    found = shutil.which(words[0]) if words else None
    if found is None:
        raise click.ClickException(
            f"there is no program: {line}; install it, or leave that line out"
        )
    return [found, *words[1:]]


def _traced(tools: Path, library: Path | None, line: str, out: int) -> list[str]:
    """Return the command that runs a program and writes its trace to the descriptor ``out``."""
    qemu = shutil.which("qemu-x86_64")
    if qemu is None:
        raise Missing("qemu-x86_64 is missing; install it: apt-get install qemu-user")
    preload = " ".join(str(part) for part in (tools / "place_recorder.so", library) if part)
    plugin = f"file={tools / 'place_tracer.so'},out=/proc/self/fd/{out}"
    return [qemu, "-plugin", plugin, "-E", f"LD_PRELOAD={preload}", *_program(line)]


def simulate(tools: Path, library: Path | None, line: str, arguments: Sequence[str]) -> str:
    """Trace a program into ``place``; return what that prints."""
    readable, writable = os.pipe()
    command = [str(tools / "place"), *arguments]
    with subprocess.Popen(command, stdin=readable, stdout=subprocess.PIPE, text=True) as place:
        os.close(readable)
        try:
            traced = subprocess.run(
                _traced(tools, library, line, writable),
                pass_fds=[writable],
                check=False,
                stdout=subprocess.DEVNULL,
            )
        finally:
            os.close(writable)
        text, _ = place.communicate()
    if traced.returncode or place.returncode:
        ends = f"ended with {traced.returncode}, the simulation with {place.returncode}"
        raise click.ClickException(f"{line}: {ends}")
    return text


def measure(tools: Path, library: Path | None, train: str | None, test: str) -> Found:
    """Learn groups from one run if there is one, and simulate the other."""
    if train is None:
        return parse(simulate(tools, library, test, ()))
    with tempfile.TemporaryDirectory(prefix="hakmem-") as folder:
        groups = str(Path(folder) / "groups")
        simulate(tools, library, train, ("--learn", groups))
        return parse(simulate(tools, library, test, ("--groups", groups)))


def table(found: Found) -> Cells:
    """Return misses of the traced placement, and of each other one over them."""
    (name, base), *others = found.misses.items()
    rows: Cells = [["misses", *LEVELS.values()], [name, *(f"{base[key]:,}" for key in LEVELS)]]
    for other, misses in others:
        rows.append([other, *(f"{misses[key] / max(base[key], 1):.3f}" for key in LEVELS)])
    return rows


def summary(found: Found) -> str:
    """Return one line: how much of the trace could change its place at all."""
    totals, base = found.totals, next(iter(found.misses.values()))
    share = base["l2_blocks"] / max(base["l2"], 1)
    return (
        f"{totals['accesses']:,} accesses, {totals['in_blocks'] / totals['accesses']:.0%} of them "
        f"and {share:.0%} of the L2 misses in {totals['blocks']:,} small blocks"
    )


@click.command(context_settings={"max_content_width": 100}, epilog=EXAMPLES)
@click.option("--train", help="The run that teaches which call sites belong together.")
@click.option("--test", required=True, help="The run that is simulated.")
@click.option(
    "--library",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Whose blocks the programs have. [libc's]",
)
@options.programs
@options.samples("the misses of each placement")
def main(
    train: str | None,
    test: str,
    library: Path | None,
    programs: Path | None,
    json_file: Path | None,
) -> None:
    """Simulate caches for other places of a program's small blocks.

    Without a library the blocks are libc's. Children of the program are left out.
    """
    tools = find_programs(programs, ()).resolve()
    lacking = [name for name in TOOLS if not (tools / name).is_file()]
    if lacking:
        raise Missing(f"{tools} has no {lacking[0]}: it is built on x86-64 alone")
    found = measure(tools, library and library.resolve(), train, test)
    click.echo(summary(found))
    print_table(table(found), terminal())
    if json_file:
        replace_text(json_file, json.dumps(found.misses) + "\n")


if __name__ == "__main__":
    interrupts.install()
    main(prog_name="bench/places")
