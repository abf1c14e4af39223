"""Comparisons that are kept: docs/results/compare-DATE-PROCESSOR.json, and a page made from it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

from bench.harness import report
from bench.harness.allocators import REPOSITORY
from bench.harness.results import Comparison

_PAGE = """\
# Allocators compared on {day}

**For people who choose an allocator, or changed this one.** Here you see what `bench/compare`
measured on one machine that day. [benchmarks.md](../benchmarks.md) explains rows and columns.
[Every sample]({samples}) lies beside this page.{ours}

{tables}"""

RESULTS = REPOSITORY / "docs" / "results"


def new_place(date: str, processor: str) -> Path:
    """Return where a comparison of that day goes; a further one of the same day has a number."""
    return next(path for path in _places(date, processor) if not path.exists())


def _places(date: str, processor: str) -> Iterator[Path]:
    name = f"compare-{date}-{processor}"
    yield RESULTS / f"{name}.json"
    yield from (RESULTS / f"{name}-{number}.json" for number in count(2))


def save(comparison: Comparison, path: Path) -> None:
    """Write the comparison as JSON and, beside it, as a page."""
    report.write_files(
        comparison,
        (path, report.as_json),
        (path.with_suffix(".md"), lambda found: as_page(found, path.name)),
    )


def as_page(comparison: Comparison, samples: str) -> str:
    """Return the page: for whom it is, the circumstances, then the tables."""
    _, _, tables = report.as_markdown(comparison).partition("\n\n")
    day = str(comparison.environment["date"])[:10]
    ours = ""
    if comparison.ours:
        ours = f" The ratios are about `{comparison.ours}`.\n{report.means(comparison)}"
    return _PAGE.format(day=day, ours=ours, samples=samples, tables=tables)
