"""Means and pressure: one definition each, for the judge, the evidence and the reports."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from judge_support import counts, workload_counts

from pipeline.judge.means import geometric_mean, mean_count, weighted_mean
from pipeline.judge.pressure import most_pressing, presses

ROOT = Path(__file__).resolve().parents[3]


def test_means_are_by_weight_and_unknown_where_anything_is() -> None:
    assert weighted_mean([(3, 1.0), (1, 5.0)]) == pytest.approx(2.0)
    assert weighted_mean([(3, 1.0), (1, None)]) is None
    assert weighted_mean([]) is None
    assert geometric_mean([(1, 2.0), (1, 8.0)]) == pytest.approx(4.0)
    assert geometric_mean([(3, 2.0), (1, 32.0)]) == pytest.approx(4.0)
    with pytest.raises(ValueError, match="nothing"):
        geometric_mean([])


def test_a_mean_of_counts_takes_what_was_measured_and_zero_is_a_count() -> None:
    few, many = counts(1.0, 10), counts(4.0, 20)
    assert mean_count([(1, many.i1_misses), (3, few.i1_misses)]) == pytest.approx(1.75)
    assert mean_count([(1, many.hot_lines), (3, few.hot_lines)]) == pytest.approx(12.5)
    assert mean_count([(1, counts(0.0).i1_misses)]) == 0.0
    assert mean_count([(1, few.i1_misses), (1, counts(None).i1_misses)]) is None


def test_a_workload_presses_where_any_build_has_misses() -> None:
    assert presses(counts(0.0), counts(0.05))
    assert presses(counts(None), counts(0.05))
    assert not presses(counts(0.049), counts(0.0))
    assert not presses(counts(None), counts(None))
    assert not presses()


def test_the_workload_with_the_most_misses_presses_most() -> None:
    few = workload_counts("few", counts(3.0), counts(None))
    most = workload_counts("most", counts(2.0), counts(1.5))
    none = workload_counts("none", counts(0.04), counts(0.04))
    assert most_pressing([few, most, none]) == "most"
    assert most_pressing([none]) is None


def test_nobody_computes_a_mean_by_weight_on_their_own() -> None:
    """A division of a weight by their sum is a weighted mean: there is one module for that."""
    parts = ("judge", "evidence", "report")
    files = [path for part in parts for path in (ROOT / "pipeline" / part).rglob("*.py")]
    found = {
        path.name
        for path in files
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Div)
        and isinstance(node.left, ast.Name | ast.Attribute | ast.Subscript)
        and "weight" in ast.unparse(node.left)
    }
    assert found == {"means.py"}
