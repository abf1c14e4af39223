"""``pipeline heap``: what a program holds, by the calls that asked for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.core.files import replace_text

if TYPE_CHECKING:
    from pipeline.heap.read import Profile

_path = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("heap", epilog="Example: pipeline heap app.1.heap app.2.heap --html growth.html")
@click.argument("file", type=_path)
@click.argument("later", type=_path, required=False, metavar="[LATER]")
@click.option(
    "--show",
    type=click.Choice(["top", "tree", "folded"]),
    default="top",
    show_default=True,
    help="Functions, the tree of calls, or folded stacks for other tools.",
)
@click.option(
    "--what",
    type=click.Choice(["live", "allocated"]),
    default="live",
    show_default=True,
    help="Bytes that live, or all since the start.",
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="OUT",
    help="Write a page with a flame graph instead.",
)
def heap_command(file: Path, later: Path | None, show: str, what: str, html: Path | None) -> None:
    """Show a heap profile, or what grew from FILE to LATER."""
    from pipeline.heap.read import read
    from pipeline.heap.symbols import names
    from pipeline.heap.text import call_tree, folded, top
    from pipeline.heap.tree import What, by_stack, growth

    profile = read(file)
    sums = by_stack(profile, names(profile), What(what))
    if later is not None:
        profile = read(later)
        sums = growth(sums, by_stack(profile, names(profile), What(what)))
    if html is not None:
        from pipeline.heap.html import render_page

        kind = f"{what} memory" + (f", growth since {file.name}" if later else "")
        replace_text(html, render_page((later or file).name, kind, _facts(profile, sums), sums))
        click.echo(f"wrote {html}")
        return
    if show != "folded":
        for key, value in _facts(profile, sums):
            click.echo(f"{key:20} {value}")
    click.echo({"top": top, "tree": call_tree, "folded": folded}[show](sums), nl=False)


def _facts(profile: Profile, sums: dict[tuple[str, ...], float]) -> list[tuple[str, str]]:
    """Return what is known of the later profile, and the sum of what is shown."""
    from pipeline.heap.text import signed_size

    return [
        ("bytes, estimated", signed_size(sum(sums.values()))),
        ("samples", f"{profile.samples:,}, one in {profile.rate:,} bytes in the mean"),
        *(
            [("samples lost", f"{profile.lost:,}: there was no room for them")]
            if profile.lost
            else []
        ),
    ]
