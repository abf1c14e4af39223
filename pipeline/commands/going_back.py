"""``pipeline rollback``, ``unpin``, ``reject``: going back, and what must not come again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.line_meant import line_meant
from pipeline.commands.options import line_option
from pipeline.commands.say import say
from pipeline.commands.versions import complete_version

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.core.paths import Tree
    from pipeline.release.marks import Mark, Marks
    from pipeline.release.version import Version


@click.command("rollback")
@line_option
@click.option(
    "--to",
    "wish",
    metavar="VERSION",
    shell_complete=complete_version,
    help="Go to this version, older or newer, not to the one before.",
)
def rollback_command(profile: str, wish: str | None) -> None:
    """Make an older published version current, or any by --to.

    Without --to it is the version before the current one; --to takes a newer one, too. The version
    that was current is set aside: a build of the same does not bring it back, until `pipeline
    unpin` or a build of something else that becomes current. The command does not wait for a build
    that runs.

    \b
    Examples:
      pipeline rollback                          the version before the current one
      pipeline rollback --to 0.1.0-3f2a          any version; a unique beginning will do
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
        named = _own(tree, profile, wish) if wish is not None else None
        versions, now = require_published(dist, profile), current(dist)
        target = named or _before(versions, now, profile)
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
        _tell_installed(now)


def _gone_to(target: Version, now: Version | None, versions: list[Version]) -> str:
    """Say where `current` has gone; ``versions`` has the newest first."""
    if now == target:
        return f"current is already {target.name}"
    if now in versions and versions.index(target) < versions.index(now):
        return f"went forward to {target.name}: it is current now"
    return f"current is now {target.name}"


@click.command("unpin")
@line_option
def unpin_command(profile: str) -> None:
    """Let builds move `current` again to what was rolled back.

    A rollback holds: a build of the same (docs/versions.md says what that is) does not make current
    what was rolled back. This lifts it; so does a build of anything else that becomes current.

    \b
    Example:
      pipeline unpin --profile mixed
    """
    from pipeline.core.lock import marks_lock
    from pipeline.core.paths import Tree
    from pipeline.release.marking import lift
    from pipeline.release.marks import read_marks
    from pipeline.release.published import check_folder, lines_with

    tree = Tree.here()
    dist = tree.dist(profile)
    check_folder(dist)
    with marks_lock(tree.state):
        lifted = lift(dist)
        marks = read_marks(dist)
    for one in lifted:
        say(_after_lifting(one, marks, profile))
    if not lifted:
        click.echo(f"no version of profile {profile!r} is set aside")
        for name in lines_with(tree.dists, lambda line: read_marks(line).aside):
            again = f"`.venv/bin/pipeline unpin -p {name}`"
            say(f"of profile {name!r} one is: {again}")


