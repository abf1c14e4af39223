"""One library judged against another: what is said meanwhile."""

from __future__ import annotations

import pytest

from pipeline.stages.proof.direct import by_age


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("counting gcc (tuned), 2 of 8", "counting gcc (newer), 2 of 8"),
        ("counting gcc (baseline, again), 1 of 8", "counting gcc (older, again), 1 of 8"),
        ("pair 25, 10 s of 60: shop-played", "pair 25, 10 s of 60: shop-played"),
    ],
)
def test_progress_of_a_direct_judgement_calls_no_version_the_baseline(
    words: str, told: str
) -> None:
    """The older version was called baseline, which is the plain build elsewhere."""
    assert by_age(words) == told
