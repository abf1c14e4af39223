"""What a command says on the terminal: the commands in it work when they are pasted there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.core.paste import runnable

if TYPE_CHECKING:
    from pipeline.core.paths import Tree


def say(text: str, *, err: bool = False) -> None:
    """Print a message; where the reader does not stand in the root, its commands have paths."""
    click.echo(runnable(text), err=err)


def say_other_run(tree: Tree) -> None:
    """Say on stderr what works in the tree: it may publish or judge a version in a minute."""
    from pipeline.core.lock import publishing_run

    if other := publishing_run(tree.state):
        say(f"note: {other}; what it makes is not in this yet", err=True)
