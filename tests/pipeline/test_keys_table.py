"""docs/pipeline.md, "What is made again": the table is what the keys of a build say."""

from __future__ import annotations

import re
from pathlib import Path

from conftest import Sandbox

from pipeline.core.receipt import read_receipt
from pipeline.stages import NAMES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "pipeline.md"


def table() -> dict[str, str]:
    """Return the stages that the page names for each part of a key, as they stand there."""
    text = PAGE.read_text(encoding="utf-8").split("### What is made again")[1].split("###")[0]
    rows = re.findall(r"^\| .* \| `(\w+)` \| (.*) \|$", text, re.M)
    return dict(rows)


def stages(told: str) -> set[str]:
    """Return the stages of a cell: those that it names, or all but those."""
    named = {word for word in re.findall(r"[\w-]+", told) if word in NAMES}
    return set(NAMES) - named if told.startswith("all") else named


def test_each_row_names_the_stages_whose_keys_have_that_part(built: Sandbox) -> None:
    folders = [
        path.parent for path in (built.root / "build/pipeline/tiny").glob("*/*/receipt.json")
    ]
    receipts = [one for folder in folders if (one := read_receipt(folder)) is not None]
    made = {one.stage for one in receipts}
    rows = table()
    assert len(rows) >= 17
    for part, told in rows.items():
        found = {one.stage for one in receipts if part in one.parts}
        assert found == stages(told) & made, f"the row of `{part}`"
