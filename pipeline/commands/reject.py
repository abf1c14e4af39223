"""``pipeline reject``: a version never comes again, or that is taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.own_version import own_version, tell_installed
from pipeline.commands.profile_options import line_option
from pipeline.commands.say import say
from pipeline.commands.versions import complete_version

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.core.paths import Tree
    from pipeline.release.marks import Mark
    from pipeline.release.version import Version


@click.command("reject")
@line_option
@click.argument("wish", metavar="VERSION", shell_complete=complete_version)
@click.option(
    "--reason",
    default="",
    metavar="TEXT",
    help="Why, in a sentence that is kept; only --undo needs none.",
)
@click.option("--undo", is_flag=True, help="Take back that it was rejected.")
def reject_command(profile: str, wish: str, reason: str, undo: bool) -> None:
    """Refuse a version for good, with a reason.

    It never becomes current again, nor does a build that is the same (docs/versions.md): the same
    bytes, or the same sources, flags, tools, training workloads, lists and geometry, quick or not.
    Nothing installs it. Where it is current, the newest version that is whole, not rejected and not
    set aside by a rollback takes its place; without one, no version is current. The command does
    not wait for a build that runs.

    A build that was judged and not published can be refused, too, by the name that `pipeline
    history` has: a build with the same bytes is then never published.

    \b
    Examples:
      pipeline reject 0.1.0-3f2a --reason "redis uses 8 % more memory with it"
      pipeline reject 0.1.0-3f2a --undo     # the library was not at fault
    """
    from pipeline.core.errors import UsageError
    from pipeline.core.paths import Tree
    from pipeline.report.judged import require_one

    tree = Tree.here()
    require_one(tree, profile, wish)
    if undo:
        if reason:
            raise UsageError("--undo keeps no reason", hint="leave --reason out")
        _undo_rejection(tree, profile, wish)
        return
    if not reason.strip():
        raise UsageError("a rejection needs a reason", hint='say why: --reason "TEXT"')
    if not _rejected_unpublished(tree, profile, wish, reason):
        _reject_published(tree, profile, wish, reason)


def _reject_published(tree: Tree, profile: str, wish: str, reason: str) -> None:
    """Refuse a published version, and say what that means for others and for ``current``."""
    from pipeline.core.lock import marks_lock
    from pipeline.release.marking import reject

    with marks_lock(tree.state):
        target = own_version(tree, profile, wish)
        twins, left = _twins_and_others(tree.dist(profile), target, reason)
        # First of all it is current no more: if this is killed, the same command can go on.
        moved = _moved_from(tree.dist(profile), [target, *twins], left)
        reject(target, reason)
    click.echo(f"{target.name} is rejected: {reason}")
    if twins:
        click.echo(f"that holds as well for what is the same: {', '.join(t.name for t in twins)}")
    back = f"`.venv/bin/pipeline reject -p {profile} {target.name} --undo`"
    say(f"{back} takes that back")
    say(moved)
    tell_installed(target)


def _twins_and_others(
    dist: Path, target: Version, reason: str
) -> tuple[list[Version], list[Version]]:
    """Return what is refused with a version, for it is the same, and what is left then."""
    from pipeline.release.marks import mark_of_version, read_marks
    from pipeline.release.published import published

    marks = read_marks(dist)
    _require_no_rejection(marks.rejection(target), target, dist.name)
    others = [one for one in published(dist) if one != target and not marks.rejection(one)]
    after = marks.with_rejection(mark_of_version(target, reason))
    twins = [one for one in others if after.rejection(one)]
    return twins, [one for one in others if one not in twins]


def _moved_from(dist: Path, refused: list[Version], left: list[Version]) -> str:
    """Move ``current`` if it is one of those that are refused; say what became of it."""
    from pipeline.release.current import current

    now = current(dist)
    if now in refused:
        return _replace(dist, left)
    return f"{now.name} stays current" if now else "no version is current, as before"


def _rejected_unpublished(tree: Tree, profile: str, wish: str, reason: str) -> bool:
    """Refuse a build that was judged alone; False if ``wish`` names none."""
    from pipeline.core.lock import marks_lock
    from pipeline.release.marking import rejected_and_gone
    from pipeline.report.judged import judged_alone, reject_judged

    judged = judged_alone(tree, profile, wish)
    if judged is None or rejected_and_gone(tree.dist(profile), wish):
        return False
    with marks_lock(tree.state):
        mark = reject_judged(tree.dist(profile), judged, reason)
    click.echo(f"{mark.version} is rejected: {reason}")
    say(
        "it was never published; a build with the same bytes will not be either. One that is "
        "trained or judged anew may have others"
    )
    say(f"`.venv/bin/pipeline reject -p {profile} {mark.version} --undo` takes that back")
    return True


def _replace(dist: Path, others: list[Version]) -> str:
    """Make the newest of ``others`` current that is whole and not set aside, or none; say which."""
    from pipeline.release.current import point_current, point_nowhere
    from pipeline.release.marks import read_marks

    marks = read_marks(dist)
    aside = [one for one in others if marks.rolled_back(one)]
    place = next((one for one in others if one not in aside and one.is_whole()), None)
    if place is None:
        point_nowhere(dist)
        return _none_current(dist, aside)
    point_current(place)
    newer = [one.name for one in aside if others.index(one) < others.index(place)]
    passed = f"; a rollback has set aside what is newer: {', '.join(newer)}" if newer else ""
    return f"current is now {place.name}{passed}"


def _none_current(dist: Path, aside: list[Version]) -> str:
    """Say what it means that no version is current, and how one that is set aside becomes it."""
    said = (
        f"no version is current now: {dist / 'current'} is gone. Programs that preload it say "
        "so when they start, and use libc's malloc: leave LD_PRELOAD out. `hakmem run` starts "
        "nothing without a library"
    )
    whole = next((one.name for one in aside if one.is_whole()), None)
    if whole is None:
        return said
    back = f"`.venv/bin/pipeline rollback -p {dist.name} --to {whole}`"
    return f"{said}. {whole} is left, which a rollback has set aside: {back} makes it current"


def _undo_rejection(tree: Tree, profile: str, wish: str) -> None:
    """Take a rejection back; ``current`` stays where it is."""
    from pipeline.core.lock import marks_lock
    from pipeline.release.marking import accept, forget, rejected_and_gone
    from pipeline.release.mending import how_to_mend
    from pipeline.report.judged import judged_alone, what_became

    with marks_lock(tree.state):
        if gone := rejected_and_gone(tree.dist(profile), wish):
            forget(tree.dist(profile), gone)
            say(
                f"{gone.version} is no longer rejected ({gone.reason}). It "
                f"{what_became(tree, gone, profile)}: a build of the same may publish it"
            )
            return
        if judged := judged_alone(tree, profile, wish):
            click.echo(f"{judged.name} is not rejected: nothing to take back")
            return
        target = own_version(tree, profile, wish)
        found = accept(target)
    if found is None:
        click.echo(f"{target.name} is not rejected: nothing to take back")
        return
    own = found.version == target.name
    twin = "" if own else f", nor is {found.version}, where the rejection stood"
    click.echo(f"{target.name} is no longer rejected ({found.reason}){twin}")
    if damage := target.damage():
        say(f"it is damaged: {damage}; {how_to_mend(target)}")
    else:
        go = f"`.venv/bin/pipeline rollback -p {profile} --to {target.name}`"
        say(f"{go} makes it current")


def _require_no_rejection(found: Mark | None, target: Version, profile: str) -> None:
    """Raise VersionError if a version is rejected already: its reason and date are kept."""
    from pipeline.report.judged import rejected_already

    if found is not None:
        raise rejected_already(found, target.name, profile)
