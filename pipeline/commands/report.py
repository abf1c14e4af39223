"""``pipeline report`` and ``pipeline diff``: what is known of a version, and of two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.line_meant import line_meant
from pipeline.commands.options import line_option, output_option
from pipeline.commands.versions import complete_version
from pipeline.core.paste import runnable

if TYPE_CHECKING:
    from pathlib import Path

    from click.shell_completion import CompletionItem

    from pipeline.judge.model import VerifyResult
    from pipeline.release.version import Version
    from pipeline.report.model import Decision, ReportModel

BASELINE = "baseline"
MARKED_FORMS = ("term", "md")
"""Forms that get a first line with what became of it; the others have a place for it."""
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


def complete_wish(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str | CompletionItem]:
    """Return versions for shell completion, and the words that stand for one."""
    words = ["current", "last", *([BASELINE] if parameter.name == "against" else ())]
    named = dict.fromkeys([*complete_version(context, parameter, incomplete), *_kept(context)])
    return [word for word in (*named, *words) if str(word).startswith(incomplete)]


def _kept(context: click.Context) -> list[str]:
    """Return the names of builds that were judged here, published or not."""
    from pipeline.core.paths import Tree
    from pipeline.report.kept import kept_reports

    reports = Tree.here().reports(context.params.get("profile") or "mixed")
    return [folder.name for folder in kept_reports(reports)]


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
    Without it, the current one. Against the
    baseline, and against the version that was current before it, unless --against says otherwise.
    With --check, a build that was not published, that the judge refuses or that somebody rejected
    ends with exit code 8, and a version whose files are damaged with 14; stderr says why. A loss
    that the build accepted, by --allow-regression, is named there, too, and ends with 0.

    \b
    Examples:
      pipeline report
      pipeline report last --format md
      pipeline report 0.1.0-3f2a --against 0.1.0-77b1 -o report.html
      pipeline report last --check
    """
    from pipeline.core.errors import ExitCode
    from pipeline.core.files import replace_text

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
    code = _checked(model) if check else ExitCode.OK
    if code:
        click.echo(runnable(_why_checked(model)), err=True)
    return code


def _checked(model: ReportModel) -> int:
    """Return the exit code of --check: damage comes first, for it makes all else doubtful."""
    from pipeline.core.errors import ExitCode
    from pipeline.report.findings import refused

    if model.damage:
        return ExitCode.ARTIFACT
    if model.allow_regression:
        accepted = ", ".join(model.allow_regression)
        click.echo(f"note: this build accepted a loss, by --allow-regression: {accepted}", err=True)
    failed = model.rejected or not model.published or refused(model.verify)
    return ExitCode.GATE if failed else ExitCode.OK


def _why_checked(model: ReportModel) -> str:
    """Return why --check fails, in the report's own words: its first lines scroll away."""
    judged = f"{model.outcome.lower()}: {model.reason}"
    return f"check failed: {'; '.join(_said_since(model)) or judged}"


def _first_lines(model: ReportModel) -> str:
    """Return what has become of a version since it was judged, to stand above its report."""
    return "".join(f"{said}\n\n" for said in _said_since(model))


def _said_since(model: ReportModel) -> list[str]:
    """Return what has become of a version since it was judged, a sentence each."""
    damage = f"DAMAGED: {model.damage}" if model.damage else ""
    decided = model.decided.said if model.decided else ""
    return [said for said in (damage, decided) if said]


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
    from pipeline.release.version import Version
    from pipeline.report.compare import compare_versions
    from pipeline.report.diff import render_diff

    if quick and not measure:
        raise click.UsageError(
            "--quick shortens a measurement, and none was asked for: add --measure"
        )
    before, after = _read(profile, older), _read(profile, newer)
    direct = _measured(profile, older, newer, quick) if measure else None
    comparison = compare_versions(before, after, direct)
    click.echo(render_diff(comparison, after.version, form), nl=False)
    for model, wish in ((before, older), (after, newer)):
        version = Version(folder_of(profile, wish))
        now = model.model_copy(update=_since(profile, version))
        for said in _said_since(now) if form != "json" else ():
            click.echo(f"{model.version}: {said}")
    return ExitCode.REGRESSION if comparison.worse else ExitCode.OK


