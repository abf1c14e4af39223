"""``pipeline prune``: old versions go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.profile_options import line_option
from pipeline.commands.say import say

if TYPE_CHECKING:
    from pipeline.release.prune import Pruning


@click.command("prune")
@line_option
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    required=True,
    metavar="N",
    help="How many of the newest versions stay.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be removed; wait for no build.")
def prune_command(profile: str, keep: int, dry_run: bool) -> None:
    """Remove old published versions, all but the N newest.

    It says how much space that frees. What `current` or another link points to, what a rollback has
    set aside, and what `pipeline install` has installed always stays. It waits for a build that
    runs; what was current before that stays, too. Rejected versions do not count as kept, and stay
    rejected. Reports below build/ stay, so that `pipeline history` still knows the versions.

    \b
    Examples:
      pipeline prune --keep 5 --dry-run
      pipeline prune -p mixed --keep 5
    """
    from pipeline.core.lock import marks_lock, tree_lock
    from pipeline.core.paths import Tree
    from pipeline.release.current import current
    from pipeline.release.prune import carry_out, clear_leftovers, plan_pruning
    from pipeline.release.published import require_published

    tree = Tree.here()
    dist = tree.dist(profile)
    require_published(dist, profile)
    now = current(dist)
    was_current = now.name if now else None
    if dry_run:
        plan = plan_pruning(dist, keep, was_current)
        _tell(plan, "would remove", "would be")
        _tell_size(plan.size, plan, "would free")
        return
    with tree_lock(tree.state, wait=True, say=click.echo), marks_lock(tree.state):
        plan = plan_pruning(dist, keep, was_current)
        _tell(plan, "removes", "is")
        size = plan.size
        clear_leftovers(dist)
        carry_out(plan)
    _tell_size(size, plan, "freed")


def _tell(plan: Pruning, removes: str, is_: str) -> None:
    for version, why in plan.stay:
        say(f"keeps {version.name}: {why}")
    for version, why in plan.go:
        say(f"{removes} {version.name}: {why}")
    if plan.last_way_back:
        say(
            f"then no older version {is_} left that `pipeline rollback` can go back to; "
            "a larger --keep leaves one"
        )


def _tell_size(size: int, plan: Pruning, verb: str) -> None:
    from pipeline.report.text import kib, many

    click.echo(f"{verb} {kib(size)} ({size:,} bytes): {many(len(plan.go), 'version')}")
