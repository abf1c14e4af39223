"""``pipeline heap``: what a program holds, by the calls that asked for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.file_options import EXISTING_FILE, OUTPUT_FILE, require_folder
from pipeline.core.exit_codes import ExitCode
from pipeline.core.files import replace_bytes, replace_text

if TYPE_CHECKING:
    from pipeline.heap.look import Named
    from pipeline.heap.stacks import Stack

NOTHING_LIVES = (
    "note: nothing of what was sampled lived then; --what allocated shows all since the start, "
    "`hakmem heap PID` has the profile of a program while it runs (docs/heap-profiles.md)"
)
NO_SAMPLES = (
    "note: nothing was sampled: the program asked for too little, or the profile began too late; "
    "a smaller HAKMEM_PROFILE_RATE takes more samples"
)
_VALUE = 21
"""Where the value of a fact begins."""
NOTHING_GREW = "note: nothing grew or shrank between the two files"


@click.command("heap", epilog="Example: pipeline heap app.1.heap app.2.heap --html growth.html")
@click.argument("file", type=EXISTING_FILE)
@click.argument("later", type=EXISTING_FILE, required=False, metavar="[LATER]")
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
    type=OUTPUT_FILE,
    callback=require_folder,
    metavar="OUT",
    help="Write a page with a flame graph instead.",
)
@click.option(
    "--pprof",
    type=OUTPUT_FILE,
    callback=require_folder,
    metavar="OUT",
    help="Write what pprof reads instead: protobuf in gzip, with names and lines.",
)
@click.option(
    "--full-names",
    is_flag=True,
    help="C++ names with all their arguments, and the functions inside of the standard library.",
)
@click.option("--lines", is_flag=True, help="A row for each line of the sources that calls.")
@click.option(
    "--fail-above",
    type=click.IntRange(min=0),
    metavar="BYTES",
    help="Exit with 19 if more than that is shown: for leaks, in the last profile of a program.",
)
def heap_command(
    file: Path,
    later: Path | None,
    show: str,
    what: str,
    html: Path | None,
    pprof: Path | None,
    full_names: bool,
    lines: bool,
    fail_above: int | None,
) -> int:
    """Show a heap profile, or what grew from FILE to LATER."""
    from pipeline.heap.look import look, named
    from pipeline.heap.tree import What

    first, second = named(file), named(later) if later else None
    seen = look(first, second, What(what))
    sums, facts = seen.sums, seen.facts()
    if pprof is not None:
        _write_pprof(pprof, first, second)
    if html is not None:
        from pipeline.heap.html import render_page

        kind = f"{what} memory" + (", growth" if later else "")
        name = f"{file.name} to {later.name}" if later else file.name
        page = render_page(name, kind, facts, sums, full=full_names, lines=lines)
        replace_text(html, page)
    for out in filter(None, (pprof, html)):
        click.echo(f"wrote {out}")
    if pprof is None and html is None:
        _show(facts, sums, show, full_names, lines)
    if not any(sums.values()):
        click.echo(_why_nothing(seen.profile.samples, later), err=True)
    return ExitCode.LIVES if fail_above is not None and sum(sums.values()) > fail_above else 0


def _why_nothing(samples: int, later: Path | None) -> str:
    """Return why there is no row to show."""
    if later is not None:
        return NOTHING_GREW
    return NOTHING_LIVES if samples else NO_SAMPLES


def _write_pprof(out: Path, first: Named, later: Named | None) -> None:
    from pipeline.heap.look import look
    from pipeline.heap.pprof import encode
    from pipeline.heap.tree import What

    allocated, live = look(first, later, What.ALLOCATED), look(first, later, What.LIVE)
    replace_bytes(out, encode(allocated.whole, live.whole, live.profile.rate))


def _show(
    facts: list[tuple[str, str]], sums: dict[Stack, float], show: str, full: bool, lines: bool
) -> None:
    from pipeline.core.output import hanging, room
    from pipeline.heap.text import call_tree, folded, top

    if show == "folded":
        click.echo(folded(sums, lines=lines), nl=False)
        return
    for key, value in facts:
        click.echo(hanging(f"{key:20} {value}", _VALUE, room()))
    if any(sums.values()):
        shown = top if show == "top" else call_tree
        click.echo(shown(sums, full=full, lines=lines, width=room()), nl=False)
