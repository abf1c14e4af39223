"""Options that several commands take, so that they read and complete the same everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def complete_profile(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str | CompletionItem]:
    """Return profile names for shell completion."""
    from pipeline.core.paths import Tree
    from pipeline.profile.load import profile_names

    return [name for name in profile_names(Tree.here()) if name.startswith(incomplete)]


profile_option = click.option(
    "--profile",
    "-p",
    default="mixed",
    show_default=True,
    metavar="NAME",
    shell_complete=complete_profile,
    help="Profile: training/profiles/NAME.toml.",
)
wait_option = click.option(
    "--wait/--no-wait",
    default=True,
    show_default=True,
    help="Wait for another run in this tree, or refuse.",
)
verbose_option = click.option(
    "--verbose", "-v", is_flag=True, help="Show child commands as lines to paste."
)
