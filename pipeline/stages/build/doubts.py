"""What a run shows to be suspicious though it ended well: a driver may hide that its client failed.

A doubt is what stands out and why, as a report has it, with its topic if it has one. Stages
keep doubts in their notes, so that a build which does not do the stage again says them again.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pipeline.core.paths import from_here
from pipeline.core.process import first_line
from pipeline.core.store import Artifact
from pipeline.judge.topic import Topic
from pipeline.profile.workload import Command, Program, Trace
from pipeline.report.text import WROTE, many
from pipeline.stages.build.workshop import Workshop

Doubt = tuple[str, str] | tuple[str, str, Topic]
DOUBTS = "doubts"

TIMES_OVER = 20
"""A recording that even the shortest run plays more often than this gets a note. git's of `mixed`
is played three times."""
LITTLE_WORK = 150_000
"""Counts of a training: about 30,000 calls of malloc and free. A server in python3 that starts and
is not asked has half as many."""
SHORT_S = 0.04
"""Of processor time: an interpreter takes 0.02 to 0.03 s to start."""


def tell_doubts(shop: Workshop, made: Artifact) -> None:
    """Say the doubts of a stage."""
    for what, why, *_ in made.receipt.notes[DOUBTS]:
        shop.console.notice(f"{what}: {why}")


def words_to_stderr(name: str, stderr: str, log: Path) -> list[Doubt]:
    """Return that a workload which ended well wrote to stderr, with its first line."""
    said = first_line(stderr)
    what = f'workload "{name}" {WROTE}'
    return [(what, f"{said!r}; log: {from_here(log)}", Topic.STDERR)] if said else []


def short_recording(trace: Trace, recorded: str, events: int, log: Path) -> list[Doubt]:
    """Return that a recording is far shorter than what is played of it."""
    times = trace.quick_ops // events
    if times < TIMES_OVER:
        return []
    why = (
        f"{recorded}, which a run plays {times:,} times or more: did the program do its work? "
        "If so, give it more"
    )
    where = f"; log: {from_here(log)}" if trace.record else ""
    return [(f'the recording "{trace.name}" is short', why + where)]


def idle(name: str, work: int, seconds: float, log: Path, *, starts: bool) -> list[Doubt]:
    """Return that a training run used the library hardly at all.

    ``starts``: it is a program of the machine, which takes time to start.
    """
    if work >= LITTLE_WORK and not (starts and seconds < SHORT_S):
        return []
    what = f'workload "{name}" trains on next to nothing'
    why = f"{seconds:.3f} s of processor time, {many(work, 'count')} in the library"
    return [(what, f"{why}: did the program do its work? log: {from_here(log)}")]


def learnt(workloads: Iterable[Program | Command | Trace]) -> list[Doubt]:
    """Return which recordings judge by the very command that trains: the gain may be learnt."""
    workloads = tuple(workloads)
    trained = {_command(one) for one in workloads if one.role == "train"} - {()}
    why = "the library is made for just that input, so a gain may not hold: give it another input"
    return [
        (f'workload "{one.name}" judges by the command that trains', why)
        for one in workloads
        if isinstance(one, Trace) and one.role == "verify" and one.record in trained
    ]


def _command(workload: Program | Command | Trace) -> tuple[str, ...]:
    if isinstance(workload, Command):
        return workload.argv
    return workload.record or () if isinstance(workload, Trace) else ()
