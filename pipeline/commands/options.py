"""Options that several commands take, so that they read and complete the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from pipeline.commands.duration import Duration
from pipeline.core.variant import PRODUCTION, VARIANTS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Finite(click.FloatRange):
    """A number in a range; "nan" is none, though it lies beyond neither end."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number, or refuse it with the range."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
OUTPUT_FILE = click.Path(dir_okay=False, path_type=Path)


def complete_profile(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str | CompletionItem]:
    """Return profile names for shell completion."""
    from pipeline.core.paths import Tree
    from pipeline.profile.load import profile_names

    return [name for name in profile_names(Tree.here()) if name.startswith(incomplete)]


def _require_new(context: click.Context, parameter: click.Parameter, output: Path) -> Path:
    from pipeline.core.errors import UsageError

    if output.exists():
        raise UsageError(f"{output} exists already", hint="remove it, or choose another name")
    require_folder(context, parameter, output)
    return output


def require_folder(
    _context: click.Context, _parameter: click.Parameter, output: Path | None
) -> Path | None:
    """Refuse a file in a folder that is not there, before any work is done for it."""
    from pipeline.core.errors import UsageError

    if output is not None and not output.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {output.parent}", hint="make it, or write elsewhere")
    return output


def output_option(
    words: str, callback: Callable[..., Path | None] = require_folder, **settings: Any
) -> Callable[[Any], Any]:
    """Return the option ``--output`` for a file that may be there already: it is replaced."""
    return click.option(
        "--output",
        "-o",
        type=OUTPUT_FILE,
        metavar="FILE",
        callback=callback,
        help=words,
        **settings,
    )


class Word(click.Choice[str]):
    """One of many words; a misspelt one is told which word is close, and then all of them."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word; BadParameter, which names the words, if it is none of them."""
        from pipeline.core.spelling import did_you_mean

        if value not in self.choices:
            close = did_you_mean(str(value), self.choices)
            known = ", ".join(self.choices)
            said = f"there is no {value!r} among {known}{close and f': {close}'}"
            raise click.BadParameter(said, ctx, param)
        return str(value)


def new_file_option(words: str, **settings: Any) -> Callable[[Any], Any]:
    """Return the option ``--output`` for a file that is not there yet: none is ever replaced."""
    return output_option(words, _require_new, **settings)


def complete_file(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str | CompletionItem]:
    """Leave words that may be files to the shell's own completion."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def complete_scheduler(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str | CompletionItem]:
    """Return the words that stand in place of an address, and how one begins."""
    return [word for word in ("local", "none", "tcp://") if word.startswith(incomplete)]


def complete_processor(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str | CompletionItem]:
    """Return the names of the kinds of processors."""
    from pipeline.core.processor import ANY, NAMES

    return [name for name in (ANY, *NAMES) if name.startswith(incomplete)]


def _known_processor(
    _context: click.Context, _parameter: click.Parameter, name: str | None
) -> str | None:
    from pipeline.core.processor import require_known

    return None if name is None else require_known(name)


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
_profile = click.option(
    "--profile",
    "-p",
    default="mixed",
    show_default=True,
    metavar="NAME",
    is_eager=True,
    shell_complete=complete_profile,
    help="Profile: training/profiles/NAME.toml.",
)
_variant = click.option("--variant", expose_value=False, callback=_take_variant, **_VARIANT)


def profile_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--profile`` for one that knows nothing of variants."""
    return _profile(command)


def line_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--profile`` and ``--variant``; its ``profile`` is the name of a line.

    That is the profile's name for production, and ``PROFILE+VARIANT`` for what is beside it.
    """
    return _profile(_variant(command))


def any_profile_option(words: str) -> Callable[[Any], Any]:
    """Return the option ``--profile`` of a command that also means something without one."""
    return click.option(
        "--profile", "-p", metavar="NAME", shell_complete=complete_profile, help=words
    )


def budget_option(default: str, words: str) -> Callable[[Any], Any]:
    """Return the option ``--budget``: how long the judge may run pairs."""
    return click.option(
        "--budget",
        "budget_s",
        type=Duration(),
        default=default,
        show_default=True,
        metavar="TIME",
        help=words,
    )


alone_variant_option = click.option("--variant", default=PRODUCTION, show_default=True, **_VARIANT)


def _known_processor_or_all(
    context: click.Context, parameter: click.Parameter, name: str | None
) -> str | None:
    from pipeline.core.processor import ALL

    return name if name == ALL else _known_processor(context, parameter, name)


cpu_or_all_option = click.option(
    "--cpu",
    metavar="NAME",
    callback=_known_processor_or_all,
    shell_complete=complete_processor,
    help="Kind of processor that it is for, such as amd-zen3; `any` for all processors; `all` for "
    "both, side by side, and with --scheduler also for the kinds that its workers have. This "
    "machine's is the default.",
)
cpu_option = click.option(
    "--cpu",
    metavar="NAME",
    callback=_known_processor,
    shell_complete=complete_processor,
    help="Kind of processor that it is for, such as amd-zen3; `any` for all processors. "
    "This machine's is the default.",
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
scheduler_option = click.option(
    "--scheduler",
    metavar="ADDRESS",
    shell_complete=complete_scheduler,
    help="Who measures: the workers of a Dask scheduler, such as tcp://host:8786; `local`, one of "
    "our own with one worker, which is the default where Dask is installed; or `none`, this "
    "process, which is the default where it is not.",
)
