"""The short verdict table for the end of a build."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline.report import text
from pipeline.report.model import ReportModel, SummaryRow

_STYLES = {
    "GO": "bold green",
    "NEUTRAL": "cyan",
    "NO-GO": "bold red",
    "INCONCLUSIVE": "yellow",
    "holds": "green",
    "broken": "bold red",
}


def render_terminal(model: ReportModel, console: Console) -> None:
    """Print the four rows of the summary, then the verdict of the whole in one sentence."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for heading in ("baseline", "tuned", "ratio"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for row in model.summary:
        table.add_row(*_cells(row))
    console.print(table)
    console.print(_sentence(model))


def _cells(row: SummaryRow) -> tuple[str | Text, ...]:
    name = f"{row.name}, {row.unit}" if row.unit else row.name
    verdict = str(row.verdict or "")
    return (
        name,
        text.number(row.baseline),
        text.number(row.tuned),
        text.ratio(row.ratio),
        Text(verdict, style=_STYLES.get(verdict, "")),
    )


def _sentence(model: ReportModel) -> Text:
    verdict = Text("published" if model.published else "not published")
    verdict.stylize("bold green" if model.published else "bold red")
    return Text.assemble(verdict, f": {model.reason}")
