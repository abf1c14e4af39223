"""``hakmem top``: what a running process holds, looked at again and again."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from contextlib import suppress

from operate import facts, overview, rejections, statistics
from operate.overview import Document
from operate.processes import Process, number
from pipeline.core.exit_codes import ExitCode
from pipeline.core.output import on_one_line

_CLEAR = "\x1b[H\x1b[2J"
_EXAMPLES = """\
The process must have been started with HAKMEM_STATS_SOCKET: docs/statistics.md.

Columns, each of a size class:
  live      blocks that the program holds
  cached    free blocks in caches of threads, and between them
  slabs     pieces of memory that its blocks come from
  hot       slabs of which more than half of the blocks are out; draining: at most half
  free      slabs with no block out
  live share  part of the slabs' memory in use, without what was never used

Examples:
  HAKMEM_STATS_SOCKET=/tmp/%p.sock hakmem run -- redis-server &
  hakmem top $!
  hakmem top --once --json $(pidof redis-server)

Exit codes: docs/exit-codes.md."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("pid", type=number, help="number of one process; `metrics` has all")
    parser.add_argument("--once", action="store_true", help="look once and end")
    parser.add_argument("--json", action="store_true", help="all figures, one line for each look")
    parser.add_argument("--interval", type=_seconds, default=1.0, help="seconds (default 1)")
    parser.add_argument("--all", action="store_true", help="also classes without a live block")
    parser.add_argument(
        "--rows",
        type=_rows,
        metavar="N",
        help="so many size classes (default: what fits the terminal; with --once, all that have "
        "a live block)",
    )
    parser.epilog = _EXAMPLES


def _seconds(word: str) -> float:
    with suppress(ValueError):
        if 0.1 <= (value := float(word)) <= 3600:
            return value
    raise argparse.ArgumentTypeError("it must be from 0.1 to 3600")


def _rows(word: str) -> int:
    with suppress(ValueError):
        if (value := int(word)) >= 1:
            return value
    raise argparse.ArgumentTypeError("it must be 1 or more")


def run(args: argparse.Namespace) -> int:
    """Show one look after the other, until the process or the user ends it."""
    process = Process(args.pid)
    process.require_readable()
    known = _known(process)
    before, seen = None, time.monotonic()
    while True:
        now, at = {**statistics.look(process), **known}, time.monotonic()
        _show(args, now, before, at - seen)
        if args.once:
            return ExitCode.OK
        before, seen = now, at
        time.sleep(args.interval)


def _known(process: Process) -> Document:
    """Return its name, the published version that it runs, and why that was rejected, if it was."""
    library, name = facts.published(process), process.command()
    if library is None:
        return {"program": name, "published": None, "rejected": None}
    rejected = rejections.rejection(library)
    return {"program": name, "published": library.version, "rejected": rejected}


def _idle(args: argparse.Namespace) -> bool:
    """Return whether classes without a live block have rows of their own."""
    return args.all or args.rows is not None or not args.once


def _show(args: argparse.Namespace, now: Document, before: Document | None, seconds: float) -> None:
    redrawn = not args.once and sys.stdout.isatty()
    if args.json:
        print(json.dumps(now), flush=True)
        return
    screen = shutil.get_terminal_size() if redrawn else None
    page = overview.page(now, before, seconds, args.rows, screen, _idle(args))
    print(_CLEAR if redrawn else "", "\n".join(map(on_one_line, page)), sep="", flush=True)
