"""What a line of the HTML report must not be broken within: terms, figures and their units."""

from __future__ import annotations

import re

_NO_TEXT = re.compile(r"(<(svg|style|script|title|code|pre)\b.*?</\2>|<[^>]*>)", re.S)
_TERM = re.compile(r"\bI-cache\b")
_UNIT = re.compile(r"(?<=\d) (%|B|KiB|MiB|GiB|M/s|s|ms|µs|ns|pairs?)(?!\w)")
_RANGE = re.compile(r"(?<=\d) \.\. (?=[+-]?\d)")
_ENDS = re.compile(r"(?<=%), (?=[+-]\d[^\[\]]*\])")
_SPACE = "\N{NO-BREAK SPACE}"


def kept_together(page: str) -> str:
    """Return a page of HTML in which no term breaks at its hyphen, and no figure at its unit.

    The hyphen stays the one that people type, lest a search in the page find nothing.
    """
    pieces = _NO_TEXT.split(_UNIT.sub(rf"{_SPACE}\1", page))
    kept: list[str] = []
    for place, piece in enumerate(pieces):
        if place % 3 == 0:
            kept.append(_text(piece))
        elif place % 3 == 1:  # the third is the name of an element, which the second has already
            kept.append(piece)
    return "".join(kept)


def _text(piece: str) -> str:
    termed = _TERM.sub(lambda term: f'<span class="whole">{term[0]}</span>', piece)
    ranged = _RANGE.sub(f"{_SPACE}..{_SPACE}", termed)
    return _ENDS.sub(f",{_SPACE}", ranged)
