"""Means over workloads: by weight, and unknown where a part is unknown."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "judge"))

from judge_support import counts

from pipeline.evidence.counts import weighted
from pipeline.judge.counts import LibraryCounts

UNKNOWN = LibraryCounts(operations=10)


def test_the_mean_goes_by_weight() -> None:
    build = {"a": counts(4.0, 20), "b": counts(1.0, 10)}
    weights = {"a": 1.0, "b": 3.0}
    assert weighted(build, weights, "i1_misses", ("a", "b")) == pytest.approx(1.75)
    assert weighted(build, weights, "hot_lines", ("a", "b")) == pytest.approx(12.5)
    assert weighted(build, weights, "i1_misses", ("a",)) == pytest.approx(4.0)


def test_a_zero_is_a_count() -> None:
    assert weighted({"a": counts(0.0)}, {"a": 1.0}, "i1_misses", ("a",)) == 0.0


def test_unknown_in_one_workload_is_unknown_in_all() -> None:
    build = {"a": counts(4.0), "b": UNKNOWN}
    assert weighted(build, {"a": 1.0, "b": 1.0}, "i1_misses", ("a", "b")) is None
    assert weighted(build, {"a": 1.0, "b": 1.0}, "i1_misses", ()) is None
