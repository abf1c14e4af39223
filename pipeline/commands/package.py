"""``pipeline package``: Debian packages of a published version."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.commands.line_meant import line_meant
from pipeline.commands.profile_options import only_line_option
from pipeline.commands.versions import complete_version


@click.command("package")
@only_line_option
@click.argument("version", required=False, shell_complete=complete_version)
@click.option(
    "--output",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("dist/packages"),
    show_default=True,
    help="The folder that the packages are written to.",
)
def package_command(profile: str, version: str | None, output: Path) -> None:
    """Make Debian packages of a published version.

    Nothing is compiled or fetched. The packages are libhakmem, libhakmem-dev, libhakmem-dbg and
    hakmem-tools. VERSION is a name (a unique beginning will do) or a folder; without it, the
    current version.

    \b
    Examples:
      pipeline package -o /tmp/packages                     # of mixed
      pipeline package --profile server -o /tmp/packages
      apt install /tmp/packages/libhakmem_*.deb /tmp/packages/hakmem-tools_*.deb
    """
    from pipeline.core.errors import UsageError
    from pipeline.core.paths import Tree
    from pipeline.core.variant import PRODUCTION
    from pipeline.release.debian import Source, build
    from pipeline.release.marks import require_accepted
    from pipeline.release.mending import line_of_version, require_undamaged
    from pipeline.release.wish import resolve

    tree = Tree.here()
    found = resolve(tree, line_meant(profile, version), version)
    require_accepted(found)
    require_undamaged(found)
    if found.variant != PRODUCTION:
        raise UsageError(
            f"{found.name} is {found.variant}, and packages are made of production",
            hint=f"`.venv/bin/pipeline install -p {line_of_version(found)} "
            f"--prefix /usr/local {found.name}` installs it",
        )
    for file in build(Source(tree.root, found), output):
        click.echo(file)
