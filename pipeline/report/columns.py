"""Which columns of a table a narrow terminal does without."""

from __future__ import annotations

from collections.abc import Sequence

BETWEEN = 2
"""Characters between two columns."""


def left_out(
    headings: Sequence[str], widths: Sequence[int], spared: Sequence[str], room: int
) -> list[str]:
    """Return the headings of columns to leave out, so that the others have room.

    ``spared`` are those that a reader can do without, the first one first.
    """
    out: list[str] = []
    needed = sum(widths) + BETWEEN * (len(widths) - 1)
    for heading in spared:
        if needed <= room:
            break
        out.append(heading)
        needed -= widths[list(headings).index(heading)] + BETWEEN
    return out


def narrow(out: Sequence[str]) -> list[str]:
    """Return the note that names what was left out; none where nothing was."""
    named = ", ".join(out).replace("\n", " ")
    return [f"note: not shown, for the terminal is too narrow: {named}"] if out else []
