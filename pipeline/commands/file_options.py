"""Options and arguments that name files: what has to be there, and what must not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
OUTPUT_FILE = click.Path(dir_okay=False, path_type=Path)


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


def new_file_option(words: str, **settings: Any) -> Callable[[Any], Any]:
    """Return the option ``--output`` for a file that is not there yet: none is ever replaced."""
    return output_option(words, _require_new, **settings)


def complete_file(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str | CompletionItem]:
    """Leave words that may be files to the shell's own completion."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]
