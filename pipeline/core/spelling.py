"""The word that was meant: one hint for all names that people type."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


def nearest_words(wrong: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return up to ``most`` known words that somebody may have meant, the closest one first."""
    names = list(known)
    holding = [name for name in names if wrong and wrong in name]
    close = difflib.get_close_matches(wrong, names, n=most)
    return list(dict.fromkeys((*holding, *close)))[:most]


def did_you_mean(wrong: str, known: Iterable[str], otherwise: str = "", form: str = "{}") -> str:
    """Return the hint that names the known word closest to ``wrong``, written as ``form`` has it.

    ``otherwise``: what to say where none is close.
    """
    close = difflib.get_close_matches(wrong, list(known), n=1)
    return f"did you mean {form.format(close[0])}?" if close else otherwise


def nearest_file(gone: Path, besides: str = "") -> str:
    """Return the hint for a file that is not there: what is called nearly so in its folder.

    ``besides``: what to say, too, where nothing is.
    """
    folder = gone.absolute().parent
    try:
        names = [one.name for one in folder.iterdir()]
    except OSError:
        return f"look at the path of the file: {folder} is no folder that can be read{besides}"
    otherwise = f"look at the path of the file: {gone.name} is not in {folder}{besides}"
    close = difflib.get_close_matches(gone.name, names, n=1)
    return f"did you mean {gone.parent / close[0]}?" if close else otherwise
