"""Whether what /proc shows as the environment of a process is still that of its start.

A program's words and its variables lie one behind the other in its memory. Programs that show a
title, such as redis, nginx and postgres, write it over both.
"""

from __future__ import annotations

import re

_ARG_START, _ARG_END = 48, 49
"""Fields of /proc/PID/stat, counted from 1: where the words of the program begin and end."""
_FIRST_BEHIND_NAME = 3
_ENTRY = re.compile(r"[^\s=]+=")


def is_overwritten(environ: str, line_bytes: int, stat: str) -> bool:
    """Return whether a title lies over the variables: by what /proc/PID has.

    Where a title goes on behind the room of the words, the system shows all of it as the command
    line. A shorter title is padded with NUL, or leaves a piece of an entry.
    """
    room = _room(stat)
    runs_over = room is not None and line_bytes > room
    return bool(environ) and (runs_over or not _ENTRY.match(environ))


def _room(stat: str) -> int | None:
    """Return how many bytes the words had at the start; None where the system does not say."""
    fields = stat.rpartition(")")[2].split()
    ends = fields[_ARG_START - _FIRST_BEHIND_NAME : _ARG_END - _FIRST_BEHIND_NAME + 1]
    start, end = map(int, ends) if len(ends) == 2 else (0, 0)
    return end - start if start else None
