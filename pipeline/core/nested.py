"""JSON and TOML from files that anybody may have written: too deep a nesting is not valid, too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

TOO_DEEP = "it is nested too deeply"


def read_json(path: Path) -> Any:
    """Return what a file of JSON says; OSError, or ValueError where it is no such file."""
    return parse(json.loads, path.read_text(encoding="utf-8"))


def parse(parser: Callable[[Any], Any], text: str | bytes) -> Any:
    """Return what ``parser`` makes of ``text``; ValueError also where its own calls nest too far.

    The parsers of Python call themselves for each bracket, and end with RecursionError.
    """
    try:
        return parser(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
