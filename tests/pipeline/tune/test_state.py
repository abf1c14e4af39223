"""The journal: nothing is lost, nothing half-written is read, nothing stale is used."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from tune_support import World, ground, measurer, single

from pipeline.core.errors import DataError, SpaceError
from pipeline.core.processor import ANY, machine
from pipeline.tune.measure import File, Result, measure
from pipeline.tune.search import race
from pipeline.tune.state import Journal

TRUTH = {"a": (1.0, 1.0)}


def result() -> Result:
    return World(TRUTH).measure(ground().job(single("a"), 0, 1))


def test_results_are_found_again_by_key_and_the_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "tune" / "results.jsonl"
    one = result()
    Journal(path).add(one)
    assert Journal(path).find(one.key) == one
    assert Journal(path).find("other") is None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_line_cut_anywhere_costs_that_line_alone(tmp_path: Path) -> None:
    path = tmp_path / "r"
    first, second = result(), result().model_copy(update={"key": "second"})
    journal = Journal(path)
    journal.add(first)
    journal.add(second)
    whole = path.read_bytes()
    start = whole.index(b"\n") + 1
    for length in range(start, len(whole) - 1, 97):
        path.write_bytes(whole[:length])
        cut = Journal(path)
        assert cut.find(first.key) == first
        assert cut.find("second") is None
        assert cut.unreadable == (length > start)
        cut.add(second)  # behind the torn line, not into it
        assert Journal(path).find("second") == second


def test_rubbish_is_not_read_and_not_in_the_way(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_bytes(b'{"key": 1}\n\x00\xff\n[]\n')
    journal = Journal(path)
    assert (len(journal), journal.unreadable) == (0, 3)
    journal.add(result())
    assert len(Journal(path)) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"default": File(Path("/default.so"), "built from other sources")},
        {"candidate": File(Path("/a.so"), "another geometry")},
        {"context": "other programs"},
        {"seed": 2},
        {"processor": "amd-zen3"},
        {"pairs": {"one": (10, 20), "two": (10, 20)}},
    ],
)
def test_what_would_change_the_result_changes_the_key(change: dict[str, object]) -> None:
    job = ground().job(single("a"), 0, 1)
    assert replace(job, **change).key != job.key  # type: ignore[arg-type]


def test_the_place_of_a_file_does_not_change_the_key() -> None:
    job = ground().job(single("a"), 0, 1)
    moved = replace(job, candidate=File(Path("/elsewhere/a.so"), "a"), name="other name")
    assert moved.key == job.key


def test_a_worker_with_another_kind_of_processor_is_refused() -> None:
    here = machine().name
    other = "amd-zen3" if here != "amd-zen3" else "intel-icelake"
    with pytest.raises(DataError, match=f"has {here}, and this search is for {other}") as caught:
        measure(replace(ground().job(single("a"), 0, 1), processor=other))
    assert f"start workers on machines with {other}" in str(caught.value.hint)
    for fitting in (ANY, here, here.split("-", maxsplit=1)[0]):
        replace(ground().job(single("a"), 0, 1), processor=fitting).check_processor()


def test_stale_results_are_not_used(tmp_path: Path) -> None:
    world = World(TRUTH)
    race(measurer(world, tmp_path / "r"), [single("a")], 1e9)
    before = len(world.jobs)
    again = measurer(world, tmp_path / "r")
    race(again, [single("a")], 1e9)
    assert len(world.jobs) == before == again.taken_over
    measuring = measurer(world, tmp_path / "r")
    measuring.ground = replace(measuring.ground, context="after an edit")
    race(measuring, [single("a")], 1e9)
    assert len(world.jobs) == 2 * before


def test_a_full_disk_is_told_and_costs_no_later_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, write = tmp_path / "r", os.write
    journal = Journal(path)
    with monkeypatch.context() as full:
        full.setattr(os, "write", lambda place, line: write(place, line[:40]))
        with pytest.raises(SpaceError, match="cannot write"):
            journal.add(result())
    journal.add(result())
    assert Journal(path).find(result().key) == result()


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SpaceError, match="cannot write"):
        Journal(tmp_path / "file" / "r").add(result())


def test_a_library_that_is_not_the_one_that_is_meant_is_not_measured(tmp_path: Path) -> None:
    library = tmp_path / "a.so"
    job = replace(ground().job(single("a"), 0, 1), default=File(library, "digest"))
    with pytest.raises(DataError, match="there is no file"):
        measure(job)
    library.touch()
    with pytest.raises(DataError, match="has changed since it was built"):
        measure(job)
