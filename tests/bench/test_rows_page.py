"""docs/benchmarks.md describes each row of bench/compare, and the program that it runs."""

from __future__ import annotations

import re
from pathlib import Path

from bench.harness.rows import GROUPS

PAGE = (Path(__file__).parents[2] / "docs/benchmarks.md").read_text("utf-8")
ROWS = [row for rows in GROUPS.values() for row in rows]


def described() -> set[str]:
    """Return the rows that the page names; `-64` stands for the name before it with that end."""
    found: list[str] = []
    for cell in re.findall(r"^\|([^|]+)\|", PAGE.split("### The rows")[1].split("###")[0], re.M):
        for name in re.findall(r"`([^`]+)`", cell):
            found.append(found[-1].rpartition("-")[0] + name if name.startswith("-") else name)
    return set(found)


def test_each_row_is_described_and_none_else() -> None:
    different = described() ^ {row.name for row in ROWS}
    assert not different, "name exactly the rows of rows.py in The rows of docs/benchmarks.md"


def test_each_program_of_a_row_is_described() -> None:
    missing = {row.program for row in ROWS if f"\n| `{row.program}` |" not in PAGE}
    assert not missing, "name it in The programs of docs/benchmarks.md"
