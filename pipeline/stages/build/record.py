"""record: make the traces that a profile asks for, and the programs that play them.

A trace comes from a file of the user's or from a command that is run now with the recorder. It is
cut to the events that the profile names, without command lines and addresses.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from pipeline.core.console import StageLine
from pipeline.core.digest import digest_file, digest_tree
from pipeline.core.errors import (
    ChildFailed,
    ChildTimeout,
    DataError,
    WorkloadError,
)
from pipeline.core.preload import preload
from pipeline.core.process import describe_exit, run
from pipeline.core.store import Notes
from pipeline.profile.schema import Command, Program, Trace
from pipeline.report.text import many
from pipeline.stages.build.configure import Setup, trace_file
from pipeline.stages.build.programs import command_path, find_program
from pipeline.stages.build.workloads import command_keys
from pipeline.stages.build.workshop import Workshop
from pipeline.trace.tools import SOURCES, RecorderTools, recorder_tools

STAGE = "record"
# Enough for any run of a verify workload; a longer trace is only a larger file.
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
        events = {}
        for trace in setup.traces:
            line.step(f"recording {trace.name}, limit {trace.timeout_s:g} s")
            events[trace.name] = make_trace(shop, tools, trace, room)
        return {"events": events}

    made = shop.do(STAGE, parts, work, summary=_summary)
    programs = [trace.program(made.path(f"{trace.name}.trace")) for trace in setup.traces]
    return replace(
        setup,
        training=_with(setup.training, [p for p in programs if p.role == "train"]),
        verifying=_with(setup.verifying, [p for p in programs if p.role == "verify"]),
        traces=(),
    )


def _with(
    workloads: tuple[Program | Command, ...], programs: list[Program]
) -> tuple[Program | Command, ...]:
    return (*workloads, *programs)


def make_trace(shop: Workshop, tools: RecorderTools, trace: Trace, room: Path) -> int:
    """Write NAME.trace into the room; return how many events it has.

    Raises WorkloadError when the command fails, DataError when nothing was recorded.
    """
    from pipeline.trace.read import busiest, change, processes  # numpy: only to read a trace

    output = room / f"{trace.name}.trace"
    with tempfile.TemporaryDirectory(prefix="hakmem-") as name:
        folder = Path(name)
        whole = (
            trace_file(shop.tree.root, trace)
            if trace.trace
            else _record(shop, tools, trace, folder)
        )
        number = busiest(processes(tools, whole))
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
    return events


def _record(shop: Workshop, tools: RecorderTools, trace: Trace, folder: Path) -> Path:
    """Run the command with the recorder; return the trace of all its processes."""
    from pipeline.trace.record import join

    assert trace.record is not None
    parts, scratch, whole = folder / "parts", folder / "scratch", folder / "whole.trace"
    parts.mkdir()
    scratch.mkdir()
    program = find_program(trace.record[0])
    log = shop.log(STAGE, trace.name)
    try:
        run(
            [str(program), *trace.record[1:]],
            env={"PATH": command_path(), **trace.env, **_preload(tools, parts)},
            cwd=scratch if trace.scratch else shop.tree.root,
            log=log,
            timeout_s=trace.timeout_s,
            capture=False,
        )
    except ChildTimeout as error:
        raise WorkloadError(f'workload "{trace.name}": {error.message}', log=log) from error
    except ChildFailed as error:
        end = describe_exit(error.returncode)
        raise WorkloadError(f'workload "{trace.name}" failed: {end}', log=log) from error
    join(sorted(parts.iterdir()), whole)
    shutil.rmtree(parts)
    return whole


def _preload(tools: RecorderTools, parts: Path) -> dict[str, str]:
    from pipeline.trace.record import EVERYTHING

    return {**EVERYTHING.environment(tools.library, parts), **preload(tools.library)}


def _summary(notes: Notes) -> str:
    events = notes["events"]
    return f"{many(len(events), 'trace')}, {sum(events.values()):,} events"
