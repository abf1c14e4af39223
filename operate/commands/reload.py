"""``hakmem reload``: running programs read their file of options again."""

from __future__ import annotations

import argparse
from http import HTTPStatus

from operate import statistics
from operate.asking import ask_itself
from operate.processes import Process, number
from operate.telling import each
from pipeline.core.errors import UsageError

_EXAMPLES = """\
Each process must have been started with HAKMEM_STATS_SOCKET, and with the file
that it is to read, HAKMEM_CONF=file=/PATH. Its stderr says what changed:
docs/limits.md. Where one of several cannot, the others do it all the same.

Example:
  hakmem reload $(pgrep -x nginx)

Exit codes: docs/exit-codes.md."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "pids", metavar="pid", nargs="+", type=number, help="number of a process, or of several"
    )
    parser.epilog = _EXAMPLES


def run(args: argparse.Namespace) -> int:
    """Ask each process for it, and say what came of it."""
    return each(args.pids, _reload)


def _reload(process: Process) -> str:
    """Ask one process, and return its answer; PipelineError if it did not do it."""
    process.require_readable()
    answer = ask_itself(process, statistics.socket_path(process), "POST", "/options")
    if answer.status == HTTPStatus.CONFLICT:
        raise UsageError(
            f"process {process.pid} read no file of options, and kept those that it has",
            hint="its stderr says what is wrong with the file that HAKMEM_CONF=file=/PATH named at "
            "its start; it says nothing if none was named (docs/limits.md)",
        )
    if answer.status == HTTPStatus.UNPROCESSABLE_ENTITY:
        raise UsageError(
            f"process {process.pid}: {answer.sentence}",
            hint="its stderr names each entry that it refused, or that counts at the start alone; "
            "all others are in force",
        )
    if not answer.is_good:
        raise UsageError(
            f"the library of process {process.pid} is too old to be asked",
            hint="send the signal that HAKMEM_CONF_SIGNAL names (docs/limits.md), or start it "
            "with a new library",
        )
    return f"{answer.sentence}; its stderr says what changed"
