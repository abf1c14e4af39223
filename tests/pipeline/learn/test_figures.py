"""Samples are read as the library wrote them, and smoothed: one odd moment decides nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from learn_support import EMPTYING, GROWING, recorded

from pipeline.core.errors import UsageError
from pipeline.learn.figures import smooth
from pipeline.learn.samples import Sample, read_samples, watch


def test_recorded_statistics_are_told_as_ratios() -> None:
    figures = smooth(recorded())
    assert (figures.processes, figures.samples) == (2, 12)
    assert (figures.counters["runs_given"], figures.counters["runs_taken"]) == (4204, 12224)
    assert figures.grown("runs_given", "runs_taken") == pytest.approx(4204 / 12224)
    assert 0 < figures.free_in_slabs < 0.05
    assert figures.purge_faults == 1.0
    assert sum(room.bytes for room in figures.rooms) == pytest.approx(
        figures.gauges["slab_bytes"], rel=0.2
    )


def test_one_odd_sample_moves_no_gauge() -> None:
    plain = read_samples([GROWING])
    odd = plain[2].model_copy(update={"figures": {**plain[2].figures, "dirty_bytes": 1 << 40}})
    before, after = smooth(plain), smooth([*plain[:2], odd, *plain[3:]])
    assert after.gauges["dirty_bytes"] < 1 << 30
    assert before.gauges["live_bytes"] == after.gauges["live_bytes"]


def test_a_process_that_began_anew_counts_no_negative_growth() -> None:
    plain = read_samples([GROWING])
    again = smooth([*plain, *plain])
    assert again.counters["runs_taken"] == 2 * smooth(plain).counters["runs_taken"]


def test_what_the_library_does_not_know_is_left_out() -> None:
    figures = smooth(read_samples([EMPTYING]))
    assert "quarantine_bytes" not in figures.gauges
    assert figures.part("quarantine_bytes", "live_bytes") == 0.0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("{", "is no statistics"),
        ('{"a":' * 100_000, "is no statistics of hakmem: it is nested too"),
        ('{"hakmem": "1"}', "is no statistics"),
    ],
    ids=range(4),
)
def test_a_file_that_is_no_statistics_is_named(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "some.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=f"some.json {says}"):
        read_samples([file])


def test_each_process_is_asked_as_often_as_wished_and_at_the_pace_wished() -> None:
    slept: list[float] = []
    told = watch([7, 8], 3, 1.5, lambda pid: {"process": pid}, slept.append)
    assert [one["process"] for one in told] == [7, 8, 7, 8, 7, 8]
    assert slept == [1.5, 1.5]


def until(last: int) -> Callable[[int], dict[str, int]]:
    """Return what tells of process 7 until it ends, after ``last`` answers, and always of 8."""
    answers = Counter[int]()

    def look(pid: int) -> dict[str, int]:
        answers[pid] += 1
        if pid == 7 and answers[pid] > last:
            raise UsageError("there is no process 7")
        return {"process": pid}

    return look


def test_a_process_that_ends_is_asked_no_more_and_its_answers_count() -> None:
    told = watch([7, 8], 4, 1.0, until(2), lambda _seconds: None)
    assert [one["process"] for one in told] == [7, 8, 7, 8, 8, 8]
    assert len([*watch([7], 4, 1.0, until(2), lambda _seconds: None)]) == 2


def test_one_answer_of_a_process_is_too_few() -> None:
    with pytest.raises(UsageError, match="there is no process 7"):
        list(watch([7, 8], 4, 1.0, until(1), lambda _seconds: None))


def test_a_newer_library_may_tell_more() -> None:
    first = json.loads(GROWING.read_text(encoding="utf-8").splitlines()[0])
    assert Sample.model_validate({**first, "new": 1}).hakmem == first["hakmem"]
