"""``pipeline layout``: the symbol lists against the published binary and the newest profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.layout_propose import propose_command
from pipeline.commands.layout_search import search_command
from pipeline.commands.line_meant import line_meant
from pipeline.commands.profile_options import version_option
from pipeline.commands.say import say
from pipeline.commands.versions import complete_version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.layout.check import Finding
    from pipeline.layout.subject import Subject

CHECKED = ("allocator", "layouts")
OTHER_CODE = (
    "note: this library was built at commit {}, and allocator/ or layouts/ have changed since: "
    "`.venv/bin/pipeline build --profile {}` first builds what is here now"
)

_subject = click.argument("version", required=False, shell_complete=complete_version)


@click.group("layout")
def layout_command() -> None:
    """Check, propose and show the order of code in the library."""


layout_command.add_command(propose_command)
layout_command.add_command(search_command)


@layout_command.command("check", short_help="Hold lists and marks against a published library.")
@version_option
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
    from pipeline.core.exit_codes import ExitCode
    from pipeline.core.paths import Tree
    from pipeline.core.variant import split_line
    from pipeline.geometry.known_files import require_known_files
    from pipeline.layout.check import check_layout
    from pipeline.release.commit import differs_since

    profile = line_meant(profile, version)
    require_known_files(Tree.here(), split_line(profile)[0])
    subject = _open(profile, version)
    findings = check_layout(subject.text, subject.promise())
    click.echo(f"{subject.library}")
    if subject.built_at and differs_since(subject.tree.root, subject.built_at, CHECKED):
        say(OTHER_CODE.format(subject.built_at, split_line(profile)[0]))
    _tell(findings, verbose)
    broken = sum(finding.broken for finding in findings)
    say(f"the layout contract {_outcome(findings, profile)}")
    return ExitCode.ARTIFACT if broken else ExitCode.OK


@layout_command.command("show")
@version_option
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

    subject = _open(line_meant(profile, version), version)
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    show_map(subject.text, subject.promise(), console)


def _open(profile: str, version: str | None) -> Subject:
    from pipeline.core.paths import Tree
    from pipeline.layout.subject import open_subject

    return open_subject(Tree.here(), profile, version)


def _outcome(findings: Sequence[Finding], profile: str) -> str:
    """Return whether the contract holds, and what it says nothing about though it matters."""
    from pipeline.report.text import many

    broken = sum(finding.broken for finding in findings)
    said = f"is broken in {many(broken, 'place')}" if broken else "holds"
    left = sum(finding.rule == "listed" for finding in findings)
    if not left:
        return said
    what = "1 function that ran often is" if left == 1 else f"{left} functions that ran often are"
    propose = f"`.venv/bin/pipeline layout propose -p {profile} --measure`"
    return f"{said}. {what} not in hot.txt: {propose} says whether listing saves misses"


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
    from pipeline.report.text import many

    if any(finding.broken for finding in findings):
        return f"not so: {sentence}"
    if any(finding.unknown for finding in findings):
        return f"not known: {sentence}"
    if not findings:
        return sentence
    return f"{sentence}, with {many(len(findings), 'exception')}"


def _mark(findings: Sequence[Finding]) -> str:
    """Return the mark of a rule: broken, unknown, or kept."""
    if any(finding.broken for finding in findings):
        return click.style("✗", fg="red")
    if any(finding.unknown for finding in findings):
        return click.style("?", fg="yellow")
    return click.style("✓", fg="green")
