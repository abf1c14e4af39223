"""The newest whole comparison of each kind of processor, as two tables of allocators.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from bench.harness import kept, saved
from bench.harness.report import markdown_table
from bench.harness.results import Comparison
from bench.harness.rows import GROUPS, select
from bench.harness.tables.marks import between

PAGE = "allocators.md"
_MARK = "<!-- bench/compare --save -->\n"
_BY = """\
`bench/result --pages` makes these tables of the newest whole comparison of each processor."""

Mean = Callable[[Comparison, str], float | None]


def update() -> str:
    """Return the page with its tables made anew. Raises UsageError without marks."""
    newest = dict(_newest())
    parts = [
        _BY,
        _table("time", newest, Comparison.time_mean),
        _table("peak memory", newest, Comparison.rss_mean),
        _rows_apart(newest),
    ]
    return between(PAGE, _MARK, "\n\n".join(parts))


def is_whole(found: Comparison) -> bool:
    """Return whether a comparison has rows enough for the tables: a few say too little."""
    return len(found.results) > _all_rows() / 2


def how_to_add(found: Comparison) -> str:
    """Return how a comparison that was saved gets into the tables, or why it does not."""
    if is_whole(found):
        return f"`bench/result --pages` adds it to docs/results/{PAGE}"
    return (
        f"it stays out of docs/results/{PAGE}, whose tables are of whole comparisons: this one has "
        f"{len(found.results)} of {_all_rows()} rows"
    )


def _all_rows() -> int:
    return len(select(list(GROUPS), [], []))


def _newest() -> Iterator[tuple[Path, Comparison]]:
    """Yield one whole comparison of each kind of processor."""
    by_kind: dict[str, tuple[Path, Comparison]] = {}
    for file in sorted(saved.RESULTS.glob("compare-*.json")):
        found = kept.read(file)
        if is_whole(found):
            by_kind[str(found.environment["processor"])] = (file, found)
    yield from sorted(by_kind.values(), key=lambda one: _kind(one[0]))


def _kind(file: Path) -> str:
    """Return the kind of processor of compare-YYYY-MM-DD-KIND.json."""
    return file.stem.split("-", 4)[4]


def _table(what: str, newest: dict[Path, Comparison], mean: Mean) -> str:
    names = next(iter(newest.values())).allocators
    rows = [
        [
            f"[{_kind(file)}]({file.stem}.md)",
            file.stem[8:18],
            *(_cell(mean(found, n)) for n in names),
        ]
        for file, found in newest.items()
    ]
    return "\n".join(markdown_table([[what, "date", *names], *rows]))


def _rows_apart(newest: dict[Path, Comparison]) -> str:
    """Count the rows whose whole interval lies on one side of the best peer."""
    rows = [["processor", "timed rows", "faster", "slower"]]
    for file, found in newest.items():
        ends = [found.time_interval(result) for result in found.results if result.timed]
        faster = sum(1 for one in ends if one and one[1] < 1)
        slower = sum(1 for one in ends if one and one[0] > 1)
        rows.append([_kind(file), *map(str, (len(ends), faster, slower))])
    return "\n".join(markdown_table(rows))


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
