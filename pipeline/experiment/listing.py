"""The ledger as ``pipeline experiment list`` shows it: rows for programs, lines for people."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from pipeline.experiment.entry import Entry

_INDENT = 19


def as_row(entry: Entry) -> dict[str, Any]:
    """Return an entry for programs; ``results`` has the newest of each kind of processor."""
    last = next(iter(entry.newest), None)
    return {
        "subject": entry.subject,
        "name": entry.name,
        "kind": entry.kind,
        "title": entry.content.title,
        "verdict": last.verdict if last else "",
        "date": last.date if last else "",
        "processor": last.processor if last else "",
        "results": [{"kind": one.kind, **one.model_dump()} for one in entry.newest],
    }


def lines(rows: Sequence[dict[str, Any]], width: int) -> Iterator[str]:
    """Return the rows as lines of at most ``width`` columns."""
    indent = " " * _INDENT
    for row in rows:
        yield _filled(f"{row['subject']:11} {row['kind']:6} {row['name']}: {row['title']}", width)
        for said in _said(row):
            yield _filled(f"{indent}{said}", width)


def _said(row: dict[str, Any]) -> Iterator[str]:
    """Return what came of an entry: a verdict for each kind of processor, and what ran."""
    if not row["results"]:
        yield "not run yet"
    for one in row["results"]:
        where = one.get("processor") or "processor not noted"
        yield f"{one['date']}, {where}: {one.get('verdict', '')}"
        if one.get("ran"):
            yield f"ran {one['ran']}"


def _filled(line: str, width: int) -> str:
    return textwrap.fill(
        line,
        max(width, 2 * _INDENT),
        subsequent_indent=" " * (_INDENT + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )
