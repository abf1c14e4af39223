"""Random layouts, programs, and what follows from counts: small, without building the library."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import Future
from pathlib import Path

import pytest
from judge_support import counting_of, counts, workload_counts

from pipeline.core.process import Completed
from pipeline.evidence.null import standing
from pipeline.evidence.summary import per_operation, program_shares, static_text
from pipeline.judge.counting.callgrind_file import Profile
from pipeline.judge.counting.told import Told, as_program, mean
from pipeline.judge.counting.whole import WholeCounter, count_programs, counts_of
from pipeline.judge.counts import ProgramCounts
from pipeline.judge.request import CacheGeometry, Side
from pipeline.judge.tasks import JUDGED, Task, found, talk_to_redis
from pipeline.report.text import place
from pipeline.toolchain.symbols import SymbolLists


def test_the_tuned_layout_stands_where_it_stands() -> None:
    null = standing(("a",), (1, 2, 3, 4), (5.0, 6.0, 7.0, 4.0), tuned=5.0, baseline=8.0)
    assert null.percentile == 50
    assert null.rank == 3
    assert null.p_value == pytest.approx(3 / 5)
    assert place(null) == "this version has rank 3 of 5, p = 0.6"
    assert "rank" not in null.reason  # the report says it before
    assert "2 of 4 have as few or fewer" in null.reason
    assert null.misses == (5.0, 6.0, 7.0, 4.0)


def test_better_than_all_random_layouts_is_percentile_zero() -> None:
    null = standing(("a",), (1, 2), (5000.0, 6000.0), tuned=4900.0, baseline=8000.0)
    assert null.percentile == 0
    assert "fewer than all 2" in null.reason
    assert "5,000 to 6,000, median 5,500" in null.reason


def test_no_layout_of_16_is_no_proof_beyond_one_in_17() -> None:
    null = standing(("a",), tuple(range(16)), (5.0,) * 16, tuned=4.9, baseline=8.0)
    assert null.rank == 1
    assert null.p_value == pytest.approx(1 / 17)
    alike = standing(("a",), tuple(range(16)), (5.0,) * 16, tuned=5.0, baseline=8.0)
    assert (alike.rank, alike.p_value) == (17, 1)


def told(name: str, **misses: int) -> Told:
    """Return a task that was counted with libraries of so many misses."""
    counts = {library: profile(missed) for library, missed in misses.items()}
    return Told(Task(name, name, ()), counts)


def profile(misses: int) -> ProgramCounts:
    return counts_of(Profile(Counter({1: 20}), Counter({1: misses}), 1000, 50))


def test_shares_are_parts_of_the_whole_process() -> None:
    (share,) = program_shares([as_program(told("x", baseline=5, tuned=1))])
    assert share.status == "counted"
    assert share.baseline_instructions == pytest.approx(0.02)
    assert share.baseline_i1_misses == pytest.approx(0.1)
    assert share.tuned_i1_misses == pytest.approx(0.02)


def test_each_task_counts_alike_in_the_mean_however_long_it_is() -> None:
    tasks = [told("a", x=100, y=50), told("b", x=1, y=2), Told(Task("c", "c", ()), {}, "missing")]
    assert mean(tasks, "x", "i1_misses") == pytest.approx(10)
    assert mean(tasks, "y", "i1_misses") == pytest.approx(10)
    assert mean([told("a", x=0)], "x", "i1_misses") is None
    assert mean([], "x", "i1_misses") is None


def counter(tmp_path: Path) -> WholeCounter:
    return WholeCounter(tmp_path / "no-valgrind", CacheGeometry(32768, 8), {}, tmp_path)


def test_a_program_that_is_not_installed_is_named_as_skipped(tmp_path: Path) -> None:
    sides: dict[Side, Path] = {"baseline": tmp_path / "a.so", "tuned": tmp_path / "b.so"}
    tasks = found(JUDGED[-1:], lambda _: None)
    (one,) = count_programs(counter(tmp_path), sides, tasks, lambda _: None)
    assert (one.status, one.detail) == ("skipped", "sqlite3 is not installed")
    assert program_shares([one])[0].tuned_instructions is None


def test_a_program_that_cannot_be_counted_says_why(tmp_path: Path) -> None:
    sides: dict[Side, Path] = {"baseline": tmp_path / "a.so", "tuned": tmp_path / "b.so"}
    task = Task("x", "sh", ("-c", "a\nb"), path=Path("/bin/sh"))
    said: list[str] = []
    (one,) = count_programs(counter(tmp_path), sides, [task], said.append)
    assert sorted(line.partition(", ")[2] for line in said) == ["1 of 2", "2 of 2"]
    assert one.status == "failed"
    assert "no-valgrind" in one.detail
    assert one.command == "sh -c ..."


def test_a_server_with_two_names_is_found_by_either() -> None:
    places = {"redis-check-rdb": Path("/usr/bin/redis-check-rdb")}
    (redis,) = found([one for one in JUDGED if one.name == "redis"], places.get)
    assert redis.path == places["redis-check-rdb"]
    assert redis.program == "redis-server"


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
