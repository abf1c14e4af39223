"""The pages of docs/results that are made from samples say what the samples beside them say."""

from __future__ import annotations

import os
from pathlib import Path
from statistics import geometric_mean

import pytest

from bench.harness import kept, saved
from bench.harness.programs.tables import tables
from bench.harness.report import markdown_table
from bench.harness.results import Comparison
from pipeline.core.errors import UsageError

COMPARISONS = sorted(saved.RESULTS.glob("compare-*.json"))
PROGRAMS = sorted(saved.RESULTS.glob("programs-*.json"))


def test_there_are_some() -> None:
    assert COMPARISONS
    assert PROGRAMS


@pytest.mark.parametrize("file", COMPARISONS, ids=lambda file: file.stem)
def test_the_page_of_a_comparison_is_made_from_its_samples(file: Path) -> None:
    page = file.with_suffix(".md")
    made = saved.as_page(kept.read(file), file.name)
    if os.environ.get("UPDATE_GOLDEN"):
        page.write_text(made, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == made


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda file: file.stem)
def test_the_tables_of_whole_programs_are_made_from_their_samples(file: Path) -> None:
    page = file.with_suffix(".md").read_text(encoding="utf-8")
    for cells in tables(kept.read(file)):
        assert "\n".join(markdown_table(cells)) in page


def test_the_means_of_all_processors_are_those_of_their_pages() -> None:
    page = (saved.RESULTS / "programs.md").read_text(encoding="utf-8")
    for file in PROGRAMS:
        assert f"]({file.stem}.md)" in page
        for cells in tables(kept.read(file)):
            mean = dict(zip(cells[0], cells[-1], strict=True))
            named = [row for row in page.split("\n") if row.startswith(f"| {cells[0][0][:11]}")]
            for heading in named:
                columns = heading.strip("| ").split(" | ")[1:]
                row = " | ".join(mean[one] for one in columns)
                assert f"{file.stem[9:19]} | {row} |" in page


def test_hakmem_beside_one_other_is_the_mean_over_their_programs() -> None:
    page = (saved.RESULTS / "programs.md").read_text(encoding="utf-8")
    heading = next(row for row in page.split("\n") if row.startswith("| hakmem's processor time"))
    others = [one.replace("Debian's ", "") for one in heading.strip("| ").split(" | ")[1:]]
    for file in PROGRAMS:
        row = " | ".join(f"{_beside(kept.read(file), other):.2f}" for other in others)
        assert f"{file.stem[9:19]} | {row} |" in page


def _beside(comparison: Comparison, other: str) -> float:
    pairs = [
        [result.median(name, comparison.time_of) for name in ("hakmem", other)]
        for result in comparison.results
        if result.timed
    ]
    return geometric_mean([ours / theirs for ours, theirs in pairs if ours and theirs])


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"rows": [1], "ours": "x"}', "\x00"])
def test_what_is_no_comparison_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"x\.json is no saved comparison"):
        kept.read(tmp_path / "x.json")
