"""Options that several commands take, so that they read and complete the same everywhere."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from pipeline.commands.duration import Duration

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


SCHEDULERS = ("local", "none")
"""What stands in place of the address of one."""


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


def complete_scheduler(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str | CompletionItem]:
    """Return the words that stand in place of an address, and how one begins."""
    return [word for word in (*SCHEDULERS, "tcp://") if word.startswith(incomplete)]


def _with_port(
    _context: click.Context, _parameter: click.Parameter, address: str | None
) -> str | None:
    """Return the address; Dask gives up one without a port only after a minute."""
    from pipeline.core.spelling import did_you_mean

    if address is None or address in SCHEDULERS or re.search(r":\d+/?$", address):
        return address
    close = did_you_mean(address, SCHEDULERS)
    said = f"{address!r} is no address such as tcp://host:8786, nor `local` or `none`"
    raise click.BadParameter(f"{said}{close and f': {close}'}")


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
    callback=_with_port,
    shell_complete=complete_scheduler,
    help="Who measures: the workers of a Dask scheduler, such as tcp://host:8786; `local`, one of "
    "our own with one worker, which is the default where Dask is installed; or `none`, this "
    "process, which is the default where it is not.",
)
