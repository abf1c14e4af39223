"""Tables whose rows a narrow window stacks: each cell carries the heading of its column.

``style.css`` shows that heading beside the cell where the row of headings is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup, escape

_HEADINGS = re.compile(r"<thead>(.*?)</thead>", re.S)
_HEADING = re.compile(r"<th\b[^>]*>(.*?)</th>", re.S)
_ROW = re.compile(r"<tr\b.*?</tr>", re.S)
_CELL = re.compile(r"<(th|td)\b([^>]*)>")
_SPAN = re.compile(r'colspan="(\d+)"')


def labelled(table: Markup) -> Markup:
    """Return a table of ours, its cells with the attribute ``data-label``."""
    text = str(table)  # a Markup would escape what is added to it
    headings = _HEADINGS.search(text)
    if headings is None:
        return table
    names = [_plain(one) for one in _HEADING.findall(headings[1])]
    body = _ROW.sub(lambda row: _row(row[0], names), text[headings.end() :])
    return Markup(text[: headings.end()] + body)


def _plain(heading: str) -> str:
    """Return the words of a heading; a drawing has none."""
    if "<svg" in heading:
        return ""
    return " ".join(Markup(heading.replace("<br>", " ")).striptags().split())


def _row(row: str, names: Sequence[str]) -> str:
    """Return a row with labels; its first cell is what it is of, and needs none."""
    column = 0

    def label(cell: re.Match[str]) -> str:
        nonlocal column
        span = _SPAN.search(cell[2])
        name = names[column] if 0 < column < len(names) and not span else ""
        column += int(span[1]) if span else 1
        return f'<{cell[1]}{cell[2]} data-label="{escape(name)}">' if name else cell[0]

    return _CELL.sub(label, row)
