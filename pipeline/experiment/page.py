"""docs/experiments.md: the index of the ledger by subject, made from the entries.

``python -m pipeline.experiment.page`` makes it anew; a test holds the page against the entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pipeline.core.files import replace_text
from pipeline.core.paths import Tree
from pipeline.experiment.entry import SUBJECTS, Entry, load_entries
from pipeline.experiment.write import TITLE

MARK = "<!-- Below: .venv/bin/python -m pipeline.experiment.page -->"
"""What people write stands above this line of the page, what is made below it."""

SAME = "the same"
"""Stands in place of what was tried, where another kind of processor says something of it, too."""
SAME_BUSY = f"{SAME}, on a busy machine"
"""The same where the machine was so busy that the row above it tells more."""


def page_of(tree: Tree) -> Path:
    """Return where the page is."""
    return tree.root / "docs" / "experiments.md"


def render(before: str, entries: list[Entry]) -> str:
    """Return the page with the head that it had ``before`` and the tables of these entries.

    A template that nobody has filled in says nothing, and is left out.
    """
    head, _, _ = before.partition(MARK)
    entries = [one for one in entries if one.content.title != TITLE]
    parts = [f"{head}{MARK}\n"]
    for subject, heading in SUBJECTS.items():
        rows = [row for one in entries if one.subject == subject for row in _rows(one)]
        if rows:
            parts.append("\n".join(_section(heading, rows)) + "\n")
    return "\n".join(parts)


def write_page(tree: Tree) -> None:
    """Make the tables of the page anew. A tree without the page stays without it."""
    path = page_of(tree)
    if path.exists():
        replace_text(path, render(path.read_text(encoding="utf-8"), load_entries(tree)))


def _section(heading: str, rows: list[str]) -> Iterator[str]:
    yield f"## {heading}"
    yield ""
    yield "| what was tried | processor | figures | verdict |"
    yield "| --- | --- | --- | --- |"
    yield from rows


def _rows(entry: Entry) -> Iterator[str]:
    """Yield the rows of each kind of processor: the figures of one say nothing of another."""
    link = f"[{_cell(entry.content.title)}](experiments/{entry.subject}/{entry.path.name})"
    if not entry.newest:
        yield f"| {link} | | | not run yet |"
    for number, one in enumerate(entry.newest):
        what = link if number == 0 else SAME_BUSY if one.busy else SAME
        yield f"| {what} | {one.kind} | {_cell(one.figures)} | {_cell(one.verdict)} |"


def _cell(words: str) -> str:
    return words.replace("|", r"\|")


if __name__ == "__main__":
    write_page(Tree.here())
