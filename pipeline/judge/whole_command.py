"""An ordinary command as a benchmark: bench/command runs it and measures it as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

THREADS, TIME_OF = "--threads", "--time-of"
# An empty folder of its own for each run, which is gone afterwards.
IN_SCRATCH = 'd=$(mktemp -d) && cd "$d" && "$@"; code=$?; rm -rf "$d"; exit $code'


def whole_command(
    runner: Path,
    argv: Sequence[str],
    *,
    folder: Path | None = None,
    threads: int | None = None,
    time_of: str | None = None,
) -> tuple[str, ...]:
    """Return the line that runs and measures ``argv``, whose program has an absolute path.

    It starts in ``folder``, or without one in an empty folder of its own. ``threads`` says how many
    threads it has, where that is known: the two runs of a pair with one share a CPU. With
    ``time_of`` only the processes of that name which have the library are timed.
    """
    measured = (str(runner), *told(threads, time_of))
    if folder is None:
        return (*measured, "/bin/sh", "-c", IN_SCRATCH, "sh", *argv)
    return (*measured, "--in", str(folder), *argv)


def told(threads: int | None, time_of: str | None) -> tuple[str, ...]:
    """Return what bench/command is told of a command, as its first options."""
    known = () if threads is None else (THREADS, str(threads))
    return known if time_of is None else (*known, TIME_OF, time_of)


def told_in(argv: Sequence[str]) -> tuple[str, ...]:
    """Return what bench/command was told in a line that it ran."""
    words: list[str] = []
    for name, value in zip(argv[1::2], argv[2::2], strict=False):
        if name not in (THREADS, TIME_OF):
            break
        words += [name, value]
    return tuple(words)


def command_in(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the command in a line that `whole_command` made."""
    rest = tuple(argv[1 + len(told_in(argv)) :])
    scratch = ("/bin/sh", "-c", IN_SCRATCH, "sh")
    return rest[len(scratch) :] if rest[: len(scratch)] == scratch else rest[len(("--in", "")) :]
