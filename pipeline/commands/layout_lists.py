"""A list of a layout that changes: shown as a patch, and written where that is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.layout.subject import Subject


def change_list(
    subject: Subject, file: str, before: Sequence[str], after: Sequence[str], write: bool
) -> None:
    """Print the difference as a patch, if there is one; a link becomes a list of its own."""
    from pipeline.core.files import replacing
    from pipeline.layout.propose import as_diff

    if list(after) == list(before):
        return
    path = subject.lists_folder / file
    name = path.relative_to(subject.tree.root)
    click.echo(as_diff(str(name), list(before), list(after)), nl=False)
    if not write:
        return
    other = path.readlink() if path.is_symlink() else None
    with replacing(path) as fresh:
        fresh.write_text("\n".join(after) + "\n", encoding="utf-8")
    click.echo(f"written: {path}", err=True)
    if other:
        click.echo(f"{name} was a link to {other}, and is a list of its own now", err=True)
