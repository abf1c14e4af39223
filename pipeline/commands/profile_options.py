"""Options that say which profile, and which variant of its library."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from pipeline.core.variant import PRODUCTION, VARIANTS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def complete_profile(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str | CompletionItem]:
    """Return profile names for shell completion."""
    from pipeline.core.paths import Tree
    from pipeline.profile.load import profile_names

    return [name for name in profile_names(Tree.here()) if name.startswith(incomplete)]


def _take_variant(context: click.Context, _parameter: click.Parameter, variant: str | None) -> None:
    """Make the profile that the command gets the name of a line of versions."""
    from pipeline.core.errors import UsageError
    from pipeline.core.variant import line_of, split_line

    profile, named = split_line(context.params["profile"])
    if named not in VARIANTS:
        raise UsageError(
            f"there is no variant {named!r}", hint=f"give one of: {', '.join(VARIANTS)}"
        )
    line = line_of(profile, variant or named)
    chosen = context.get_parameter_source("profile") is not ParameterSource.DEFAULT
    context.params["profile"] = known_line(line) if chosen else line


def known_line(line: str) -> str:
    """Return the name of a line of versions; ProfileError if nothing here has that name.

    What is published or was judged counts, also after its profile's file has gone.
    """
    from pipeline.core.paths import Tree
    from pipeline.core.variant import split_line

    tree = Tree.here()
    published, judged = tree.dists.glob("*"), tree.state.glob("*/reports")
    if line not in {*(one.name for one in published), *(one.parent.name for one in judged)}:
        from pipeline.profile.load import require_profile

        require_profile(tree, split_line(line)[0])
    return line


_VARIANT: dict[str, Any] = {
    "type": click.Choice(VARIANTS),
    "help": "Which build: production, or hardened beside it (docs/hardening.md).",
}

_Command = Callable[..., Any]
_ONLY_ONE = "mixed, or the only one with a version"


def _profile(default: bool | str = True) -> Callable[[_Command], _Command]:
    """Return the option ``--profile``; ``default`` is how the help tells it, if not as `mixed`."""
    return click.option(
        "--profile",
        "-p",
        default="mixed",
        show_default=default,
        metavar="NAME",
        is_eager=True,
        shell_complete=complete_profile,
        help="Profile: training/profiles/NAME.toml.",
    )


_variant = click.option("--variant", expose_value=False, callback=_take_variant, **_VARIANT)


def profile_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--profile`` for one that knows nothing of variants."""
    return _profile()(command)


def line_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--profile`` and ``--variant``; its ``profile`` is the name of a line.

    That is the profile's name for production, and ``PROFILE+VARIANT`` for what is beside it.
    """
    return _profile()(_variant(command))


def version_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the same, where `line_meant` looks for the only line that fits."""
    return _profile(_ONLY_ONE)(_variant(command))


def only_line_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--profile`` without ``--variant``, where `line_meant` looks for the line."""
    return _profile(_ONLY_ONE)(command)


def any_profile_option(words: str) -> Callable[[Any], Any]:
    """Return the option ``--profile`` of a command that also means something without one."""
    return click.option(
        "--profile", "-p", metavar="NAME", shell_complete=complete_profile, help=words
    )


alone_variant_option = click.option("--variant", default=PRODUCTION, show_default=True, **_VARIANT)
