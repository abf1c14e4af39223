"""``pipeline rollback``: an older version becomes current."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.line_meant import line_meant
from pipeline.commands.own_version import own_version, tell_installed
from pipeline.commands.profile_options import version_option
from pipeline.commands.say import say
from pipeline.commands.versions import complete_version

if TYPE_CHECKING:
    from pipeline.core.errors import VersionError
    from pipeline.core.paths import Tree
    from pipeline.release.version import Version


@click.command("rollback")
@version_option
@click.option(
    "--to",
    "wish",
    metavar="VERSION",
    shell_complete=complete_version,
    help="Go to this version, older or newer, not to the one before.",
)
def rollback_command(profile: str, wish: str | None) -> None:
    """Make an older published version current, or any by --to.

    Without --to it is the newest before the current one that is whole and not rejected; --to takes
    a newer one, too. The version that was current is set aside: a build of the same does not bring
    it back, until `pipeline unpin` or a build of something else that becomes current. The command
    does not wait for a build that runs.

    \b
    Examples:
      pipeline rollback                     # the version before the current one
      pipeline rollback --to 0.1.0-3f2a     # any; a unique beginning will do
    """
    from pipeline.core.lock import marks_lock
    from pipeline.core.paths import Tree
    from pipeline.release.current import current, point_current
    from pipeline.release.marking import set_aside, want_again
    from pipeline.release.marks import require_accepted
    from pipeline.release.mending import require_undamaged
    from pipeline.release.published import require_published

    tree, profile = Tree.here(), line_meant(profile, wish, "--to")
    dist = tree.dist(profile)
    with marks_lock(tree.state):
        named = own_version(tree, profile, wish) if wish is not None else None
        versions, now = require_published(dist, profile), current(dist)
        target = named or _before(tree, versions, now, profile)
        require_accepted(target)
        require_undamaged(target)
        if now is not None and now != target:
            set_aside(now, target)
        else:  # perhaps it is set aside: by a rollback that was killed before it moved
            want_again(target)
        point_current(target)
    click.echo(_gone_to(target, now, versions))
    if now is not None and now != target:
        say(
            f"{now.name} is set aside: a build of the same does not bring it back "
            f"until `.venv/bin/pipeline unpin -p {profile}`"
        )
        tell_installed(now)


def _gone_to(target: Version, now: Version | None, versions: list[Version]) -> str:
    """Say where `current` has gone; ``versions`` has the newest first."""
    if now == target:
        return f"current is already {target.name}"
    if now in versions and versions.index(target) < versions.index(now):
        return f"went forward to {target.name}: it is current now"
    return f"current is now {target.name}"


def _before(tree: Tree, versions: list[Version], now: Version | None, profile: str) -> Version:
    """Return the version published before the current one, rejected and damaged ones left out.

    Where all are damaged it is the first of them, and an error says how to mend it.
    """
    from pipeline.release.marks import read_marks
    from pipeline.report.kept import removed_last

    marks = read_marks(versions[0].folder.parent)
    good = [one for one in versions if marks.rejection(one) is None]
    older = versions[versions.index(now) + 1 :] if now in versions else versions
    usable = [one for one in older if one in good]
    found = next((one for one in usable if one.is_whole()), next(iter(usable), None))
    if found is None:
        newer = [one for one in versions if one != now]
        if older:
            raise _all_rejected(older, profile)
        raise _oldest(now, newer, good, profile, removed_last(tree, profile))
    for passed in usable[: usable.index(found)]:
        say(f"{passed.name} is damaged, so it is passed over: {passed.damage()}")
    return found


def _all_rejected(older: list[Version], profile: str) -> VersionError:
    """Return the error where there are older versions, and none that may become current."""
    from pipeline.core.errors import VersionError

    named = ", ".join(one.name for one in older)
    return VersionError(
        f"there is no older version to go back to: all were rejected ({named})",
        hint=f"`.venv/bin/pipeline reject -p {profile} VERSION --undo` takes a rejection back",
    )


def _oldest(
    now: Version | None,
    newer: list[Version],
    good: list[Version],
    profile: str,
    removed: str | None,
) -> VersionError:
    """Return the error where no version is older; ``good`` are those that are not rejected.

    ``removed`` is the last one that pruning took.
    """
    from pipeline.core.errors import VersionError

    return VersionError(
        f"{now.name} is the oldest version: there is none to go back to"
        if now is not None
        else "there is no older version to go back to",
        hint=f"`.venv/bin/pipeline rollback -p {profile} --to VERSION` takes a newer one of "
        f"those that `.venv/bin/pipeline list -p {profile}` shows"
        if any(one in good for one in newer)
        else "each newer one is rejected, so you have gone back already. "
        f"`.venv/bin/pipeline reject -p {profile} {newer[0].name} --undo` takes that back"
        if newer
        else f"{removed} was removed: `.venv/bin/pipeline bundle import FILE` of its bundle "
        "brings it back. Or leave LD_PRELOAD out: programs then have the malloc of libc"
        if removed
        else "leave LD_PRELOAD out: programs then have the malloc of libc",
    )
