"""The templates of the reports: where they are, and how Jinja reads them."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pipeline.report import view
from pipeline.report.stacked import labelled

TEMPLATES = Path(__file__).parent / "templates"


def environment(*, html: bool) -> Environment:
    """Return the environment of HTML, which escapes its values, or of Markdown.

    Markdown is not escaped: every value is ours, or a program's name.
    """
    found = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        autoescape=html,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=not html,
    )
    found.filters.update(view.filters(), labelled=labelled)
    return found
