"""What the commands of this folder print to: a terminal, of whatever width, or a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.table import Table

Cells = list[list[str]]
"""A table: its header, then its rows."""

FILE_WIDTH = 200


def terminal() -> Console:
    """Return the console to print to; a file gets tables of full width."""
    console = Console()
    return console if console.is_terminal else Console(width=FILE_WIDTH)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Yield how to say on stderr what is being done: one live line, or lines in a file."""
    console = Console(stderr=True)
    if console.is_terminal:
        with console.status("") as status:
            yield status.update
    else:
        yield lambda text: console.print(text, markup=False, highlight=False)


def print_table(cells: Cells, console: Console) -> None:
    """Print a table; on a narrow terminal in several parts."""
    for part in fitting(cells, console.width):
        table = Table(*part[0], header_style="bold")
        for column in table.columns[1:]:
            column.justify = "right"
        for row in part[1:]:
            table.add_row(*row)
        console.print(table)


def fitting(cells: Cells, width: int) -> list[Cells]:
    """Return the table, or parts of it that are at most ``width`` wide, each with the row's names.

    What the table comes to, its last two columns, then stands in the first part beside ours.
    """
    columns = range(len(cells[0]))
    widths = [3 + max(len(row[column]) for row in cells) for column in columns]
    if sum(widths) < width:
        return [cells]
    parts: list[list[int]] = [[0]]
    for column in _by_weight(cells[0]):
        if len(parts[-1]) > 1 and sum(widths[at] for at in (*parts[-1], column)) >= width:
            parts.append([0])
        parts[-1].append(column)
    return [[[row[column] for column in part] for row in cells] for part in parts]


def _by_weight(header: list[str]) -> list[int]:
    """Return the columns behind the first, with the last two in second place if it has a ratio."""
    columns = list(range(1, len(header)))
    return [1, *columns[-2:], *columns[1:-2]] if header[-1] == "ratio" else columns
