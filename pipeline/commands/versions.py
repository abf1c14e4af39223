"""``pipeline list`` and ``pipeline rollback``: what is published, and going back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.build import complete_profile

if TYPE_CHECKING:
    from pathlib import Path

_profile = click.option(
    "--profile",
    "-p",
    default="mixed",
    show_default=True,
    metavar="NAME",
    shell_complete=complete_profile,
    help="Profile.",
)


@click.command("list")
@_profile
def list_command(profile: str) -> None:
    """List published versions, newest first; * is current."""
    from pipeline.stages.publish import damaged_files

    dist = _dist(profile)
    for created, folder, verdict in _versions(dist):
        mark = "*" if _current(dist) == folder.name else " "
        state = "" if not damaged_files(folder) else "  DAMAGED"
        click.echo(f"{mark} {folder.name}  {created}  {verdict}{state}")


@click.command("rollback")
@_profile
@click.option("--to", "version", metavar="VERSION", help="Go to this version, not the one before.")
def rollback_command(profile: str, version: str | None) -> None:
    """Make an older published version current again."""
    from pipeline.core.errors import ArtifactError, UsageError
    from pipeline.core.lock import tree_lock
    from pipeline.core.paths import Tree
    from pipeline.stages.publish import damaged_files, point_current

    dist = _dist(profile)
    with tree_lock(Tree.here().state, wait=True, say=click.echo):
        names = [folder.name for _, folder, _ in _versions(dist)]
        target = version or _before(names, _current(dist))
        if target not in names:
            raise UsageError(f"no published version {target}", hint="see `.venv/bin/pipeline list`")
        damaged = damaged_files(dist / target)
        if damaged:
            raise ArtifactError(f"{target} is damaged: {', '.join(damaged)}")
        point_current(dist / target)
    click.echo(f"current is now {target}")


def _dist(profile: str) -> Path:
    """Return the dist folder; UsageError if nothing has been published there."""
    from pipeline.core.errors import UsageError
    from pipeline.core.paths import Tree

    dist = Tree.here().dist(profile)
    if not _versions(dist):
        raise UsageError(
            f"nothing is published for profile {profile!r}",
            hint=f"`.venv/bin/pipeline build --profile {profile}`",
        )
    return dist


def _versions(dist: Path) -> list[tuple[str, Path, str]]:
    """Return (time, folder, verdict) of each version, newest first."""
    import json

    rows = []
    for path in dist.glob("*/manifest.json"):
        if path.parent.is_symlink():
            continue
        manifest = json.loads(path.read_text(encoding="utf-8"))
        verdict = manifest["verdict"]
        rows.append(
            (
                manifest["created"],
                path.parent,
                f"throughput {verdict['throughput']}, I-cache {verdict['icache']}",
            )
        )
    return sorted(rows, reverse=True)


def _current(dist: Path) -> str:
    link = dist / "current"
    return link.readlink().name if link.is_symlink() else ""


def _before(names: list[str], current: str) -> str:
    """Return the version published before the current one."""
    from pipeline.core.errors import UsageError

    older = names[names.index(current) + 1 :] if current in names else names
    if not older:
        raise UsageError(
            "there is no older version to go back to", hint="see `.venv/bin/pipeline list`"
        )
    return older[0]
