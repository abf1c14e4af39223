"""``pipeline report`` and ``pipeline diff``: what is known of a version, and of two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.options import line_option
from pipeline.commands.versions import complete_version

if TYPE_CHECKING:
    from pathlib import Path

    from click.shell_completion import CompletionItem

    from pipeline.judge import VerifyResult
    from pipeline.report.model import ReportModel

BASELINE = "baseline"
MARKED_FORMS = ("term", "md")
"""Forms for people that say first what was decided later; the others are as they were kept."""


def complete_wish(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str | CompletionItem]:
    """Return versions for shell completion, and the words that stand for one."""
    words = ["current", "last", *([BASELINE] if parameter.name == "against" else ())]
    named = complete_version(context, parameter, incomplete)
    return [*named, *(word for word in words if word.startswith(incomplete))]


@click.command("report")
@line_option
@click.argument("version", required=False, shell_complete=complete_wish)
@click.option(
    "--against",
    metavar="VERSION|baseline",
    shell_complete=complete_wish,
    help="Compare with this version; with `baseline` alone, with no version at all.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["term", "md", "html", "json"]),
    default="term",
    show_default=True,
    help="How to show it.",
)
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="Write to this file.")
@click.option("--check", is_flag=True, help="End with exit code 8 if it was not published.")
def report_command(
    profile: str,
    version: str | None,
    against: str | None,
    form: str,
    output: str | None,
    check: bool,
) -> int:
    """Show the report of a version.

    VERSION is a published version (a unique beginning will do), the path of its folder, or `last`:
    the build that was judged last, published or not. Without it, the current one. Against the
    baseline, and against the version that was current before it, unless --against says otherwise.
    With --check, a build that was not published, or that the judge refuses, ends with exit code 8.

    \b
    Examples:
      pipeline report
      pipeline report last --format md
      pipeline report 0.1.0-3f2a --against 0.1.0-77b1 --format html -o report.html
      pipeline report last --check
    """
    from pathlib import Path

    from pipeline.core.errors import ExitCode
    from pipeline.core.files import replace_text
    from pipeline.report.findings import refused

    model = _model(profile, version, against)
    text = _rendered(model, form)
    if form in MARKED_FORMS:
        text = _said_since(profile, version) + text
    if output is not None:
        replace_text(Path(output), text)
        click.echo(f"wrote {output}", err=True)
    else:
        click.echo(text, nl=False)
    failed = not model.published or refused(model.verify)
    return ExitCode.GATE if check and failed else ExitCode.OK


@click.command("diff")
@line_option
@click.argument("older", shell_complete=complete_wish)
@click.argument("newer", required=False, shell_complete=complete_wish)
@click.option(
    "--format",
    "form",
    type=click.Choice(["term", "md", "json"]),
    default="term",
    show_default=True,
    help="How to show it.",
)
@click.option("--measure", is_flag=True, help="Judge them against each other now.")
@click.option("--quick", is_flag=True, help="With --measure: judge shortly.")
def diff_command(
    profile: str, older: str, newer: str | None, form: str, measure: bool, quick: bool
) -> int:
    """Compare two versions by what was measured.

    NEWER is the current version if it is left out. Ends with exit code 16 if anything got worse
    beyond its margin, so that a script can tell. What cannot be compared is said to be unknown;
    with --measure both libraries are judged against each other, in pairs of runs, on this machine.

    \b
    Examples:
      pipeline diff 0.1.0-77b1
      pipeline diff 0.1.0-77b1 last --format md
      pipeline diff 0.1.0-77b1 0.1.0-3f2a --measure
    """
    from pipeline.core.errors import ExitCode
    from pipeline.report.compare import compare_versions
    from pipeline.report.diff import render_diff

    if quick and not measure:
        raise click.UsageError("--quick goes with --measure: what is on record is not measured")
    before, after = _read(profile, older), _read(profile, newer)
    direct = _measured(profile, older, newer, quick) if measure else None
    comparison = compare_versions(before, after, direct)
    click.echo(render_diff(comparison, after.version, form), nl=False)
    return ExitCode.REGRESSION if comparison.worse else ExitCode.OK


def _model(profile: str, version: str | None, against: str | None) -> ReportModel:
    """Return the report of a version, held against what was asked for."""
    from pipeline.report.build import against as held_against
    from pipeline.report.build import alone

    model = _read(profile, version)
    if against == BASELINE:
        return alone(model)
    return held_against(model, _read(profile, against)) if against else model


def _said_since(profile: str, wish: str | None) -> str:
    """Return what was said of a version after it was judged, as a line of its own; or ""."""
    from pipeline.core.paths import Tree
    from pipeline.release.marks import read_marks
    from pipeline.release.version import Version
    from pipeline.stages.publish.reporting import LAST

    version = Version(folder_of(profile, wish))
    dist = Tree.here().dist(profile) if wish == LAST else version.folder.parent
    said = read_marks(dist).since(version)
    return f"{said}\n\n" if said else ""


def _read(profile: str, wish: str | None) -> ReportModel:
    from pipeline.report.files import read_report

    return read_report(folder_of(profile, wish))


def _measured(profile: str, older: str, newer: str | None, quick: bool) -> VerifyResult:
    from pipeline.core.paths import Tree
    from pipeline.release.version import resolve

    tree = Tree.here()
    before, after = resolve(tree, profile, older), resolve(tree, profile, newer)
    return judged(profile, before.library, after.library, quick)


def judged(profile: str, older: Path, newer: Path, quick: bool) -> VerifyResult:
    """Judge two libraries against each other; progress goes to stderr."""
    from rich.console import Console

    from pipeline.commands.build import open_workshop
    from pipeline.core.console import BuildConsole
    from pipeline.core.errors import BuildInterrupted, JudgementInterrupted
    from pipeline.core.paths import Tree
    from pipeline.core.variant import split_line
    from pipeline.profile.load import load_profile
    from pipeline.stages.build.workshop import Options
    from pipeline.stages.proof.direct import judge_directly

    tree = Tree.here()
    console = BuildConsole(Console(stderr=True))
    options = Options(quick=quick)
    work = load_profile(tree, split_line(profile)[0])
    try:
        with open_workshop(tree, work, options, console, wait=True) as shop:
            return judge_directly(shop, older, newer)
    except BuildInterrupted as interrupt:
        raise JudgementInterrupted from interrupt


def folder_of(profile: str, wish: str | None) -> Path:
    """Return the folder with the report that ``wish`` names; VersionError if there is none."""
    from pipeline.core.errors import VersionError
    from pipeline.core.paths import Tree
    from pipeline.release.version import lines_with, resolve
    from pipeline.stages.publish.reporting import LAST

    tree = Tree.here()
    if wish == LAST:
        last = tree.reports(profile) / LAST
        if not last.is_dir():
            elsewhere = lines_with(tree.state, lambda line: (line / "reports" / LAST).is_dir())
            others = "".join(f"; or: `.venv/bin/pipeline report last -p {n}`" for n in elsewhere)
            raise VersionError(
                f"no build of profile {profile!r} was judged in this tree",
                hint=f"`.venv/bin/pipeline build --profile {profile}`{others}",
            )
        return last.resolve()
    try:
        return resolve(tree, profile, wish).folder
    except VersionError as error:
        if not wish and (tree.reports(profile) / LAST).is_dir():
            error.hint += (
                f"; `.venv/bin/pipeline report last -p {profile}` shows the build that was judged "
                "and not published"
            )
        raise


def _rendered(model: ReportModel, form: str) -> str:
    from pipeline.report.files import render_json
    from pipeline.report.html import render_html
    from pipeline.report.markdown import render_markdown
    from pipeline.report.terminal import as_text

    forms = {"html": render_html, "md": render_markdown, "json": render_json, "term": as_text}
    return forms[form](model)
