"""Random layouts, programs, and what follows from counts: small, without building the library."""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import Future
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "judge"))

from judge_support import counting_of, counts, workload_counts

from pipeline.core.process import Completed
from pipeline.evidence.null import standing
from pipeline.evidence.programs import PROGRAMS, Program, Survey, shares, talk_to_redis
from pipeline.evidence.summary import per_operation, static_text
from pipeline.judge.counting.callgrind_file import Profile
from pipeline.judge.request import CacheGeometry
from pipeline.toolchain.symbols import SymbolLists


def test_the_tuned_layout_stands_where_it_stands() -> None:
    null = standing(("a",), (1, 2, 3, 4), (5.0, 6.0, 7.0, 4.0), tuned=5.0, baseline=8.0)
    assert null.percentile == 50
    assert null.rank == 3
    assert null.p_value == pytest.approx(3 / 5)
    assert "rank 3 of 5, p = 0.6)" in null.reason
    assert "2 of 4 have as few or fewer" in null.reason
    assert null.misses == (5.0, 6.0, 7.0, 4.0)


def test_better_than_all_random_layouts_is_percentile_zero() -> None:
    null = standing(("a",), (1, 2), (5.0, 6.0), tuned=4.9, baseline=8.0)
    assert null.percentile == 0
    assert "fewer than all 2" in null.reason
    assert "5.000 to 6.000, median 5.500" in null.reason


def test_no_layout_of_16_is_no_proof_beyond_one_in_17() -> None:
    null = standing(("a",), tuple(range(16)), (5.0,) * 16, tuned=4.9, baseline=8.0)
    assert null.rank == 1
    assert null.p_value == pytest.approx(1 / 17)
    alike = standing(("a",), tuple(range(16)), (5.0,) * 16, tuned=5.0, baseline=8.0)
    assert (alike.rank, alike.p_value) == (17, 1)


def test_shares_are_parts_of_the_whole_process() -> None:
    baseline = Profile(Counter({1: 20}), Counter({1: 1}), 1000, 50)
    tuned = Profile(Counter({1: 10}), Counter(), 990, 0)
    share = shares("x", "x", baseline, tuned)
    assert share.baseline_instructions == pytest.approx(0.02)
    assert share.tuned_instructions == pytest.approx(10 / 990)
    assert share.baseline_i1_misses == pytest.approx(0.02)
    assert share.tuned_i1_misses is None  # no miss in all: a part of nothing is unknown


def survey(tmp_path: Path) -> Survey:
    return Survey(
        valgrind=tmp_path / "no-valgrind",
        libraries={"baseline": tmp_path / "a.so", "tuned": tmp_path / "b.so"},
        geometry=CacheGeometry(32768, 8),
        env={},
        logs=tmp_path,
    )


def test_a_program_that_is_not_installed_is_named_as_skipped(tmp_path: Path) -> None:
    share = survey(tmp_path).of(PROGRAMS[0], None)
    assert (share.status, share.detail) == ("skipped", "python3 is not installed")
    assert share.tuned_instructions is None


def test_a_program_that_cannot_be_counted_says_why(tmp_path: Path) -> None:
    share = survey(tmp_path).of(Program("x", "sh", ("-c", "a\nb")), Path("/bin/sh"))
    assert share.status == "failed"
    assert "no-valgrind" in share.detail
    assert share.command == "sh -c ..."


def test_a_server_that_ended_is_not_waited_for(tmp_path: Path) -> None:
    server: Future[Completed] = Future()
    server.set_exception(RuntimeError("it could not start"))
    with pytest.raises(FileNotFoundError):
        talk_to_redis(tmp_path, server)


def test_costs_per_operation_are_told_with_and_without_pressure() -> None:
    counting = counting_of(
        workload_counts("pressed", counts(4.0), counts(3.0), weight=1),
        workload_counts("more", counts(8.0), counts(7.0), weight=3),
        workload_counts("alone", counts(0.0), counts(0.0)),
    )
    rows = {(one.build, one.pressure): one for one in per_operation(counting)}
    assert rows["baseline", True].i1_misses == pytest.approx(7.0)
    assert rows["tuned", True].i1_misses == pytest.approx(6.0)
    assert rows["tuned", True].workloads == ("pressed", "more")
    assert rows["tuned", False].i1_misses == 0
    assert rows["tuned", False].lines == 40
    assert rows["tuned", False].branches is None


def test_without_counts_nothing_is_told() -> None:
    assert per_operation(counting_of()) == ()


def test_a_file_without_symbols_has_a_size_alone() -> None:
    text = static_text("tuned", Path("/proc/self/exe").resolve(), SymbolLists(("none_such",), ()))
    assert text.text_bytes > 0
    assert not text.hot_bytes
    assert text.hot_lines is None
