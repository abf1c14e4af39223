"""``pipeline layout``: the symbol lists against the published binary and the newest profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.options import line_option, profile_option
from pipeline.commands.versions import complete_version

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipeline.layout.check import Finding
    from pipeline.layout.subject import Subject

_subject = click.argument("version", required=False, shell_complete=complete_version)


@click.group("layout")
def layout_command() -> None:
    """Check, propose and show the order of code in the library."""


@layout_command.command("check", short_help="Hold lists and marks against a published library.")
@line_option
@_subject
@click.option("--verbose", "-v", is_flag=True, help="Also show what is fine.")
def check_command(profile: str, version: str | None, verbose: bool) -> int:
    """Hold layouts/ and the marks in the source against a published library.

    VERSION is a published version (a unique beginning will do), the path of its folder, or of a
    library; without it, the current one. Ends with 14 if the contract is broken.

    \b
    Examples:
      pipeline layout check
      pipeline layout check 0.1.0-3f2a
      pipeline layout check -v build/libhakmem.so
    """
    from pipeline.core.errors import ExitCode
    from pipeline.core.paths import Tree
    from pipeline.core.variant import split_line
    from pipeline.geometry.known_files import require_known_files
    from pipeline.layout.check import check_layout

    require_known_files(Tree.here(), split_line(profile)[0])
    subject = _open(profile, version)
    findings = check_layout(subject.text, subject.promise())
    click.echo(f"{subject.library}")
    _tell(findings, verbose)
    broken = sum(finding.broken for finding in findings)
    click.echo(f"the layout contract {_outcome(findings)}")
    return ExitCode.ARTIFACT if broken else ExitCode.OK


@layout_command.command("propose", short_help="Show, as a diff, the lists that a profile suggests.")
@profile_option
@_subject
@click.option(
    "--data", type=click.Path(exists=True, dir_okay=False), help="Another BOLT profile (fdata)."
)
@click.option("--write", is_flag=True, help="Change the lists; without it, only show how.")
@click.option(
    "--measure",
    is_flag=True,
    help="Try each change, and propose those alone that save I-cache misses: TIME.",
)
def propose_command(
    profile: str, version: str | None, data: str | None, write: bool, measure: bool
) -> None:
    """Show, as a diff, the lists that a profile suggests, with a reason for each line.

    The profile is that of VERSION (without it, of the current one) or --data.

    With --measure the version is linked again with each change, and the misses of the library are
    counted in short programs of the training, simulated as a whole. What saves none is shown, and
    not proposed. At most five groups are tried: the functions that run most by themselves, the rest
    together. What judges a build is not counted here.

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
    from pipeline.layout.propose import propose

    subject = _open(profile, version, Path(data) if data else None)
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
    for change in changes:
        click.echo(f"# {'+' if change.comes else '-'} {change.name}: {change.reason}")
    if measure:
        changes = worthy(subject, profile, version, changes)
    for file in ("hot.txt", "cold.txt"):
        _change_list(subject, file, changes, write)
    if not changes:
        click.echo("no change saves misses: the lists stay as they are")


@layout_command.command("show")
@line_option
@_subject
def show_command(profile: str, version: str | None) -> None:
    """Print where each function lies, how large and how hot it is.

    \b
    Examples:
      pipeline layout show
      pipeline layout show 0.1.0-3f2a | less -R
    """
    from rich.console import Console

    from pipeline.layout.show import show_map

    subject = _open(profile, version)
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    show_map(subject.text, subject.promise(), console)


def _open(profile: str, version: str | None, data: Path | None = None) -> Subject:
    from pipeline.core.paths import Tree
    from pipeline.layout.subject import open_subject

    return open_subject(Tree.here(), profile, version, data)


def _outcome(findings: Sequence[Finding]) -> str:
    """Return whether the contract holds, and what it says nothing about though it matters."""
    broken = sum(finding.broken for finding in findings)
    said = f"is broken in {broken} places" if broken else "holds"
    left = sum(finding.rule == "listed" for finding in findings)
    if not left:
        return said
    what = "1 function that ran often is" if left == 1 else f"{left} functions that ran often are"
    return f"{said}, but {what} not listed: `.venv/bin/pipeline layout propose` shows where to"


def _tell(findings: Sequence[Finding], verbose: bool) -> None:
    """Print one line per rule, and one per finding under it."""
    from pipeline.layout.check import RULES

    for rule, sentence in RULES.items():
        mine = [finding for finding in findings if finding.rule == rule]
        if mine or verbose:
            click.echo(f"{_mark(mine)} {_headline(sentence, mine)}")
        for finding in mine:
            mark = click.style("✗", fg="red") if finding.broken else "·"
            click.echo(f"    {mark} {finding.symbol}: {finding.text}")


def _headline(sentence: str, findings: Sequence[Finding]) -> str:
    """Return the sentence of a rule as the findings under it leave it."""
    if any(finding.broken for finding in findings):
        return f"not so: {sentence}"
    if any(finding.unknown for finding in findings):
        return f"not known: {sentence}"
    if not findings:
        return sentence
    return f"{sentence}, but for {'this' if len(findings) == 1 else f'these {len(findings)}'}"


def _mark(findings: Sequence[Finding]) -> str:
    """Return the mark of a rule: broken, unknown, or kept."""
    if any(finding.broken for finding in findings):
        return click.style("✗", fg="red")
    if any(finding.unknown for finding in findings):
        return click.style("?", fg="yellow")
    return click.style("✓", fg="green")


def _change_list(subject: Subject, file: str, changes: Sequence[object], write: bool) -> None:
    from pipeline.core.files import replacing
    from pipeline.layout.propose import Change, apply_changes, as_diff

    path = subject.lists_folder / file
    before = path.read_text(encoding="utf-8").splitlines()
    after = apply_changes(before, file, [c for c in changes if isinstance(c, Change)])
    if after == before:
        return
    name = path.relative_to(subject.tree.root)
    click.echo(as_diff(str(name), before, after), nl=False)
    if write:
        other = path.readlink() if path.is_symlink() else None
        with replacing(path) as fresh:
            fresh.write_text("\n".join(after) + "\n", encoding="utf-8")
        click.echo(f"written: {path}", err=True)
        if other:
            click.echo(f"{name} was a link to {other}, and is a list of its own now", err=True)
