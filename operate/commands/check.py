"""``hakmem check``: whether processes use the library, which one, and what it may have."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from operate.facts import facts
from operate.facts_page import lines
from operate.processes import Process, number
from operate.telling import tell
from pipeline.core.errors import UsageError
from pipeline.core.exit_codes import ExitCode
from pipeline.core.output import on_one_line

_EXAMPLES = """\
Examples:
  hakmem check $(pidof nginx)
  hakmem check --json 1234

With --json each process is one line, an object. One that has ended, or that you may not
look into, is named on stderr, and the others are checked all the same.

Exit codes: 0 malloc is the library's in each; 18 it is not, or is unknown; 2 it is in
each that was looked into, and one was not; else docs/exit-codes.md."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "pids", metavar="pid", nargs="+", type=number, help="number of a process, or of several"
    )
    parser.add_argument(
        "--json", action="store_true", help="the same for programs: an object in a line for each"
    )
    parser.epilog = _EXAMPLES


def run(args: argparse.Namespace) -> int:
    """Print what is found of each process, and tell whether all have the library's malloc."""
    serves: list[bool | None] = []
    unseen = ExitCode.OK
    for pid in args.pids:
        try:
            found = _looked_into(Process(pid))
        except UsageError as error:
            sys.stdout.flush()
            unseen = tell(error)
            continue
        said = json.dumps(found) if args.json else _page(found)
        print("\n" if serves and not args.json else "", said, sep="")
        serves.append(found["serves_malloc"])
    return unseen if all(serves) else ExitCode.UNUSED


def _looked_into(process: Process) -> dict[str, Any]:
    """Return the facts of a process; UsageError if it cannot be looked into, or ends meanwhile."""
    process.require_readable()
    try:
        found = facts(process)
    except OSError:
        process.require_readable()
        raise
    process.require_readable()  # else what was read last may be of a process that had ended
    return found


def _page(found: dict[str, Any]) -> str:
    return "\n".join(map(on_one_line, lines(found)))
