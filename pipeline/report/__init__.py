"""Reports: one model of what was built and judged, and thin renderers of it."""

from pipeline.report.build import report_model
from pipeline.report.markdown import render_markdown
from pipeline.report.model import ReportModel
from pipeline.report.terminal import render_terminal

__all__ = ["ReportModel", "render_markdown", "render_terminal", "report_model"]
