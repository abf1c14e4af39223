"""``hakmem heap``: the heap profile of a running program, asked for at its socket."""

from __future__ import annotations

import argparse
import sys
from http import HTTPStatus
from pathlib import Path

from operate import statistics
from operate.asking import Answer, ask_itself
from operate.processes import Process, number
from operate.telling import each
from pipeline.core.errors import UsageError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.files import replace_bytes

_EXAMPLES = """\
The process must have been started with HAKMEM_STATS_SOCKET: docs/statistics.md.
`pipeline heap FILE` shows the profile: docs/heap-profiles.md.

Examples:
  hakmem heap --begin $(pidof redis-server)         # it has what follows
  hakmem heap -o redis.heap $(pidof redis-server)   # some minutes later
  hakmem heap --end $(pidof redis-server)           # of several, if there are

Exit codes: docs/exit-codes.md."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "pids", metavar="pid", nargs="+", type=number, help="number of a process, or of several"
    )
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--begin", action="store_true", help="begin a profile, if none is made")
    ways.add_argument("--end", action="store_true", help="sample no further mallocs")
    ways.add_argument(
        "--output", "-o", type=Path, metavar="FILE", help="write it there (default: to stdout)"
    )
    parser.epilog = _EXAMPLES


def run(args: argparse.Namespace) -> int:
    """Begin the profile, end it, or write what it says by now."""
    if args.begin or args.end:
        method = "POST" if args.begin else "DELETE"
        return each(args.pids, lambda process: _asked(process, method).sentence)
    if len(args.pids) > 1:
        raise UsageError(
            "a profile is that of one process",
            hint="give one number; --begin and --end take several",
        )
    if args.output is None and sys.stdout.isatty():
        raise UsageError("a terminal is no place for a profile", hint="name a file: -o app.heap")
    _write(args.output, _asked(Process(args.pids[0]), "GET").body)
    return ExitCode.OK


def _asked(process: Process, method: str) -> Answer:
    """Return an answer that is good; else UsageError with what to do."""
    process.require_readable()
    answer = ask_itself(process, statistics.socket_path(process), method, "/heap")
    if answer.is_good:
        return answer
    if answer.status == HTTPStatus.CONFLICT:
        raise UsageError(
            f"no heap profile of process {process.pid} was begun",
            hint=f"`hakmem heap --begin {process.pid}` begins one; ask again some minutes later",
        )
    if not answer.body:  # versions before this command say no more
        raise UsageError(
            f"the library of process {process.pid} is too old to be asked for a heap profile",
            hint="start it with HAKMEM_PROFILE_HEAP=PATH (docs/heap-profiles.md), or a new library",
        )
    raise UsageError(f"process {process.pid}: {answer.sentence}", hint=_hint(answer.status))


def _hint(status: int) -> str:
    if status == HTTPStatus.NOT_IMPLEMENTED:
        return "start the program with the production library: `hakmem run -- PROGRAM`"
    return "ask again, once the process has memory and descriptors to spare"


def _write(path: Path | None, body: bytes) -> None:
    if path is None:
        sys.stdout.buffer.write(body)
        return
    if path.is_dir():
        raise UsageError(f"{path} is a folder", hint="name a file in it, such as app.heap")
    replace_bytes(path, body, mode=0o600)
    print(f"written: {path}", file=sys.stderr)
