"""``pipeline layout search``: other orders and flags, each counted; what is better is proposed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.commands.options import budget_option
from pipeline.commands.profile_options import line_option
from pipeline.commands.say import say
from pipeline.commands.versions import complete_version

if TYPE_CHECKING:
    from pipeline.layout.search import Found
    from pipeline.layout.subject import Subject
    from pipeline.release.version import Version


@click.command("search", short_help="Search an order and flags with fewer I-cache misses.")
@line_option
@click.argument("version", required=False, shell_complete=complete_version)
@budget_option("2m", "About how long to count layouts, once the code is compiled.")
@click.option("--write", is_flag=True, help="Write hot.txt if a better order is found.")
def search_command(profile: str, version: str | None, budget_s: float, write: bool) -> int:
    """Search an order of hot.txt, and flags of BOLT, with fewer misses.

    The code of VERSION (without it, of the current one) is compiled once. Then it is linked and
    laid out in orders that BOLT, linker and programs suggest, with other orders of blocks,
    splitting, alignment and inlining, and without BOLT. Each is counted in short programs of the
    training, simulated as a whole. What time is left goes to exchanges of neighbours in hot.txt.

    A better order is shown as a diff; flags are told as a proposal. What is chosen by the training
    is judged by others: the verify of the next build. Ctrl-C shows what was found so far, and the
    same command goes on: nothing is counted twice.

    \b
    Examples:
      pipeline layout search
      pipeline layout search -p server --budget 10m
      pipeline layout search | patch -p1
      pipeline layout search --budget 5m --write
    """
    from pipeline.commands.layout_worth import published_version
    from pipeline.core.exit_codes import ExitCode
    from pipeline.core.paths import Tree
    from pipeline.layout.subject import open_subject

    subject = open_subject(Tree.here(), profile, version)
    published = published_version(subject, profile, version, "`layout search`")
    hot = (subject.lists_folder / "hot.txt").read_text("utf-8").splitlines()
    found = _search(subject, profile, published, hot, budget_s)
    _tell(found, published, str(subject.lists_folder.relative_to(subject.tree.root) / "hot.txt"))
    _change(subject, hot, found, write)
    return ExitCode.INTERRUPTED if found.interrupted else ExitCode.OK


def _search(
    subject: Subject, profile: str, version: Version, hot: list[str], budget_s: float
) -> Found:
    from pipeline.commands.layout_worth import open_again
    from pipeline.stages.proof.search_layouts import search_layouts

    cold = (subject.lists_folder / "cold.txt").read_text("utf-8").splitlines()
    with open_again(subject, profile, version) as shop:
        return search_layouts(shop, version, hot, cold, budget_s)


def _tell(found: Found, version: Version, where: str) -> None:
    from pipeline.judge.l1i import machine_l1i, without_conflicts
    from pipeline.layout.search_show import exchanges, outcome, table
    from pipeline.release.mending import line_of_version

    cache = without_conflicts(machine_l1i()[0])
    programs = ", ".join(found.before.programs)
    say(f"# {version.name} in whole {programs}, simulated ({cache}), means:")
    lines = (*table(found), *exchanges(found), *outcome(found, line_of_version(version), where))
    for line in lines:
        say(f"# {line}")


def _change(subject: Subject, hot: list[str], found: Found, write: bool) -> None:
    from pipeline.commands.layout_lists import change_list
    from pipeline.layout.pins import rearranged

    order, cost = found.order
    if not found.better(cost):
        return
    if write and found.interrupted:
        say("nothing is written: the search was interrupted, and the same command goes on")
    change_list(subject, "hot.txt", hot, rearranged(hot, order), write and not found.interrupted)
