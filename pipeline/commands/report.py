"""``pipeline report``: what is known of a version."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.file_options import output_option
from pipeline.commands.line_meant import line_meant
from pipeline.commands.profile_options import version_option
from pipeline.commands.report_meant import BASELINE, complete_wish, folder_of, read_meant
from pipeline.commands.say import say_other_run
from pipeline.commands.since_judged import said_since, since_judged
from pipeline.core.paste import runnable

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.core.paths import Tree
    from pipeline.report.model import ReportModel

MARKED_FORMS = ("term", "md")
"""Forms that get a first line with what became of it; the others have a place for it."""
MOVING = (None, "current", "last")
"""What stands for another version when the run that works in the tree has ended."""
AS_JUDGED = "All below is as it was judged before."
FORMS = {".html": "html", ".md": "md", ".json": "json", ".txt": "term"}
"""The format that the end of a file's name stands for."""


def _form_of(form: str | None, output: Path | None) -> str:
    """Return the format: as asked for, else by the end of the file's name, else the terminal's."""
    from pipeline.core.errors import UsageError

    if form is not None:
        return form
    suffix = output.suffix.lower() if output is not None else ""
    if suffix and suffix not in FORMS:
        raise UsageError(
            f"{output} ends like none of the formats of a report",
            hint=f"give it one of the endings {', '.join(FORMS)}, or add --format",
        )
    return FORMS.get(suffix, "term")


@click.command("report")
@version_option
@click.argument("version", required=False, shell_complete=complete_wish)
@click.option(
    "--against",
    metavar="VERSION|baseline",
    shell_complete=complete_wish,
    help="Compare with this version; `baseline`: with the baseline alone.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["term", "md", "html", "json"]),
    help="How to show it.  [default: by the ending of FILE, else term]",
)
@output_option("Write to this file; .html, .md, .json and .txt choose the format.")
@click.option(
    "--check",
    is_flag=True,
    help="End with exit code 8 if it was not published or is rejected, 14 if it is damaged.",
)
def report_command(
    profile: str,
    version: str | None,
    against: str | None,
    form: str | None,
    output: Path | None,
    check: bool,
) -> int:
    """Show the report of a version.

    VERSION is a version that `pipeline list` or `pipeline history` names (a unique beginning will
    do), the path of its folder, or `last`: the build that was judged last, published or not.
    Without it, the current one. It is compared with the baseline, and with the version that was
    current before it, unless --against says otherwise.

    With --check, the exit code is 8 if the build was not published, the judge refuses it or
    somebody rejected it. It is 14 if files of the version are damaged; stderr says why. A loss that
    the build accepted, by --allow-regression, is named there, too; then the code is 0.

    \b
    Examples:
      pipeline report
      pipeline report last --format md
      pipeline report 0.1.0-3f2a --against 0.1.0-77b1 -o report.html
      pipeline report last --check
    """
    from pipeline.core.exit_codes import ExitCode
    from pipeline.core.files import replace_text
    from pipeline.core.paths import Tree

    profile, chosen = line_meant(profile, version), _form_of(form, output)
    model = _model(profile, version, against)
    text = _rendered(model, chosen)
    if chosen in MARKED_FORMS:
        text = f"{_first_lines(model)}{text}"
    if output is not None:
        replace_text(output, text)
        click.echo(f"wrote {output}", err=True)
    else:
        click.echo(runnable(text) if chosen == "term" else text, nl=False)
    if version in MOVING:
        say_other_run(Tree.here())
    _say_removed(Tree.here(), profile, model)
    code = _checked(model) if check else ExitCode.OK
    if code:
        click.echo(runnable(_why_checked(model)), err=True)
    return code


def _say_removed(tree: Tree, profile: str, model: ReportModel) -> None:
    """Say that only the report of a published version is left: its commands need the version."""
    kept, folder = (at / model.version for at in (tree.reports(profile), tree.dist(profile)))
    if model.published and kept.exists() and not folder.exists():
        click.echo(f"note: {model.version} was removed since: this is the report alone", err=True)


def _checked(model: ReportModel) -> int:
    """Return the exit code of --check: damage comes first, for it makes all else doubtful."""
    from pipeline.core.exit_codes import ExitCode
    from pipeline.report.findings import refused

    if model.damage:
        return ExitCode.ARTIFACT
    if model.accepted:
        click.echo(f"note: accepted by --allow-regression: {model.accepted}", err=True)
    failed = model.rejected or not model.published or refused(model.verify)
    return ExitCode.GATE if failed else ExitCode.OK


def _why_checked(model: ReportModel) -> str:
    """Return why --check fails, in the report's own words: its first lines scroll away."""
    judged = f"{model.outcome.lower()}: {model.reason}"
    return f"check failed: {'; '.join(said_since(model)) or judged}"


def _first_lines(model: ReportModel) -> str:
    """Return what has become of a version since it was judged, to stand above its report."""
    below = [AS_JUDGED] if model.decided else []
    return "".join(f"{said}\n\n" for said in (*said_since(model), *below))


def _model(profile: str, version: str | None, against: str | None) -> ReportModel:
    """Return the report of a version, held against what was asked for."""
    from pipeline.release.version import Version
    from pipeline.report.build import against as held_against
    from pipeline.report.build import alone
    from pipeline.report.files import read_report

    found = Version(folder_of(profile, version))
    model = since_judged(profile, found, read_report(found.folder))
    if against == BASELINE:
        return alone(model)
    return model if against is None else held_against(model, read_meant(profile, against))


def _rendered(model: ReportModel, form: str) -> str:
    from pipeline.report.files import render_json
    from pipeline.report.html import render_html
    from pipeline.report.markdown import render_markdown
    from pipeline.report.terminal import as_text

    forms = {"html": render_html, "md": render_markdown, "json": render_json, "term": as_text}
    return forms[form](model)
