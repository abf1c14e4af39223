"""``pipeline diff``: what was measured of two versions, held against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.line_meant import line_meant
from pipeline.commands.profile_options import version_option
from pipeline.commands.report_meant import complete_wish, folder_of, read_meant
from pipeline.commands.say import say
from pipeline.commands.since_judged import said_since, since_judged

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.judge.model import VerifyResult
    from pipeline.report.model import ReportModel


@click.command("diff")
@version_option
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
@click.option("--quick", is_flag=True, help="With --measure: fewer runs.")
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
    from pipeline.core.exit_codes import ExitCode
    from pipeline.release.version import Version
    from pipeline.report.compare import compare_versions
    from pipeline.report.diff import render_diff

    if quick and not measure:
        raise click.UsageError(
            "--quick shortens a measurement, and none was asked for: add --measure"
        )
    profile = line_meant(profile, older, further=newer)
    before, after = read_meant(profile, older), read_meant(profile, newer)
    direct = _measured(profile, older, newer, quick) if measure else None
    comparison = compare_versions(before, after, direct)
    click.echo(render_diff(comparison, after.version, form), nl=False)
    _tell_swapped(before, after)
    if form == "term" and before.version == after.version:
        _tell_later(profile, after)
    for model, wish in ((before, older), (after, newer)):
        version = Version(folder_of(profile, wish))
        now = since_judged(profile, version, model)
        for said in said_since(now) if form != "json" else ():
            click.echo(f"{model.version}: {said}")
    return ExitCode.REGRESSION if comparison.worse else ExitCode.OK


def _tell_swapped(before: ReportModel, after: ReportModel) -> None:
    """Say on stderr that the version which stands for NEWER was judged before the other one."""
    if after.verify.created < before.verify.created:
        say(f"note: {after.version} is the older of the two, and stands for NEWER", err=True)


def _tell_later(profile: str, model: ReportModel) -> None:
    """Name the build that was judged last, where it came after the one that was compared."""
    from pipeline.core.errors import PipelineError
    from pipeline.release.last import LAST

    try:
        last = read_meant(profile, LAST)
    except PipelineError:
        return
    if last.version != model.version and last.verify.created > model.verify.created:
        line = f"`.venv/bin/pipeline diff -p {profile} {model.version} last`"
        say(f"{line} compares it with {last.version}, which was judged later")


def _measured(profile: str, older: str, newer: str | None, quick: bool) -> VerifyResult:
    from pipeline.core.paths import Tree
    from pipeline.release.wish import resolve

    tree = Tree.here()
    before, after = resolve(tree, profile, older), resolve(tree, profile, newer)
    return judged(profile, before.library, after.library, quick)


def judged(profile: str, older: Path, newer: Path, quick: bool) -> VerifyResult:
    """Judge two libraries against each other; progress goes to stderr."""
    from pipeline.commands.workshop import open_to_judge
    from pipeline.core.console import open_console
    from pipeline.core.paths import Tree
    from pipeline.core.variant import split_line
    from pipeline.profile.load import load_profile
    from pipeline.stages.build.workshop import Options
    from pipeline.stages.proof.direct import judge_directly

    tree = Tree.here()
    work = load_profile(tree, split_line(profile)[0])
    with open_to_judge(tree, work, Options(quick=quick), open_console(beside=True)) as shop:
        return judge_directly(shop, older, newer)
