"""The Markdown report: fits a pull request, and says the verdict and why in its first sentence."""

from __future__ import annotations

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pipeline.report import view
from pipeline.report.html import TEMPLATES
from pipeline.report.model import ReportModel

TEMPLATE = "report.md.j2"


def render_markdown(model: ReportModel) -> str:
    """Return the report of ``model`` as GitHub-flavoured Markdown, regressions first."""
    # No escaping of HTML: the text is Markdown, and every value is ours or a program's name.
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(view.filters())
    return environment.get_template(TEMPLATE).render(**view.values(model))
