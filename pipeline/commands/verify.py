"""``pipeline verify``: whether what is published is whole, safe, and what it says it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.line_meant import line_meant
from pipeline.commands.profile_options import version_option
from pipeline.commands.say import say
from pipeline.commands.versions import complete_version

if TYPE_CHECKING:
    from pipeline.release.elf_rules import Check


@click.command("verify")
@version_option
@click.argument("path", required=False, shell_complete=complete_version)
def verify_command(profile: str, path: str | None) -> int:
    """Check the files of a published version, or one library.

    These are checksums, manifest and ELF properties. PATH is a version's folder, a library file, or
    the name of a version (a unique beginning will do); without it, the current version. Ends with
    14 if something does not hold.

    \b
    Examples:
      pipeline verify
      pipeline verify dist/mixed/current
      pipeline verify /usr/local/lib/libhakmem.so
    """
    from pipeline.core.exit_codes import ExitCode

    place, checks, further = _checks(line_meant(profile, path), path)
    click.echo(place)
    for check in checks:
        mark = click.style("✓", fg="green") if check.holds else click.style("✗", fg="red")
        click.echo(f"{mark} {check.rule}{f': {check.found.strip()}' if check.found else ''}")
    failed = sum(not check.holds for check in checks)
    total = len(checks)
    click.echo(f"{failed} of {total} checks failed" if failed else f"all {total} checks passed")
    for line in further:
        say(line)
    return ExitCode.ARTIFACT if failed else ExitCode.OK


def _checks(profile: str, path: str | None) -> tuple[str, list[Check], list[str]]:
    """Return what was checked, how, and further lines: what people decided, and how to mend it."""
    from pathlib import Path

    from pipeline.core.errors import ArtifactError
    from pipeline.core.paths import Tree
    from pipeline.release.check_version import DIGESTS, check_library_file, check_version
    from pipeline.release.marks import read_marks
    from pipeline.release.mending import how_to_mend
    from pipeline.release.version import MANIFEST
    from pipeline.release.wish import resolve

    tree = Tree.here()
    if path and Path(path).is_file() and Path(path).name != MANIFEST:
        try:
            return path, check_library_file(tree, Path(path)), []
        except ArtifactError as error:
            error.hint = "name a libhakmem.so, or the folder of a version"
            raise
    version = resolve(tree, profile, path)
    decided = read_marks(version.folder.parent).said_of(version)
    further = [f"but: {decided}"] if decided else []
    checks = check_version(tree, version)
    if any(check.rule == DIGESTS and not check.holds for check in checks):
        further.append(f"what to do: {how_to_mend(version)}")
    return str(version.folder), checks, further
