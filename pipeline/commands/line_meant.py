"""Which profile a command acts on where none is named: `mixed`, or the only one that fits."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from pipeline.commands.say import say

if TYPE_CHECKING:
    from pipeline.core.errors import VersionError
    from pipeline.core.paths import Tree


def line_meant(profile: str, wish: str | None, option: str = "", further: str | None = None) -> str:
    """Return the line that a command acts on: as asked for, the default, or the only one that fits.

    ``wish`` is the version that is asked for, behind ``option``. Where it is a path, the profile is
    of no account; ``further`` is a version that was typed after it. VersionError, with a command
    for each, if several fit and the default does not.
    """
    from pipeline.core.paths import Tree

    context, tree = click.get_current_context(), Tree.here()
    chosen = context.get_parameter_source("profile") is not ParameterSource.DEFAULT
    if chosen or wish == "" or (wish and Path(wish).exists()):
        return profile
    fitting, what = _fitting(tree, profile, wish)
    if profile in fitting or not fitting:
        return profile
    if len(fitting) > 1:
        words = [option, wish, further or ""] if wish else []
        raise _several(profile, fitting, what, " ".join((context.command_path, *_quoted(words))))
    only = fitting[0]
    say(f"note: {profile!r} has no {what}, so this is about {only!r}, the only one with", err=True)
    return only


def _fitting(tree: Tree, profile: str, wish: str | None) -> tuple[list[str], str]:
    """Return the lines of that variant with a published version, or with what is asked for."""
    from pipeline.core.variant import split_line
    from pipeline.release.last import LAST
    from pipeline.release.published import lines_with, published
    from pipeline.release.wish import has
    from pipeline.report.kept import kept_reports

    if wish and wish != LAST and has(kept_reports(tree.reports(profile)), wish):
        return [profile], ""  # what was only judged there can be named, too
    if wish == LAST:
        what = "build that was judged here"
        found = lines_with(tree.state, lambda line: (line / "reports" / LAST).is_dir())
    else:
        what, found = "published version", lines_with(tree.dists, published)
    return [one for one in found if split_line(one)[1] == split_line(profile)[1]], what


def _several(profile: str, fitting: list[str], what: str, command: str) -> VersionError:
    """Return the error for a command that may mean several lines; it has one to paste for each."""
    from pipeline.core.errors import VersionError

    ways = " or ".join(f"`.venv/bin/{command} -p {name}`" for name in fitting)
    return VersionError(
        f"profile {profile!r} has no {what}, and {len(fitting)} others have one",
        hint=f"give one of these: {ways}",
    )


def _quoted(words: list[str]) -> list[str]:
    return [shlex.quote(word) for word in words if word]
