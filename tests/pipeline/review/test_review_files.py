"""What a review writes for other tools: SARIF, JUnit, annotations; and its findings by file."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import report_support
from review_support import HEAD, keep, review, seal

from pipeline.core.paths import Tree
from pipeline.layout.check import Finding
from pipeline.report.files import read_report, write_reports
from pipeline.review.model import RULES

pytest_plugins = ("review_trees",)


def test_the_layout_contract_is_named_by_file_and_line(base: Path, tmp_path: Path) -> None:
    review(base, "--no-measure", "-o", tmp_path)
    log = json.loads((tmp_path / "review.sarif").read_text(encoding="utf-8"))
    assert log["version"] == "2.1.0"
    found = {
        one["message"]["text"]: (one["level"], one["locations"][0]["physicalLocation"])
        for one in log["runs"][0]["results"]
        if one["ruleId"] == "layout"
    }
    level, place = found["hak_malloc: line: starts at 0x10"]
    assert (level, place["artifactLocation"]["uri"]) == ("error", "layouts/mixed/hot.txt")
    assert place["region"]["startLine"] == 2
    level, place = found["hak_fatal: cold: lies in the hot range"]
    assert (level, place["artifactLocation"]["uri"]) == ("error", "layouts/mixed/cold.txt")
    assert found["pop: not listed: 12 % of all calls"][0] == "note"
    known = {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    assert {one["ruleId"] for one in log["runs"][0]["results"]} <= known


@pytest.mark.parametrize(("symbol", "said"), [("pop", "not listed"), ("hak_fatal", "in cold.txt")])
def test_what_ran_often_is_told_where_base_does_not_have_it(
    symbol: str, said: str, tree: Tree, base: Path
) -> None:
    often = Finding(rule="listed", symbol=symbol, text="12 % of all calls", broken=False)
    keep(
        tree, report_support.good().model_copy(update={"contract": (often,)}), HEAD, published=False
    )
    note = f"**note**: {symbol}: {said}"
    assert note in review(base, "--no-measure")[1]
    write_reports(base, read_report(base).model_copy(update={"contract": (often,)}))
    seal(base)
    assert note not in review(base, "--no-measure")[1]


def test_a_breach_that_base_has_too_is_no_fault_of_the_change(tree: Tree, base: Path) -> None:
    breach = Finding(rule="marks", symbol="pop", text="is not in cold.txt", broken=True)
    good = report_support.good().model_copy(update={"contract": (breach,)})
    keep(tree, good, HEAD, published=False)
    assert "**error**: pop: marks:" in review(base, "--no-measure")[1]
    write_reports(base, read_report(base).model_copy(update={"contract": (breach,)}))
    seal(base)
    assert "**warning**: pop: marks, in BASE, too:" in review(base, "--no-measure")[1]


def test_a_change_of_lists_is_told_and_warned_of_where_the_function_ran_often(
    tree: Tree, base: Path, tmp_path: Path
) -> None:
    good = report_support.good()
    assert good.code is not None
    sides = tuple(
        side.model_copy(
            update={
                "functions": tuple(
                    one.model_copy(update={"listed": "cold" if one.name == "hak_free" else None})
                    if one.name in ("hak_free", "hak_malloc")
                    else one
                    for one in side.functions
                )
            }
        )
        for side in good.code
    )
    often = Finding(rule="listed", symbol="hak_malloc", text="12 % of all calls", broken=False)
    moved = good.model_copy(update={"code": sides, "contract": (often,), "findings": ()})
    keep(tree, moved, HEAD, published=False)
    _, said = review(base, "--no-measure", "-o", tmp_path)
    assert "**warning**: hak_malloc changed lists: hot.txt → no list, though it ran often" in said
    assert "**note**: hak_free changed lists: hot.txt → cold.txt" in said
    assert "hak_malloc: not listed" not in said


def test_what_is_about_the_whole_build_has_no_place_in_the_change(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    _, said = review(base, "--no-measure", "-o", tmp_path)
    assert "::error title=" in said and "file=training/" not in said
    assert "training/profiles" not in (tmp_path / "junit.xml").read_text(encoding="utf-8")
    assert "training/profiles/mixed.toml" in (tmp_path / "review.sarif").read_text(encoding="utf-8")


def test_junit_counts_what_fails(base: Path, tmp_path: Path) -> None:
    review(base, "--no-measure", "-o", tmp_path)
    suite = ET.parse(tmp_path / "junit.xml").getroot()
    cases = list(suite)
    failed = [case for case in cases if case.find("failure") is not None]
    assert (suite.get("tests"), suite.get("failures")) == (str(len(cases)), str(len(failed)))
    broken = next(case for case in failed if "layouts/" in (case.get("name") or ""))
    assert "layouts/mixed/hot.txt:2: hak_malloc" in (broken[0].text or "")
    never = {"What was measured is decided.", RULES["regression"]}
    assert not never & {case.get("name") for case in cases}


def test_annotations_are_printed_in_a_job_alone(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "::error" not in review(base, "--no-measure")[1]
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    said = review(base, "--no-measure")[1]
    assert "::error file=layouts/mixed/hot.txt,line=2,title=hak_malloc%3A line::starts at" in said
    lines = [line for line in said.splitlines() if line.startswith("::")]
    assert all(line.count("::") >= 2 for line in lines)
