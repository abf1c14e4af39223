"""Options that several commands of this folder have, each written once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from bench.harness.arguments import OUTPUT, positive

Option = Callable[[Callable[..., Any]], Callable[..., Any]]

timeout = click.option(
    "--timeout", default=120.0, show_default=True, callback=positive, help="Seconds for one run."
)
programs = click.option(
    "--programs",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where bench/ is built. [newest in build/]",
)


def repetitions(usual: int) -> Option:
    """Return the option that says how often each thing is run."""
    return click.option(
        *("-n", "--repetitions"),
        default=usual,
        show_default=True,
        type=click.IntRange(1),
        metavar="N",
        help="How often each row is measured.",
    )


def scale(what: str) -> Option:
    """Return the option that makes each run longer or shorter."""
    return click.option(
        "--scale", default=1.0, show_default=True, callback=positive, help=f"Factor on {what}."
    )


def by(processor_time: str) -> Option:
    """Return the option that says which time is compared."""
    return click.option(
        "--by",
        type=click.Choice(["wall", "cpu"]),
        default="wall",
        show_default=True,
        help=f"Ratios of wall time, or of {processor_time}.",
    )


def samples(what: str) -> Option:
    """Return the option that writes what was measured."""
    return click.option("--json", "json_file", type=OUTPUT, help=f"Write {what}.")


def tables(what: str = "the tables") -> Option:
    """Return the option that writes what is shown."""
    return click.option("--markdown", "markdown_file", type=OUTPUT, help=f"Write {what}.")
