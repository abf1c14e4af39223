"""What is printed: names that may be no text at all, and what nobody takes."""

from __future__ import annotations

import io
import sys


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


def on_one_line(text: str) -> str:
    """Return text without what would break a line, or steer the terminal that it is shown on."""
    return "".join(c if c.isprintable() else " " for c in text)
