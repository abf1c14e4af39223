"""``pipeline profiles``: which profiles there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from pipeline.commands.say import say

if TYPE_CHECKING:
    from rich.console import Console

    from pipeline.core.paths import Tree

CELLS = 4
UNWRAPPED = 1000
"""Columns, where the output is no terminal."""


@click.command("profiles", epilog="Example: pipeline profiles")
def profiles_command() -> None:
    """List the profiles, a row each; * is published.

    One with a geometry.toml of its own says so, and whether that is for this kind of
    processor (docs/geometry.md). Those that are not
    valid are named behind the others.
    """
    from rich.console import Console

    from pipeline.core.errors import ProfileError
    from pipeline.core.paths import Tree
    from pipeline.profile.load import profile_names

    tree = Tree.here()
    rows, broken = [], []
    for name in profile_names(tree):
        try:
            rows.append(_cells(tree, name))
        except ProfileError as error:
            broken.append(error)
    show_rows(rows, Console())
    if any(_is_published(tree, name) for name in profile_names(tree)):
        say("* is published: `.venv/bin/pipeline list` shows its versions")
    if broken:
        raise ProfileError("\n  ".join(e.message for e in broken), hint=broken[0].hint)


def _is_published(tree: Tree, name: str) -> bool:
    return (tree.dist(name) / "current").exists()


def show_rows(rows: Sequence[tuple[str, ...]], console: Console) -> None:
    """Print the rows: in a terminal the last cell is broken within its own column."""
    from rich.table import Table

    table = Table.grid(padding=(0, 1, 0, 0))
    for number in range(CELLS):
        table.add_column(no_wrap=number < CELLS - 1)
    for row in rows:
        table.add_row(*row)
    if not console.is_terminal:
        console.width = UNWRAPPED
    with console.capture() as said:
        console.print(table, markup=False, highlight=False)
    click.echo("\n".join(line.rstrip() for line in said.get().splitlines()))


def _cells(tree: Tree, name: str) -> tuple[str, ...]:
    from pipeline.core.processor import ANY, machine
    from pipeline.geometry.load import load_geometry
    from pipeline.profile.load import load_profile

    profile = load_profile(tree, name)
    mark = "*" if _is_published(tree, name) else " "
    counts = f"{len(profile.training)} train, {len(profile.verifying)} verify"
    geometry = load_geometry(tree, name, machine().name)
    kind = "" if geometry is None or geometry.processor == ANY else f" for {geometry.processor}"
    cut = "default" if geometry is None else f"own geometry{kind}"
    return f"{mark} {name}", counts, cut, profile.description
