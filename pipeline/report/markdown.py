"""The Markdown report: fits a pull request, and says the verdict and why in its first sentence."""

from __future__ import annotations

from pipeline.report import view
from pipeline.report.model import ReportModel
from pipeline.report.templating import environment

TEMPLATE = "report.md.j2"


def render_markdown(model: ReportModel) -> str:
    """Return the report of ``model`` as GitHub-flavoured Markdown, regressions first."""
    return environment(html=False).get_template(TEMPLATE).render(**view.values(model))
