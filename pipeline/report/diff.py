"""Two versions side by side, as text: for terminals, for pull requests, for programs."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from pipeline.report import text
from pipeline.report.compared_model import ComparedRow, Comparison
from pipeline.report.rows import changed_functions, undecided
from pipeline.report.templating import environment
from pipeline.report.terminal import STYLES, plain

TEMPLATE = "diff.md.j2"
MOST_NAME = 40
"""A longer name of a row may go on in the next line, where room is short."""
MOST_NAMES = 3
"""Of rows with one reason: so many are named."""


def render_diff(comparison: Comparison, newer: str, form: str) -> str:
    """Return the comparison as ``term``, ``md`` or ``json``."""
    if form == "json":
        return comparison.model_dump_json(indent=1) + "\n"
    if form == "term" and newer == comparison.version and not comparison.worse:
        return plain(f"{newer} is held against itself; `diff OLDER NEWER` takes two versions")
    if form == "term":
        return plain(_table(comparison), *_reasons(comparison), *_lines(comparison, newer))
    page = environment(html=False).get_template(TEMPLATE)
    return page.render(
        comparison=comparison,
        newer=newer,
        verdict=verdict(comparison),
        changed=changed_functions(comparison),
    )


def _reasons(comparison: Comparison) -> list[str]:
    """Return a line for each reason, with the rows that have it; a column had no room for it.

    The reason of the most rows comes last, and speaks of all others where it would name many.
    """
    named: dict[str, list[str]] = {}
    for row in (*comparison.rows, *comparison.workloads):
        named.setdefault(row.why, []).append(row.name)
    lines = [(", ".join(names), why) for why, names in sorted(named.items(), key=_by_rows)]
    if lines and "" not in named and len(named[lines[-1][1]]) > MOST_NAMES:
        lines[-1] = ("all others" if len(lines) > 1 else "all", lines[-1][1])
    return [f"{names}: {why}" for names, why in lines if why]


def _by_rows(reason: tuple[str, list[str]]) -> int:
    return len(reason[1])


def _table(comparison: Comparison) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    names = [_name(row) for row in (*comparison.rows, *comparison.workloads)]
    table.add_column("", overflow="fold", min_width=min(max(map(len, names)), MOST_NAME))
    for heading in ("then", "now", "change"):
        table.add_column(heading, justify="right")
    table.add_column("is")
    for row in (*comparison.rows, *comparison.workloads):
        table.add_row(
            _name(row),
            text.quantity(row.before, row.unit),
            text.quantity(row.after, row.unit),
            text.change(row.ratio),
            Text(text.judged(row.judgement), style=STYLES.get(row.judgement, "")),
        )
    return table


def _name(row: ComparedRow) -> str:
    return f"{row.name}, {row.unit}" if row.unit else row.name


def _lines(comparison: Comparison, newer: str) -> list[str]:
    count = len(changed_functions(comparison))
    return [
        *(f"note: {note}" for note in comparison.notes),
        f"{count} of {len(comparison.functions)} functions came, went or changed in size",
        f"{newer} against {comparison.version}: {verdict(comparison)}",
        *_measure(comparison),
    ]


def _measure(comparison: Comparison) -> list[str]:
    """Say how to find out what the records do not tell."""
    if not undecided(comparison):
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
    open_ = [row.name for row in undecided(comparison)]
    said = f"worse in {', '.join(worse)}" if worse else "no regression was shown"
    return f"{said}; not decided: {', '.join(open_)}" if open_ else said
