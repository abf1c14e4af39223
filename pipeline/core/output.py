"""What is printed: names that may be no text at all, and what nobody takes."""

from __future__ import annotations

import io
import shutil
import sys
import textwrap


def take_any_name() -> None:
    """Let stdout take what its encoding has no word for, as stderr does; it would be an error."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def drop_what_is_refused() -> None:
    """Leave Python nothing that it would try to write once more at the end, and complain of."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        sys.stdout = None


def room() -> int:
    """Return the columns of the terminal; what goes into a pipe or a file keeps its lines whole."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize


def hanging(line: str, indent: int, width: int) -> str:
    """Return a line in lines of at most ``width``; those below the first one are indented."""
    if len(line) <= width:
        return line
    below = " " * min(indent, width // 2)
    return textwrap.fill(line, width, subsequent_indent=below, break_on_hyphens=False)


def on_one_line(text: str) -> str:
    """Return text without what would break a line, or steer the terminal that it is shown on."""
    return "".join(c if c.isprintable() else " " for c in text)
