"""Names of files and processes in what is printed: they may be no text at all."""

from __future__ import annotations

import io
import sys


def take_any_name() -> None:
    """Let stdout take what its encoding has no word for, as stderr does; it would be an error."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def on_one_line(text: str) -> str:
    """Return text without what would break a line, or steer the terminal that it is shown on."""
    return "".join(c if c.isprintable() else " " for c in text)
