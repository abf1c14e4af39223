"""docs/statistics.md names every figure that the library tells, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/statistics.md").read_text("utf-8")
TABLES = {
    "allocator/report/figures.def": "HAK_FIGURE",
    "allocator/report/class_figures.def": "HAK_CLASS_FIGURE",
    "allocator/stats/events.def": "HAK_EVENT",
}


def names_in(table: str) -> list[str]:
    """Return the names that a table of figures defines."""
    text = (ROOT / table).read_text("utf-8")
    return re.findall(rf"^{TABLES[table]}\((\w+),", text, re.M)


def documented() -> set[str]:
    """Return the names in the first column of the page's tables of figures."""
    _, _, figures = PAGE.partition("## What each figure means\n")
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", figures, re.M)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_what_malloc_stats_prints_is_documented() -> None:
    code = (ROOT / "allocator/front/info.c").read_text("utf-8")
    printed = re.findall(r'\bprint\("(\w+)", u\.', code)
    section = PAGE.partition("| printed |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (.+?) \| .+ \| .+ \|$", section, re.M)
    assert len(printed) == 7
    assert sorted(printed) == sorted(re.findall(r"`(\w+)`", " ".join(rows)))


def test_every_label_of_a_build_is_documented() -> None:
    code = (ROOT / "allocator/report/build.c").read_text("utf-8")
    labels = ["version", "variant", *re.findall(r'put\(text, json, [^;]*?"(\w+)", \w+\)', code)]
    section = PAGE.partition("## Which build it is\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.M) == labels
    assert len(labels) == 5


@pytest.mark.parametrize("table", TABLES)
def test_every_figure_is_documented(table: str) -> None:
    assert len(names_in(table)) > 8
    assert set(names_in(table)) <= documented()


def test_no_other_figure_is_documented() -> None:
    assert documented() == {name for table in TABLES for name in names_in(table)}
