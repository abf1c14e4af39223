"""The report for a terminal: the short table, what got worse, and the verdict in one sentence."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from pipeline.core.console import BuildConsole
from pipeline.geometry.model import Difference
from pipeline.judge.headline import memory_of, speed_of
from pipeline.judge.model import VerifyResult
from pipeline.judge.samples import WorkloadThroughput
from pipeline.report import text
from pipeline.report.model import ReportModel, SummaryRow
from pipeline.report.view import opening, slowest_first

# Else readers divide the two columns, and wonder.
PAIRED = (
    "speed and RSS: medians of each side, and the median ratio of the pairs, which is what counts"
)
STYLES = {
    "GO": "bold green",
    "NEUTRAL": "cyan",
    "NO-GO": "bold red",
    "INCONCLUSIVE": "yellow",
    "holds": "green",
    "broken": "bold red",
    "better": "green",
    "worse": "bold red",
    "unclear": "yellow",
}


def show_verdict(console: BuildConsole, model: ReportModel) -> None:
    """Show the short table of a judgement among the messages of a run."""
    console.say("")
    render_terminal(model, console.rich)
    console.say("")


def render_terminal(model: ReportModel, console: Console) -> None:
    """Print every workload, the summary, regressions, and the verdict in one sentence."""
    console.print(_workloads(slowest_first(model), model.verify))
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for heading in ("baseline", "tuned", "ratio"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for row in model.summary:
        table.add_row(*_cells(row))
    console.print(table)
    console.print(PAIRED, style="dim")
    for finding in model.findings:  # what the keys say is in the sentence below
        if finding.kind == "regression" and finding.anchor != "keys":
            what = Text(finding.what, style="bold red")
            console.print(Text.assemble("regression: ", what, f": {finding.detail}"))
    console.print(_sentence(model))
    console.print(opening(model), highlight=False, markup=False)
    if model.made_for:
        console.print(model.made_for, markup=False, highlight=False)


def _workloads(workloads: Sequence[WorkloadThroughput], verify: VerifyResult) -> Table:
    """Return a row for each workload, programs first: its pace, what is shown, and its memory.

    In 80 columns only a long name goes on in the next line.
    """
    programs = any(one.kind == "program" for one in workloads)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("program, then loop" if programs else "loop", overflow="fold")
    for heading in ("a run, rate" if programs else "rate", "speed", "interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("is", no_wrap=True)
    table.add_column("memory", no_wrap=True)
    for one in workloads:
        table.add_row(
            one.name,
            text.pace(one.tuned_ops_per_sec, one.kind),
            text.change(one.ratio.value),
            text.ends(one.ratio),
            speed_of(one, verify),
            memory_of(one) or text.UNKNOWN,
        )
    return table


def as_text(model: ReportModel) -> str:
    """Return the same with the version as heading and, if there is one, the version before."""
    head = f"{model.title}, {text.day(model.verify.created)}"
    console = _console()
    console.print(head, markup=False, highlight=False)
    render_terminal(model, console)
    if model.geometry:
        console.print(_geometry(model.geometry))
    if model.previous is None:
        console.print(f"not compared with an older version: {model.previous_reason}")
    else:
        said = ", ".join(f"{row.name} {row.judgement}" for row in model.previous.rows)
        console.print(f"against {model.previous.version}: {said}")
    return _text(console)


def _geometry(rows: Sequence[Difference]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("geometry", "default", "this version", "worth, when it was chosen"):
        table.add_column(heading)
    for row in rows:
        table.add_row(*map(Text, (row.what, row.before or "-", row.after or "-", row.worth)))
    return table


def plain(*parts: RenderableType) -> str:
    """Return renderables as the terminal would show them; without colour if it is none."""
    console = _console()
    for part in parts:
        console.print(part, markup=False, highlight=False)
    return _text(console)


def _console() -> Console:
    """Return a console that keeps its output, with the looks of the real one."""
    real = Console()
    return Console(
        file=io.StringIO(),
        width=real.width if real.is_terminal else 160,
        force_terminal=real.is_terminal,
    )


def _text(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _cells(row: SummaryRow) -> tuple[str | Text, ...]:
    name = f"{row.name}, {row.unit}" if row.unit else row.name
    verdict = str(row.verdict or "")
    return (
        name,
        text.number(row.baseline),
        text.number(row.tuned),
        text.ratio(row.ratio),
        Text(verdict, style=STYLES.get(verdict, "")),
    )


def _sentence(model: ReportModel) -> Text:
    verdict = Text("published" if model.published else "not published")
    verdict.stylize("bold green" if model.published else "bold red")
    return Text.assemble(verdict, f": {model.reason}")
