"""In which order programs first use a library's functions, by a simulator that names each block."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pipeline.core.process import run
from pipeline.judge.counting.valgrind import client_command
from pipeline.judge.counting.whole import LIMIT_S
from pipeline.judge.tasks import Task

# Only the head of each block is told, once: no code of it. Blocks end where code jumps.
_TRACE = (
    "--tool=none",
    "--demangle=no",
    "--trace-flags=00000001",
    "--trace-notbelow=999999999",
    "--vex-guest-chase=no",
)
_HEAD = re.compile(r"==== SB \d+ .*? 0x[0-9a-f]+ (\S+?)(?:[+-]\d+)? (\S+)\+0x[0-9a-f]+$")


def first_used(
    valgrind: Path, tasks: Sequence[Task], library: Path, env: Mapping[str, str], log: Path
) -> list[str]:
    """Return the library's functions in the order of their first use, by one task after the other.

    The library must have its symbols. Of several names of a function it is any.
    """
    found: dict[str, None] = {}
    for task in tasks:
        found |= dict.fromkeys(_of_task(valgrind, task, library, env, log))
    return list(found)


def _of_task(
    valgrind: Path, task: Task, library: Path, env: Mapping[str, str], log: Path
) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="hakmem-") as folder:
        room, heads = Path(folder), Path(folder) / "blocks"
        for name, text in task.files.items():
            (room / name).write_text(text, encoding="utf-8")
        client = client_command((str(task.path), *task.arguments), library.resolve())
        command = (
            str(valgrind),
            "--command-line-only=yes",
            *_TRACE,
            f"--log-file={heads}",
            *client,
        )
        run(command, env={**task.env, **env}, cwd=room, timeout_s=LIMIT_S, log=log)
        with heads.open(encoding="utf-8", errors="replace") as lines:
            return in_order(lines, library.resolve())


def in_order(lines: Iterable[str], library: Path) -> list[str]:
    """Return the functions of ``library`` in the order in which a trace of blocks names them."""
    heads = (found for line in lines if (found := _HEAD.search(line.rstrip())))
    return list(dict.fromkeys(one[1] for one in heads if one[2] == str(library)))
