"""The report that a person names: a version, `last`, or a build that was judged alone."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from pipeline.commands.versions import complete_version

if TYPE_CHECKING:
    from pathlib import Path

    from click.shell_completion import CompletionItem

    from pipeline.core.paths import Tree
    from pipeline.report.model import ReportModel

BASELINE = "baseline"


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


def read_meant(profile: str, wish: str | None) -> ReportModel:
    """Return the report that ``wish`` names; VersionError if there is none."""
    from pipeline.report.files import read_report

    return read_report(folder_of(profile, wish))


def folder_of(profile: str, wish: str | None) -> Path:
    """Return the folder with the report that ``wish`` names; VersionError if there is none."""
    from pipeline.core.errors import VersionError
    from pipeline.core.paths import Tree
    from pipeline.release.last import LAST
    from pipeline.release.wish import resolve
    from pipeline.report.kept import find_report

    tree = Tree.here()
    if wish == LAST:
        return _last(tree, profile)
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


def _last(tree: Tree, profile: str) -> Path:
    """Return the folder of the build that was judged last; VersionError if none was."""
    from pipeline.core.errors import NothingYet
    from pipeline.core.variant import asked_for
    from pipeline.release.last import LAST
    from pipeline.release.published import lines_with

    last = tree.reports(profile) / LAST
    if last.is_dir():
        return last.resolve()
    elsewhere = lines_with(tree.state, lambda line: (line / "reports" / LAST).is_dir())
    others = "".join(f"; or take another: `{_with_profile(name)}`" for name in elsewhere)
    raise NothingYet(
        f"no build of profile {profile!r} was judged in this tree",
        hint=f"`.venv/bin/pipeline build --profile {asked_for(profile)}` judges one{others}",
    )


def _with_profile(name: str) -> str:
    """Return the command that was typed, for another profile."""
    context = click.get_current_context()
    arguments = [one.name for one in context.command.params if isinstance(one, click.Argument)]
    given = [
        shlex.quote(context.params[word])
        for word in arguments
        if word and context.get_parameter_source(word) is ParameterSource.COMMANDLINE
    ]
    return " ".join((".venv/bin/pipeline", context.info_name or "", *given, "-p", name))
