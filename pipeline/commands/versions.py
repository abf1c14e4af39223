"""``pipeline list`` and ``pipeline rollback``: what is published, and going back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.build import complete_profile

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from pipeline.release.version import Version

profile_option = click.option(
    "--profile",
    "-p",
    default="mixed",
    show_default=True,
    metavar="NAME",
    shell_complete=complete_profile,
    help="Profile.",
)


def complete_version(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str | CompletionItem]:
    """Return the names of published versions for shell completion."""
    from pipeline.core.paths import Tree
    from pipeline.release.version import published

    profile = context.params.get("profile") or "mixed"
    names = [version.name for version in published(Tree.here().dist(profile))]
    return [name for name in names if name.startswith(incomplete)]


@click.command("list")
@profile_option
def list_command(profile: str) -> None:
    """List published versions, newest first; * is current.

    Ends with exit code 15 if nothing is published yet.
    """
    from pipeline.core.paths import Tree
    from pipeline.release.version import current, require_published

    dist = Tree.here().dist(_known(profile))
    versions, now = require_published(dist, profile), current(dist)
    for version in versions:
        mark = "*" if version == now else " "
        click.echo(f"{mark} {version.name}  {_describe(version)}")


@click.command("rollback")
@profile_option
@click.option(
    "--to",
    "wish",
    metavar="VERSION",
    shell_complete=complete_version,
    help="Go to this version, not the one before.",
)
def rollback_command(profile: str, wish: str | None) -> None:
    r"""Make an older published version current again.

    \b
    Examples:
      pipeline rollback                          the version before the current one
      pipeline rollback --to 0.1.0-3f2a          any version; a unique beginning will do
    """
    from pipeline.core.errors import ArtifactError
    from pipeline.core.lock import tree_lock
    from pipeline.core.paths import Tree
    from pipeline.release.version import current, point_current, require_published, resolve

    tree = Tree.here()
    dist = tree.dist(_known(profile))
    with tree_lock(tree.state, wait=True, say=click.echo):
        versions = require_published(dist, profile)
        target = resolve(tree, profile, wish) if wish else _before(versions, current(dist))
        damaged = target.damaged_files()
        if damaged:
            raise ArtifactError(f"{target.name} is damaged: {', '.join(damaged)}")
        point_current(target)
    click.echo(f"current is now {target.name}")


def _describe(version: Version) -> str:
    """Return when a version was published, what the judge said, and whether it is whole."""
    from pipeline.core.errors import ArtifactError

    try:
        verdict = version.manifest["verdict"]
        keys = f"throughput {verdict['throughput']}, I-cache {verdict['icache']}"
    except (ArtifactError, KeyError, TypeError):
        return "DAMAGED: its manifest cannot be read"
    state = "" if not version.damaged_files() else "  DAMAGED"
    return f"{version.created}  {keys}{state}"


def _known(profile: str) -> str:
    """Return the profile's name; ProfileError if there is neither a file nor a version of it."""
    from pipeline.core.paths import Tree
    from pipeline.profile.load import require_profile

    if not Tree.here().dist(profile).exists():
        require_profile(Tree.here(), profile)
    return profile


def _before(versions: list[Version], now: Version | None) -> Version:
    """Return the version published before the current one."""
    from pipeline.core.errors import VersionError

    older = versions[versions.index(now) + 1 :] if now in versions else versions
    if not older:
        raise VersionError(
            "there is no older version to go back to", hint="see `.venv/bin/pipeline list`"
        )
    return older[0]
