"""``pipeline list`` and ``pipeline rollback``: what is published, and going back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.options import profile_option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from pipeline.release.version import Version


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

    With date, verdicts of the two keys, how much was measured, and size of the library and of
    everything. Ends with exit code 15 if nothing is published yet.
    """
    from pipeline.core.paths import Tree
    from pipeline.release.version import current, require_published

    dist = Tree.here().dist(_known(profile))
    versions, now = require_published(dist, profile), current(dist)
    rows: list[tuple[str, ...]] = [
        ("", "version", "published", "throughput", "I-cache", "mode", "library", "all", "")
    ]
    rows += [("*" if one == now else "", one.name, *_describe(one)) for one in versions]
    for row in rows:
        widths = (max(map(len, column)) for column in zip(*rows, strict=True))
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


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
    """Make an older published version current again.

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


def _describe(version: Version) -> tuple[str, ...]:
    """Return the cells of a version's row; what its manifest does not tell is "unknown"."""
    from pipeline.core.errors import ArtifactError
    from pipeline.report.text import day, kib

    sizes = [kib(version.library.stat().st_size)] if version.library.is_file() else ["gone"]
    sizes.append(kib(sum(p.stat().st_size for p in version.folder.rglob("*") if p.is_file())))
    try:
        verdict = version.manifest["verdict"]
        keys = [str(verdict[key]) for key in ("throughput", "icache")]
    except (ArtifactError, KeyError, TypeError):
        return ("unknown",) * 4 + (*sizes, "DAMAGED: its manifest cannot be read")
    mode = str(verdict.get("mode", "unknown"))
    state = "DAMAGED" if version.damaged_files() else ""
    return (day(version.created), *keys, mode, *sizes, state)


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
