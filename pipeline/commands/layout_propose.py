"""``pipeline layout propose``: the symbol lists that a profile suggests, as a patch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.profile_options import profile_option
from pipeline.commands.versions import complete_version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.layout.propose import Change
    from pipeline.layout.subject import Subject


@click.command("propose", short_help="Show, as a diff, the lists that a profile suggests.")
@profile_option
@click.argument("version", required=False, shell_complete=complete_version)
@click.option(
    "--data", type=click.Path(exists=True, dir_okay=False), help="Another BOLT profile (fdata)."
)
@click.option("--write", is_flag=True, help="Change the lists; without it, only show how.")
@click.option(
    "--measure",
    is_flag=True,
    help="Try each change, propose those that save I-cache misses: 40 s of processor time.",
)
def propose_command(
    profile: str, version: str | None, data: str | None, write: bool, measure: bool
) -> None:
    """Show, as a diff, the lists that a profile suggests, with a reason for each line.

    The profile is that of VERSION (without it, of the current one) or --data.

    With --measure the version is linked again with each change, and the misses of the library are
    counted in short programs of the training, simulated as a whole. What saves none is shown, and
    neither proposed nor written. What never ran leaves where that costs no miss. At most five
    groups are tried: the functions that run most by themselves, the rest together, and what never
    ran. It takes some 40 s of processor time, as many runs at once as there are CPUs: two minutes
    on two of them at a load of 9. Ctrl-C leaves nothing behind.

    \b
    Examples:
      pipeline layout propose
      pipeline layout propose | patch -p1
      pipeline layout propose --write
      pipeline layout propose --measure --write
    """
    from pathlib import Path

    from pipeline.commands.layout_worth import worthy
    from pipeline.core.errors import DataError
    from pipeline.core.paths import Tree
    from pipeline.layout.propose import propose
    from pipeline.layout.subject import open_subject

    subject = open_subject(Tree.here(), profile, version, Path(data) if data else None)
    if subject.fdata is None and subject.profdata is None:
        raise DataError(
            f"no profile lies beside {subject.library}",
            hint="build again, which publishes one, or name a file with --data",
        )
    changes, notes = propose(subject.text, subject.promise(), subject.callers)
    for note in notes:
        click.echo(f"# note: {note}")
    if not changes:
        click.echo("the lists are as the profile suggests")
        return
    if measure:
        changes = worthy(subject, profile, version, changes)
    else:
        _tell(changes)
    for file in ("hot.txt", "cold.txt"):
        _change_list(subject, file, changes, write)
    if not changes:
        click.echo("no change saves misses: the lists stay as they are")


def _tell(changes: Sequence[Change]) -> None:
    for change in changes:
        click.echo(f"# {'+' if change.comes else '-'} {change.name}: {change.reason}")


def _change_list(subject: Subject, file: str, changes: Sequence[Change], write: bool) -> None:
    from pipeline.commands.layout_lists import change_list
    from pipeline.layout.propose import apply_changes

    before = (subject.lists_folder / file).read_text(encoding="utf-8").splitlines()
    change_list(subject, file, before, apply_changes(before, file, changes), write)
