"""record: make the traces that a profile asks for, and the programs that play them.

A trace comes from a file of the user's or from a command that is run now with the recorder. It is
cut to the events that the profile names, without command lines and addresses.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.core.console import StageLine, numbered
from pipeline.core.digest import digest_file, digest_tree
from pipeline.core.errors import DataError
from pipeline.core.preload import preload
from pipeline.core.process import Completed
from pipeline.core.receipt import Notes
from pipeline.profile.workload import Trace
from pipeline.report.text import many
from pipeline.stages.build.configure import Setup, trace_file
from pipeline.stages.build.doubts import (
    DOUBTS,
    Doubt,
    short_recording,
    tell_doubts,
    words_to_stderr,
)
from pipeline.stages.build.programs import command_path, require_program
from pipeline.stages.build.workloads import Prepared, command_keys, run_workload
from pipeline.stages.build.workshop import Workshop
from pipeline.trace.record import EVERYTHING, Wishes, join
from pipeline.trace.tools import SOURCES, RecorderTools, recorder_tools

STAGE = "record"
# Enough for any run of a workload; a longer trace is only a larger file.
MOST_EVENTS = 1_000_000


def record(shop: Workshop, setup: Setup) -> Setup:
    """Return the setup with each trace as a program that plays it."""
    if not setup.traces:
        return setup
    parts = {
        "traces": [trace.model_dump_json() for trace in setup.traces],
        "files": [
            digest_file(trace_file(shop.tree.root, t)) for t in setup.traces if t.trace is not None
        ],
        "commands": command_keys(shop, setup.traces),
        "recorder": digest_tree(shop.tree.root, SOURCES),
    }

    def work(room: Path, line: StageLine) -> Notes:
        tools = recorder_tools(shop.tree)
        made, say = {}, numbered(line.step, len(setup.traces))
        for trace in setup.traces:
            say(f"recording {trace.name}, limit {trace.timeout_s:g} s")
            made[trace.name] = make_trace(shop, tools, trace, room)
        return {
            "events": {name: one.events for name, one in made.items()},
            "recorded": {name: one.said for name, one in made.items()},
            DOUBTS: [doubt for one in made.values() for doubt in one.doubts],
        }

    made = shop.do(STAGE, parts, work, summary=_summary)
    tell_doubts(shop, made)
    programs = [trace.program(made.path(f"{trace.name}.trace")) for trace in setup.traces]
    return replace(
        setup,
        training=(*setup.training, *(p for p in programs if p.role == "train")),
        verifying=(*setup.verifying, *(p for p in programs if p.role == "verify")),
        traces=(),
    )


@dataclass(frozen=True)
class Recorded:
    """What became a trace: its events, those in words, and what is suspicious about it."""

    events: int
    said: str
    doubts: list[Doubt]


def make_trace(shop: Workshop, tools: RecorderTools, trace: Trace, room: Path) -> Recorded:
    """Write NAME.trace into the room; return what was recorded.

    Raises WorkloadError when the command fails, DataError when nothing was recorded.
    """
    from pipeline.trace.read import busiest, change, processes  # numpy: only to read a trace

    output, log = room / f"{trace.name}.trace", shop.log(STAGE, trace.name)
    doubts: list[Doubt] = []
    with tempfile.TemporaryDirectory(prefix="hakmem-") as name:
        folder = Path(name)
        whole = folder / "whole.trace"
        if trace.trace:
            whole = trace_file(shop.tree.root, trace)
        else:
            done = run_recorded(shop.tree.root, tools, trace, whole, log)
            doubts += words_to_stderr(trace.name, done.stderr, log)
        found = processes(tools, whole)
        number = busiest(found)
        last = trace.first + (trace.events or MOST_EVENTS) - 1
        cut = folder / "cut.trace"
        change(tools, "cut", whole, str(number), str(trace.first), str(last), cut)
        change(tools, "anonymise", cut, output)
    events = processes(tools, output)[0].sealed_events
    if events == 0:
        raise DataError(
            f'workload "{trace.name}": its trace has no event after number {trace.first}',
            hint="lower `first` in the profile",
        )
    said = f"{many(events, 'event')}{of_program(found[number].name)}"
    return Recorded(events, said, [*short_recording(trace, said, events, log), *doubts])


def of_program(command: str) -> str:
    """Return " of sort" for the command line of a process; "" where its trace does not have it."""
    program = program_in(command)
    return f" of {program}" if program else ""


def program_in(command: str) -> str:
    """Return the name of the program of such a command line; "" where there is none."""
    return "" if command == "-" else Path(command.split(maxsplit=1)[0]).name


def run_recorded(
    root: Path,
    tools: RecorderTools,
    trace: Trace,
    whole: Path,
    log: Path,
    wishes: Wishes = EVERYTHING,
) -> Completed:
    """Run the command in ``root`` with the recorder, and trace all its processes.

    Raises WorkloadError when the command fails, DataError when nothing was recorded.
    """
    assert trace.record is not None
    parts = whole.with_name("parts")
    parts.mkdir()
    prepared = Prepared(
        (str(require_program(trace.record[0])), *trace.record[1:]),
        {
            "PATH": command_path(),
            **trace.env,
            **wishes.environment(tools.library, parts),
            **preload(tools.library),
        },
        root,
    )
    done = run_workload(trace, prepared, log=log)
    join(sorted(parts.iterdir()), whole)
    shutil.rmtree(parts)
    return done


def _summary(notes: Notes) -> str:
    return ", ".join(f"{name}: {said}" for name, said in notes["recorded"].items())
