"""``pipeline release``: the version, the notes and the tag of a release of the sources."""

from __future__ import annotations

from datetime import UTC, datetime

import click


@click.command("release")
@click.argument("version")
@click.option("--dry-run", is_flag=True, help="Show the notes and change nothing.")
def release_command(version: str, dry_run: bool) -> None:
    """Release the sources of this tree as VERSION.

    VERSION is three numbers, such as 0.2.0. What stands under "Unreleased" in CHANGELOG.md becomes
    the notes. VERSION, CHANGELOG.md, pyproject.toml and the recipes of packaging/ are changed and
    committed, and the commit gets the annotated tag vVERSION. Nothing is pushed. Libraries are
    published by `pipeline build`.

    \b
    Examples:
      pipeline release 0.2.0 --dry-run
      pipeline release 0.2.0 && git push --follow-tags
    """
    from pipeline.core.paths import Tree
    from pipeline.release.source import carry_out_release, plan_release

    root = Tree.here().root
    release = plan_release(root, version)
    click.echo(release.notes)
    if dry_run:
        click.echo(f"\nThis would be {release.tag}. Nothing was changed.")
        return
    carry_out_release(root, release, f"{datetime.now(UTC):%Y-%m-%d}")
    click.echo(f"\nReleased as {release.tag}. `git push --follow-tags` publishes it.")
