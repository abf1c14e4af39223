"""Two versions side by side, as text: for terminals, for pull requests, for programs."""

from __future__ import annotations

from collections import Counter

from rich.table import Table
from rich.text import Text

from pipeline.report import text, view
from pipeline.report.compared_model import ComparedRow, Comparison
from pipeline.report.templating import environment
from pipeline.report.terminal import STYLES, plain

TEMPLATE = "diff.md.j2"
MOST_NAME = 40
"""A longer name of a row may go on in the next line, where room is short."""


def render_diff(comparison: Comparison, newer: str, form: str) -> str:
    """Return the comparison as ``term``, ``md`` or ``json``."""
    if form == "json":
        return comparison.model_dump_json(indent=1) + "\n"
    if form == "term" and newer == comparison.version and not comparison.worse:
        return plain(f"{newer} is held against itself; `diff OLDER NEWER` takes two versions")
    if form == "term":
        usual = _usual(comparison)
        by = [f"where the column `by` is empty: {usual}"] if usual else []
        return plain(_table(comparison, usual), *by, *_lines(comparison, newer))
    page = environment(html=False).get_template(TEMPLATE)
    return page.render(
        comparison=comparison,
        newer=newer,
        verdict=verdict(comparison),
        changed=view.changed_functions(comparison),
    )


def _usual(comparison: Comparison) -> str:
    """Return the reason that most rows have; "" where it would not widen the table."""
    reasons = Counter(row.why for row in (*comparison.rows, *comparison.workloads))
    reason, rows = max(reasons.items(), key=lambda one: one[1], default=("", 0))
    others = max((len(other) for other in reasons if other != reason), default=0)
    return reason if rows > 1 and len(reason) > others else ""


def _table(comparison: Comparison, usual: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    names = [_name(row) for row in (*comparison.rows, *comparison.workloads)]
    table.add_column("", overflow="fold", min_width=min(max(map(len, names)), MOST_NAME))
    for heading in ("then", "now", "change"):
        table.add_column(heading, justify="right")
    table.add_column("is")
    table.add_column("by")
    for row in (*comparison.rows, *comparison.workloads):
        table.add_row(
            _name(row),
            text.quantity(row.before, row.unit),
            text.quantity(row.after, row.unit),
            text.change(row.ratio),
            Text(text.judged(row.judgement), style=STYLES.get(row.judgement, "")),
            row.why if row.why != usual else "",
        )
    return table


def _name(row: ComparedRow) -> str:
    return f"{row.name}, {row.unit}" if row.unit else row.name


def _lines(comparison: Comparison, newer: str) -> list[str]:
    count = len(view.changed_functions(comparison))
    return [
        *(f"note: {note}" for note in comparison.notes),
        f"{count} of {len(comparison.functions)} functions came, went or changed in size",
        f"{newer} against {comparison.version}: {verdict(comparison)}",
        *_measure(comparison),
    ]


def _measure(comparison: Comparison) -> list[str]:
    """Say how to find out what the records do not tell."""
    if not view.undecided(comparison):
        return []
    if comparison.measured:
        return [
            "the noise of the machine left that open: `--measure` decides more on a quiet machine, "
            "and without --quick"
        ]
    return ["the same command with `--measure` judges them directly, in some minutes of runs"]


def verdict(comparison: Comparison) -> str:
    """Return in a few words whether the newer version is worse, and what nobody knows."""
    worse = [row.name for row in comparison.worse]
    open_ = [row.name for row in view.undecided(comparison)]
    said = f"worse in {', '.join(worse)}" if worse else "no regression was shown"
    return f"{said}; not decided: {', '.join(open_)}" if open_ else said
