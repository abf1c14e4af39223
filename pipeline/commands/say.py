"""What a command says on the terminal: the commands in it work when they are pasted there."""

from __future__ import annotations

import click

from pipeline.core.paste import runnable


def say(text: str, *, err: bool = False) -> None:
    """Print a message; where the reader does not stand in the root, its commands have paths."""
    click.echo(runnable(text), err=err)
