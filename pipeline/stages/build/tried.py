"""One run of a command for which somebody begins a profile: whether it ends, and allocates."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.budget import MIN_PAIRS
from pipeline.core.errors import ChildFailed, ChildTimeout, PipelineError, UsageError
from pipeline.core.paths import Tree, from_here
from pipeline.core.process import last_line
from pipeline.profile.workload import Trace
from pipeline.report.text import many
from pipeline.stages.build.programs import SHELLS, starts_others
from pipeline.stages.build.record import of_program, program_in, run_recorded
from pipeline.trace.record import Wishes
from pipeline.trace.tools import recorder_tools

if TYPE_CHECKING:
    from pipeline.trace.read import Process

LIMIT_S = 20.0
FAILED = "note: tried once: "
"""Begins the line about a command that did not end well."""
KEPT = Wishes(ring_mib=1)
"""Of each process only the number of its calls is wanted, which a ring counts whole."""
SHORT_S = 0.05
"""An interpreter takes 0.02 to 0.03 s to start."""
FEW = 10_000
LONG_S = 3.0
TOOLS = {"awk", "cat", "date", "grep", "kill", "ls", "mkdir", "mktemp", "rm", "sed", "seq", "sleep"}
TOOLS |= {"tail", "timeout", "tr", *SHELLS}
"""What drivers are made of: where one of them allocates most, their server did little."""
SLOW = (
    "either nothing ends what had not ended: a server needs a driver that stops it "
    "(docs/tutorial.md, step 2). Or it is only slow: then give it less work, for a second is enough"
)


def try_once(tree: Tree, profile: str, trace: Trace, missing: Sequence[str] = ()) -> Iterator[str]:
    """Yield what one run of the command of a recording shows, in lines for people.

    Raises UsageError where it fails and names files that are ``missing``.
    """
    from pipeline.trace.read import processes  # numpy: only to read a trace

    limited = trace.model_copy(update={"timeout_s": LIMIT_S})
    log = tree.logs(profile) / "init" / f"{trace.name}.log"
    yield f"now the command runs once, for up to {LIMIT_S:g} s; ctrl-C leaves that out"
    with tempfile.TemporaryDirectory(prefix="hakmem-") as name:
        whole = Path(name) / "whole.trace"
        try:
            tools = recorder_tools(tree)
            done = run_recorded(tree.root, tools, limited, whole, log, KEPT)
            found = processes(tools, whole)
        except PipelineError as error:
            _require_files(error, missing)
            yield f"{FAILED}{error.message}"
            hint = SLOW if isinstance(error.__cause__, ChildTimeout) else error.hint
            yield from [f"  {hint}"] if hint else []
            yield from [f"  log: {from_here(error.log)}"] if error.log else []
            file = from_here(tree.profiles / f"{profile}.toml")
            yield f"  if the command is wrong, delete {file} and say `init` again"
            return
        except KeyboardInterrupt:
            return
    yield from seen(done.seconds, found, trace.record or ())
    if said := last_line(done.stderr):
        yield f"note: it ended well, but wrote to stderr, at last: {said!r}"
        yield f"  log: {from_here(log)}"


def _require_files(error: PipelineError, missing: Sequence[str]) -> None:
    """Raise UsageError if the command has failed, and what it names is not there."""
    if missing and isinstance(error.__cause__, ChildFailed):
        raise UsageError(
            f"there is no file {' nor '.join(missing)}, and the command fails ({error.message})",
            hint="give the path of a file that is there, or compile it first; then the same "
            "command again: the profile is removed",
            log=error.log,
        ) from error


def seen(seconds: float, found: Sequence[Process], command: Sequence[str] = ()) -> Iterator[str]:
    """Yield what was seen, and what a profile would make nothing of."""
    calls = sum(one.calls for one in found)
    most = max(found, key=lambda one: one.calls)
    which = "all" if most.calls == calls else f"{most.calls:,}"
    yield (
        f"tried once: {seconds:.2f} s, about {calls:,} calls of malloc and free, {which} of "
        f"them in one process, by {many(most.threads, 'thread')}{of_program(most.name)}"
    )
    if _is_tool(most, command):
        yield (
            f"note: the busiest process is {program_in(most.name)}, a tool: was the server asked "
            "anything? It may also run without LD_PRELOAD, be static, or in Go, which has a heap "
            "of its own"
        )
    elif seconds < SHORT_S:
        yield (
            "note: that is hardly more than its start: give it work for a second or more. Its "
            "standard input is empty: if it reads one, `sh -c '... < FILE'` gives it a file "
            "(whole path)"
        )
    elif calls < FEW:
        yield (
            "note: it hardly allocates, so no malloc makes it faster: give it more work, or leave "
            "it with the malloc that it has"
        )
    yield from _long(seconds)


def _is_tool(most: Process, command: Sequence[str]) -> bool:
    """Return whether the busiest process of a script is one of the tools that it calls."""
    driven = bool(command) and starts_others(command[0])
    return driven and program_in(most.name) in TOOLS


def _long(seconds: float) -> Iterator[str]:
    """Say what runs that long cost, where a whole program is timed."""
    if seconds >= LONG_S:
        least = 2 * MIN_PAIRS * seconds / 60
        yield (
            "note: a second of work is enough. A build does this several times, and to time the "
            f"whole program takes {2 * MIN_PAIRS} runs or more: {least:.0f} min or more like this"
        )
