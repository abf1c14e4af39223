"""The report for a terminal: the verdict in one sentence, short tables, what got worse, and why."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from rich.console import Console, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from pipeline.core.console import BuildConsole, is_brief
from pipeline.core.paste import in_lines, runnable
from pipeline.geometry.model import Difference
from pipeline.judge.headline import brief
from pipeline.judge.keys import shown
from pipeline.judge.model import VerifyResult
from pipeline.judge.outcome import memory_of, speed_of
from pipeline.judge.samples import WorkloadThroughput
from pipeline.report import text
from pipeline.report.columns import left_out
from pipeline.report.contents import contents
from pipeline.report.model import Finding, ReportModel, SummaryRow
from pipeline.report.opening import legend, untabled
from pipeline.report.rows import slowest_first
from pipeline.report.untold import untold
from pipeline.report.what_next import harmless, next_command, not_current

SAID, WORDS = ("is", "memory"), 13
"""The columns of words, and how wide they get where room is short: "0.5 to 1.6 %)" fits."""
UNWRAPPED = 500
"""Where the output is no terminal but a pipe or a log: nothing is wrapped."""

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
FINDINGS = {
    "regression": ("regression", "bold red"),
    "doubt": ("worth a look", "yellow"),
    "note": ("for information", "dim"),
}


def show_verdict(console: BuildConsole, model: ReportModel, *, why: bool = True) -> None:
    """Show the short table of a judgement among the messages of a run, or its headline alone.

    ``why`` is False where the next message says it.
    """
    console.say("")
    if is_brief():
        _show(console.rich, _brief(model))
    else:
        told_next = model.published and not model.stays
        render_terminal(model, console.rich, libc=not told_next, why=why)
    console.say("")


def render_terminal(
    model: ReportModel, console: Console, *, libc: bool = True, why: bool = True
) -> None:
    """Print the verdict in one sentence, then every workload, the summary, and why.

    ``libc`` says whether the command that compares with libc is to stand there, too.
    """
    wide = Console(file=console.file, width=UNWRAPPED, force_terminal=False)
    shown = console if console.is_terminal else wide
    show = partial(_show, shown)
    show(_brief(model))
    show(_effort(model.verify))
    show("")
    show(_workloads(slowest_first(model), model.verify, shown.width))
    if by_wall := _by_wall(slowest_first(model)):
        show(by_wall)
    show("")
    show(_summary(model))
    show("")
    for line in legend(model, libc=libc):
        show(line, style="dim")
    for finding in untold(model):
        show(_finding(finding))
    for said in _closing(model, why=why):
        show(said)


def _show(console: Console, what: RenderableType, style: str = "") -> None:
    """Print a sentence in lines that fit, its commands whole, or what lays itself out."""
    soft = not console.is_terminal
    if isinstance(what, str):
        what = runnable(what) if soft else in_lines(what, console.width)
        soft = True
    console.print(what, style=style, soft_wrap=soft, markup=False, highlight=False)


def _summary(model: ReportModel) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for heading in ("baseline", "tuned", "ratio"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for row in model.summary:
        table.add_row(*_cells(row))
    return table


def _closing(model: ReportModel, *, why: bool) -> Iterator[RenderableType]:
    """Yield what stands below the tables and findings: why, and what it was made for."""
    yield from filter(None, (harmless(model), model.verify.health.left_out))
    if why:
        about = " it was published" if model.published and model.decided else ""
        yield f"why{about}: {model.reason}"
    yield from filter(None, (untabled(model), contents(model), model.made_for))
    if model.geometry:
        yield _geometry(model.geometry)


def _finding(finding: Finding) -> Text:
    word, style = FINDINGS[finding.kind]
    return Text.assemble(f"{word}: ", Text(finding.what, style=style), f": {finding.detail}")


def _workloads(workloads: Sequence[WorkloadThroughput], verify: VerifyResult, room: int) -> Table:
    """Return a row for each workload, programs first: its rate, what is shown, and its memory.

    Where there is no room, as in 80 columns, it goes without the rate and without the ends of
    the interval in words. A name that is still too long goes on in the next line, broken behind
    a hyphen, and so does what is said of memory in more than a word.
    """
    programs = any(one.kind == "program" for one in workloads)
    headings: tuple[str, ...] = ("tuned", "speed", "interval", "is", "memory")
    rows = [_figures(one, verify) for one in workloads]
    longest = max(len(one.name) for one in workloads)
    widths = _widths(headings, rows)
    if longest + _taken(widths) > room:
        headings, rows = headings[1:], [_shorter(row) for row in rows]
        widths = _widths(headings, rows)
        widths |= {name: min(widths[name], WORDS) for name in SAID}
    beside = _taken(widths)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(
        "program, then loop or replay" if programs else "loop or replay", overflow="fold"
    )
    for heading in headings:
        side: JustifyMethod = "left" if heading in SAID else "right"
        table.add_column(heading, justify=side, width=widths[heading], no_wrap=heading not in SAID)
    for one, row in zip(workloads, rows, strict=True):
        table.add_row(text.hyphenated(one.name, room - beside), *row)
    return table


def _shorter(row: Sequence[str]) -> tuple[str, ...]:
    """Return a row without its rate, and with "faster" for "faster (by 0.5 to 1.6 %)"."""
    _, speed, interval, word, memory = row
    return speed, interval, word.partition(" (")[0], memory


def _widths(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, int]:
    return {column[0]: max(map(len, column)) for column in zip(headings, *rows, strict=True)}


def _taken(widths: Mapping[str, int]) -> int:
    """Return how many characters columns take, with the space before each."""
    return sum(2 + width for width in widths.values())


def _figures(one: WorkloadThroughput, verify: VerifyResult) -> tuple[str, ...]:
    ratio = shown(one, verify.throughput)
    return (
        text.pace(one.tuned_ops_per_sec, one.kind),
        text.change(ratio.value),
        text.ends(ratio),
        speed_of(one, verify),
        memory_of(one, verify) or text.UNKNOWN,
    )


def _by_wall(workloads: Sequence[WorkloadThroughput]) -> str:
    """Return the speed of each program by wall time, which is what its user waits."""
    programs = [(one.name, one.wall) for one in workloads if one.kind == "program"]
    told = [f"{name} {text.spread(wall)}" for name, wall in programs if wall is not None]
    return f"by wall time: {', '.join(told)}" if told else ""


def as_text(model: ReportModel) -> str:
    """Return the report with the version as heading and, if there is one, the version before."""
    head = f"{model.title}, {text.day(model.verify.created)}"
    console = _console()
    show = partial(_show, console)
    show(head)
    render_terminal(model, console, libc=not model.rejected)
    if stays := not_current(model):
        show(stays)
    if step := next_command(model):
        show(f"next: {step}")
    if model.geometry == ():
        show("geometry: as the default")
    if model.previous is None:
        show(f"not compared with an older version: {model.previous_reason}")
    else:
        judged = [row for row in model.previous.rows if row.judgement != "info"]
        said = ", ".join(f"{row.name} {text.judged(row.judgement)}" for row in judged)
        show(f"against {model.previous.version}: {said}")
    return _text(console)


def _geometry(rows: Sequence[Difference]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("geometry", "default", "this version"):
        table.add_column(heading)
    for row in rows:
        table.add_row(*map(Text, (row.what, row.before or "-", row.after or "-")))
    return table


def plain(*parts: RenderableType) -> str:
    """Return renderables as the terminal would show them; without colour if it is none."""
    console = _console()
    for part in parts:
        said = in_lines(part, console.width) if isinstance(part, str) else part
        console.print(said, soft_wrap=isinstance(part, str), markup=False, highlight=False)
    return _text(console)


def fitted(
    headings: Sequence[str], rows: Sequence[Sequence[str]], spared: Sequence[str], figures: int
) -> tuple[Table, list[str]]:
    """Return a table of the columns that there is room for, and the headings of the others.

    ``spared`` are those that a reader can do without, the first one first. From column ``figures``
    on there are figures. No cell is cut; a heading may have two lines.
    """
    lines = [max(heading.split("\n"), key=len) for heading in headings]
    widths = [max(map(len, column)) for column in zip(lines, *rows, strict=True)]
    out = left_out(headings, widths, spared, terminal_width())
    kept = [number for number, heading in enumerate(headings) if heading not in out]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number in kept:
        side: JustifyMethod = "right" if number >= figures else "left"
        table.add_column(headings[number], justify=side, no_wrap=True, min_width=widths[number])
    for row in rows:
        table.add_row(*(row[number] for number in kept))
    return table, out


def terminal_width() -> int:
    """Return how many characters a line of ``plain`` has; in a log COLUMNS, else 160."""
    return _console().width


def _console() -> Console:
    """Return a console that keeps its output, with the looks of the real one."""
    real = Console()
    return Console(
        file=io.StringIO(),
        width=real.width if real.is_terminal or "COLUMNS" in os.environ else 160,
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
        text.figure(row.baseline),
        text.figure(row.tuned),
        text.ratio(row.ratio, row.interval),
        Text(verdict, style=STYLES.get(verdict, "")),
    )


def _brief(model: ReportModel) -> Text:
    why = model.since or f"{model.published_for}{model.refused_for}"
    outcome = _coloured(f"{model.outcome}{why}", model)
    return Text.assemble(outcome, f": {brief(model.verify)}")


def _effort(result: VerifyResult) -> str:
    """Say how much was measured, and whether the judge was tried on a known difference."""
    checked = "" if result.self_check else "; the self-check was not done"
    return f"mode: {result.mode}{checked}"


def _coloured(word: str, model: ReportModel) -> Text:
    return Text(word, style="bold green" if model.passed and not model.since else "bold red")