def _model(profile: str, version: str | None, against: str | None) -> ReportModel:
    """Return the report of a version, held against what was asked for."""
    from pipeline.release.version import Version
    from pipeline.report.build import against as held_against
    from pipeline.report.build import alone
    from pipeline.report.files import read_report

    found = Version(folder_of(profile, version))
    model = read_report(found.folder).model_copy(update=_since(profile, found))
    if against == BASELINE:
        return alone(model)
    return model if against is None else held_against(model, _read(profile, against))


def _since(profile: str, version: Version) -> dict[str, Decision | str | None]:
    """Return what has become of a version since it was judged, as fields of its report."""
    return {"decided": _decided(profile, version), "damage": _damage(version)}


def _decided(profile: str, version: Version) -> Decision | None:
    """Return what people decided of a version after it was judged; None if nothing."""
    from pipeline.core.paths import Tree
    from pipeline.release.marks import read_marks
    from pipeline.report.model import Decision

    dist = version.folder.parent if version.is_published else Tree.here().dist(profile)
    marks = read_marks(dist)
    refused = marks.rejection(version)
    mark = refused or marks.rolled_back(version)
    if mark is None:
        return None
    return Decision(
        what="rejected" if refused else "set aside",
        since=mark.since,
        reason=mark.reason,
        said=f"{marks.since(version)}{_undone(profile, version) if refused else ''}",
    )


def _damage(version: Version) -> str:
    """Return what is wrong with the files of a published version, and the cure; "" for nothing."""
    from pipeline.release.mending import how_to_mend

    damage = version.damage() if version.is_published else ""
    return damage and f"{damage}; {how_to_mend(version)}"


def _undone(line: str, version: Version) -> str:
    command = f".venv/bin/pipeline reject -p {line} {version.name} --undo"
    return f"; `{command}` takes that back"


def _read(profile: str, wish: str | None) -> ReportModel:
    from pipeline.report.files import read_report

    return read_report(folder_of(profile, wish))


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


def folder_of(profile: str, wish: str | None) -> Path:
    """Return the folder with the report that ``wish`` names; VersionError if there is none."""
    from pipeline.core.errors import VersionError
    from pipeline.core.paths import Tree
    from pipeline.core.variant import asked_for
    from pipeline.release.last import LAST
    from pipeline.release.published import lines_with
    from pipeline.release.wish import resolve
    from pipeline.report.kept import find_report

    tree = Tree.here()
    if wish == LAST:
        last = tree.reports(profile) / LAST
        if not last.is_dir():
            elsewhere = lines_with(tree.state, lambda line: (line / "reports" / LAST).is_dir())
            others = "".join(
                f"; or read another: `.venv/bin/pipeline report last -p {n}`" for n in elsewhere
            )
            raise VersionError(
                f"no build of profile {profile!r} was judged in this tree",
                hint=f"`.venv/bin/pipeline build --profile {asked_for(profile)}` judges one"
                f"{others}",
            )
        return last.resolve()
    try:
        return resolve(tree, profile, wish).folder
    except VersionError as error:
        judged = find_report(tree, profile, wish) if wish else None
        if judged is not None:
            return judged
        if not wish and (tree.reports(profile) / LAST).is_dir():
            error.hint += (
                f"; `.venv/bin/pipeline report last -p {profile}` shows the build that was judged "
                "last"
            )
        raise


def _rendered(model: ReportModel, form: str) -> str:
    from pipeline.report.files import render_json
    from pipeline.report.html import render_html
    from pipeline.report.markdown import render_markdown
    from pipeline.report.terminal import as_text

    forms = {"html": render_html, "md": render_markdown, "json": render_json, "term": as_text}
    return forms[form](model)
