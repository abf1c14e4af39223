"""The version of this tree that `rollback` or `reject` names, and where it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.commands.say import say

if TYPE_CHECKING:
    from pipeline.core.errors import VersionError
    from pipeline.core.paths import Tree
    from pipeline.release.version import Version


def own_version(tree: Tree, profile: str, wish: str) -> Version:
    """Return the published version that ``wish`` names; VersionError if it was judged alone."""
    from pipeline.core.errors import VersionError
    from pipeline.release.wish import resolve_own

    try:
        return resolve_own(tree, profile, wish)
    except VersionError:
        known = _rejected(tree, profile, wish) or _without_folder(tree, profile, wish)
        if known is None:
            raise
        raise known from None


def _rejected(tree: Tree, profile: str, wish: str) -> VersionError | None:
    """Return the error for a version that was rejected and has no folder."""
    from pipeline.core.errors import VersionError
    from pipeline.release.marking import rejected_and_gone
    from pipeline.report.judged import what_became

    gone = rejected_and_gone(tree.dist(profile), wish)
    if gone is None:
        return None
    undo = f"`.venv/bin/pipeline reject -p {profile} {gone.version} --undo`"
    return VersionError(
        f"{gone.version} was rejected ({gone.reason}), and {what_became(tree, gone, profile)}",
        hint=f"{undo} takes that back: then a build of the same may publish it",
    )


def _without_folder(tree: Tree, profile: str, wish: str) -> VersionError | None:
    """Return the error for a build of which only the report is there."""
    from pipeline.core.errors import VersionError
    from pipeline.report.judged import judged_as
    from pipeline.report.kept import was_published

    judged = judged_as(tree, profile, wish)
    if judged is None:
        return None
    state = "was removed" if was_published(judged) else "is not published"
    return VersionError(
        f"{judged.name} of profile {profile!r} {state}: only its report is there",
        hint="a build of the same may publish it: only then can it become current; "
        f"`.venv/bin/pipeline report {judged.name} -p {profile}` shows its verdict",
    )


def tell_installed(version: Version) -> None:
    """Say where a version that is refused is still installed."""
    from pipeline.release.prune import where_installed

    for sentence in where_installed(version):
        say(sentence)