def _after_lifting(lifted: Mark, marks: Marks, profile: str) -> str:
    """Say what holds of a version whose rollback is lifted: a rejection of it stays."""
    refused = marks.same_as(lifted)
    if refused is None:
        return (
            f"{lifted.version} may come back: the next build of the same makes it current, if it "
            f"is not worse than the current one; `.venv/bin/pipeline rollback -p {profile} "
            f"--to {lifted.version}` does so now"
        )
    return (
        f"{lifted.version} is no longer rolled back, but rejected ({refused.reason}): "
        f"`.venv/bin/pipeline reject -p {profile} {refused.version} --undo` takes that back"
    )


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

    It never becomes current again, nor does a build with the same bytes or of the same sources,
    profile and lists, quick or not. Nothing installs it. Where it is current, the newest version
    that is whole and not rejected takes its place; without one, no version is current. The command
    does not wait for a build that runs.

    A build that was judged and not published can be refused, too, by the name that `pipeline
    history` has: a build with the same bytes is then never published.

    \b
    Examples:
      pipeline reject 0.1.0-3f2a --reason "redis uses 8 % more memory with it"
      pipeline reject 0.1.0-3f2a --undo          it was not the library's fault
    """
    from pipeline.core.errors import UsageError
    from pipeline.core.lock import marks_lock
    from pipeline.core.paths import Tree
    from pipeline.release.current import current
    from pipeline.release.marking import reject
    from pipeline.release.marks import mark_of_version, read_marks
    from pipeline.release.published import published

    tree = Tree.here()
    dist = tree.dist(profile)
    if undo:
        if reason:
            raise UsageError("--undo keeps no reason", hint="leave --reason out")
        _undo_rejection(tree, profile, wish)
        return
    if not reason.strip():
        raise UsageError("a rejection needs a reason", hint='say why: --reason "TEXT"')
    if _rejected_unpublished(tree, profile, wish, reason):
        return
    with marks_lock(tree.state):
        target, marks = _own(tree, profile, wish), read_marks(dist)
        _require_no_rejection(marks.rejection(target), target, profile)
        others = [one for one in published(dist) if one != target and not marks.rejection(one)]
        after, now = marks.with_rejection(mark_of_version(target, reason)), current(dist)
        twins = [one for one in others if after.rejection(one)]
        left = [one for one in others if one not in twins]
        # First of all it is current no more: if this is killed, the same command can go on.
        moved = _replace(dist, left) if now is not None and now in (target, *twins) else ""
        reject(target, reason)
    click.echo(f"{target.name} is rejected: {reason}")
    if twins:
        click.echo(f"that holds as well for what is the same: {', '.join(t.name for t in twins)}")
    back = f"`.venv/bin/pipeline reject -p {profile} {target.name} --undo`"
    say(f"{back} takes that back")
    if moved:
        click.echo(moved)
    _tell_installed(target)


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
    """Make the newest of ``others`` without damage current, or none; return what became of it."""
    from pipeline.release.current import point_current, point_nowhere
    from pipeline.release.marking import want_again
    from pipeline.release.marks import read_marks

    place = next((one for one in others if one.is_whole()), None)
    if place is None:
        point_nowhere(dist)
        return (
            f"no version is current now: {dist / 'current'} is gone. Programs that preload it say "
            "so when they start, and use libc's malloc: leave LD_PRELOAD out. `hakmem run` starts "
            "nothing without a library"
        )
    aside = read_marks(dist).rolled_back(place)
    want_again(place)
    point_current(place)
    lifted = ", which a rollback had set aside until now" if aside else ""
    return f"current is now {place.name}{lifted}"


def _undo_rejection(tree: Tree, profile: str, wish: str) -> None:
    """Take a rejection back; ``current`` stays where it is."""
    from pipeline.core.lock import marks_lock
    from pipeline.release.marking import accept, forget, rejected_and_gone
    from pipeline.release.mending import how_to_mend
    from pipeline.report.judged import what_became

    with marks_lock(tree.state):
        if gone := rejected_and_gone(tree.dist(profile), wish):
            forget(tree.dist(profile), gone)
            say(
                f"{gone.version} is no longer rejected ({gone.reason}). It "
                f"{what_became(tree, gone, profile)}: a build of the same may publish it"
            )
            return
        target = _own(tree, profile, wish)
        found = accept(target)
    if found is None:
        click.echo(f"{target.name} was not rejected")
        return
    click.echo(f"{target.name} is no longer rejected ({found.reason})")
    if damage := target.damage():
        say(f"it is damaged: {damage}; {how_to_mend(target)}")
    else:
        go = f"`.venv/bin/pipeline rollback -p {profile} --to {target.name}`"
        say(f"{go} makes it current")


def _own(tree: Tree, profile: str, wish: str) -> Version:
    """Return the published version that ``wish`` names; VersionError if it was judged alone."""
    from pipeline.core.errors import VersionError
    from pipeline.release.marking import rejected_and_gone
    from pipeline.release.wish import resolve_own
    from pipeline.report.judged import what_became

    try:
        return resolve_own(tree, profile, wish)
    except VersionError:
        gone = rejected_and_gone(tree.dist(profile), wish)
        if gone is not None:
            undo = f"`.venv/bin/pipeline reject -p {profile} {gone.version} --undo`"
            raise VersionError(
                f"{gone.version} was rejected ({gone.reason}), and "
                f"{what_became(tree, gone, profile)}",
                hint=f"{undo} takes that back: then a build of the same may publish it",
            ) from None
        from pipeline.report.kept import find_report, was_published

        judged = None if "/" in wish else find_report(tree, profile, wish)
        if judged is None:
            raise
        state = "was removed" if was_published(judged) else "is not published"
        raise VersionError(
            f"{judged.name} of profile {profile!r} {state}: only its report is there",
            hint="a build of the same may publish it: only then can it become current; "
            f"`.venv/bin/pipeline report {judged.name} -p {profile}` shows its verdict",
        ) from None


def _require_no_rejection(found: Mark | None, target: Version, profile: str) -> None:
    """Raise VersionError if a version is rejected already: its reason and date are kept."""
    from pipeline.report.judged import rejected_already

    if found is not None:
        raise rejected_already(found, target.name, profile)


def _tell_installed(version: Version) -> None:
    """Say where a version that is refused is still installed."""
    from pipeline.release.prune import where_installed

    for sentence in where_installed(version):
        say(sentence)


def _before(versions: list[Version], now: Version | None, profile: str) -> Version:
    """Return the version published before the current one, rejected ones left out."""
    from pipeline.core.errors import VersionError
    from pipeline.release.marks import read_marks

    marks = read_marks(versions[0].folder.parent)
    rejected = [one for one in versions if marks.rejection(one) is not None]
    older = versions[versions.index(now) + 1 :] if now in versions else versions
    good = [one for one in older if one not in rejected]
    if good:
        return good[0]
    if older:
        named = ", ".join(one.name for one in older)
        raise VersionError(
            f"there is no older version to go back to: all were rejected ({named})",
            hint=f"`.venv/bin/pipeline reject -p {profile} VERSION --undo` takes a rejection back",
        )
    newer = [one for one in versions if one != now]
    raise VersionError(
        f"{now.name} is the oldest version: there is none to go back to"
        if now is not None
        else "there is no older version to go back to",
        hint=f"`.venv/bin/pipeline rollback -p {profile} --to VERSION` takes a newer one of "
        f"those that `.venv/bin/pipeline list -p {profile}` shows"
        if any(one not in rejected for one in newer)
        else "each newer one is rejected, so you have gone back already. "
        f"`.venv/bin/pipeline reject -p {profile} {newer[0].name} --undo` takes that back"
        if newer
        else "leave LD_PRELOAD out: programs then have the malloc of libc",
    )
