"""``pipeline history``: the versions of a profile over time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.file_options import OUTPUT_FILE, require_folder
from pipeline.commands.line_meant import line_meant
from pipeline.commands.profile_options import version_option
from pipeline.commands.say import say_other_run

if TYPE_CHECKING:
    from pipeline.report.history_model import History


@click.command("history")
@version_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON in place of the table.")
@click.option(
    "--html",
    type=OUTPUT_FILE,
    callback=require_folder,
    metavar="FILE",
    help="Write a page with charts and the table.",
)
@click.option(
    "--svg",
    type=OUTPUT_FILE,
    callback=require_folder,
    metavar="FILE",
    help="Write the charts alone.",
)
def history_command(profile: str, as_json: bool, html: Path | None, svg: Path | None) -> None:
    """Show the versions of a profile over time, newest last.

    That is the order of the page and the charts, too. The current one has a *. The table has
    throughput against the baseline, instruction cache misses and instructions per operation, peak
    memory and text size. All of it comes from the reports that are kept: of published versions, and
    of builds that were judged here and not published.

    \b
    Examples:
      pipeline history -p mixed
      pipeline history -p mixed --html history.html
      pipeline history --json
    """
    from pipeline.core.errors import NothingYet
    from pipeline.core.files import replace_text
    from pipeline.core.paths import Tree
    from pipeline.core.variant import asked_for
    from pipeline.report.history import read_history

    history = read_history(Tree.here(), profile)
    if not history.points:
        history = read_history(Tree.here(), profile := line_meant(profile, None))
    if not history.points:
        others = _with_reports()
        raise NothingYet(
            f"there is no report of profile {profile!r}; profiles with one: "
            f"{', '.join(others) or 'none'}",
            hint=f"`.venv/bin/pipeline build --profile {asked_for(profile)}` makes one"
            + "".join(f"; or read another: `.venv/bin/pipeline history -p {n}`" for n in others),
        )
    for file, text in _pages(history, html, svg):
        replace_text(file, text)
        click.echo(f"wrote {file}", err=as_json)
    if as_json:
        click.echo(history.model_dump_json(indent=1))
    elif html is None and svg is None:
        from pipeline.report.history_text import render_history

        click.echo(render_history(history), nl=False)
    say_other_run(Tree.here())


def _with_reports() -> list[str]:
    """Return the names of the profiles that have a report here."""
    from pipeline.core.paths import Tree
    from pipeline.release.published import lines_with, published
    from pipeline.report.kept import lines_judged

    tree = Tree.here()
    return sorted({*lines_judged(tree), *lines_with(tree.dists, published)})


def _pages(history: History, html: Path | None, svg: Path | None) -> list[tuple[Path, str]]:
    from pipeline.report.history_html import render_history_html, render_history_svg

    pages = []
    if html is not None:
        pages.append((html, render_history_html(history)))
    if svg is not None:
        pages.append((svg, render_history_svg(history)))
    return pages
