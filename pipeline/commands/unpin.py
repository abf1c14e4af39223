"""``pipeline unpin``: what was rolled back may come again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.profile_options import line_option
from pipeline.commands.say import say

if TYPE_CHECKING:
    from pipeline.release.marks import Mark, Marks


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
