"""Timed runs and pairs of them: where they run, what they print, and how they fail."""

import dataclasses
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest
from judge_support import compile_c
from toys_support import bench, make_toys

from pipeline.core.errors import WorkloadError
from pipeline.core.places import PLACES
from pipeline.judge.bench import parse_bench_line, timed_run
from pipeline.judge.pairing import PairedRunner
from pipeline.judge.request import BenchCommand, Kind, Side
from pipeline.judge.samples import SIDES, RunSample
from pipeline.judge.schedule import PlannedPair, plan


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_toys(tmp_path_factory.mktemp("toys"))


def test_a_library_that_does_not_load_is_an_error_and_not_a_tie(
    built: Path, tmp_path: Path
) -> None:
    with pytest.raises(WorkloadError, match=r"cannot be preloaded"):
        timed_run(bench(built), tmp_path / "missing.so", 0, tmp_path / "x.log")


@pytest.mark.parametrize(("how", "word"), [("crash", "SIGABRT"), ("mute", "no result")])
def test_a_workload_that_fails_is_an_error_with_a_log(
    built: Path, tmp_path: Path, how: str, word: str
) -> None:
    log = tmp_path / "x.log"
    with pytest.raises(WorkloadError, match=word) as caught:
        timed_run(bench(built, how), built / "fast.so", 0, log)
    assert caught.value.log == log
    assert log.exists()


PLANNED = PlannedPair(round=3, workload="toy", first="tuned", padding=100)


def runner(built: Path, logs: Path) -> PairedRunner:
    return PairedRunner({"baseline": built / "slow.so", "tuned": built / "fast.so"}, logs)


def test_one_thread_runs_together_on_one_cpu(built: Path, tmp_path: Path) -> None:
    before = os.sched_getaffinity(0)
    sample = runner(built, tmp_path)(bench(built, ops=2_000_000), PLANNED)
    assert sample.together
    assert sample.tuned.ops_per_sec > 1.5 * sample.baseline.ops_per_sec
    # Each was charged its own CPU time, and waited while the other one had the CPU.
    assert sample.baseline.wall_ops_per_sec < sample.baseline.ops_per_sec
    assert os.sched_getaffinity(0) == before


def test_the_pairs_of_a_block_run_side_by_side(built: Path, tmp_path: Path) -> None:
    cpus: list[tuple[int, frozenset[int]]] = []
    before = os.sched_getaffinity(0)

    class Watched(PairedRunner):
        def _run(self, bench: BenchCommand, pair: PlannedPair, side: Side) -> RunSample:
            cpus.append((pair.round, frozenset(os.sched_getaffinity(0))))
            return super()._run(bench, pair, side)

    block = next(plan({"toy": range(2)}, seed=1))
    watched = Watched({"baseline": built / "slow.so", "tuned": built / "fast.so"}, tmp_path)
    samples = watched.block(bench(built, ops=2_000_000), block)
    assert [sample.round for sample in samples] == [0, 1]
    assert all(sample.together for sample in samples)
    # Both sides of a pair on one CPU; the other pair has another, where there is one.
    places = dict(cpus)
    assert len(set(cpus)) == len(places) == 2
    assert len(set(places.values())) == min(2, len(before))
    assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize(("kind", "told"), [("program", True), ("loop", False)])
def test_a_program_that_fails_beside_itself_is_told_what_it_needs(
    built: Path, tmp_path: Path, kind: Kind, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server whose port is taken: alone, by the first line of its log, it does well."""
    monkeypatch.setattr(PairedRunner, "_is_single_threaded", lambda *_: True)
    crashing = dataclasses.replace(bench(built, "crash"), kind=kind)
    with pytest.raises(WorkloadError, match="SIGABRT") as caught:
        runner(built, tmp_path)(crashing, PLANNED)
    assert "run the first line of the log" in caught.value.hint
    assert ("a port and files of its own" in caught.value.hint) == told


def test_what_it_needs_is_all_that_is_told_where_nothing_else_helps(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> RunSample:
        raise WorkloadError("it said a warning")

    monkeypatch.setattr(PairedRunner, "_is_single_threaded", lambda *_: True)
    monkeypatch.setattr(PairedRunner, "_run", fails)
    with pytest.raises(WorkloadError) as caught:
        runner(built, tmp_path)(dataclasses.replace(bench(built, "crash"), kind="program"), PLANNED)
    assert caught.value.hint.startswith("with `threads` 1 several run at once")


def test_several_threads_run_in_turn(built: Path, tmp_path: Path) -> None:
    two = compile_c("toy_bench.c", tmp_path / "two", "-DMEASURED=bench_measured", "-DTHREADS=2")
    sample = runner(built, tmp_path)(BenchCommand(name="toy", argv=(str(two), "1000")), PLANNED)
    assert not sample.together
    assert (sample.first, sample.round, sample.padding) == ("tuned", 3, 100)
    assert sorted(path.name for path in (tmp_path / "toy").iterdir()) == [
        "003-baseline.log",
        "003-tuned.log",
        "warm-up.log",
    ]


def test_a_pair_runs_the_program_with_its_code_at_one_place(built: Path, tmp_path: Path) -> None:
    """Both sides: where a load of the program meets one of the library, it is the same for both."""
    here = bench(built)
    there = shutil.copy2(here.argv[0], tmp_path / "elsewhere")
    placed = dataclasses.replace(here, elsewhere=((str(there), *here.argv[1:]),))
    for place, program in enumerate((here.argv[0], there, here.argv[0])):
        runner(built, tmp_path)(placed, dataclasses.replace(PLANNED, place=place))
        for side in SIDES:
            log = (tmp_path / "toy" / f"003-{side}.log").read_text(encoding="utf-8")
            assert str(program) in log.splitlines()[0]


def test_pairs_come_to_each_place_in_turn() -> None:
    pairs = [pair for block in plan({"toy": range(64)}, seed=1) for pair in block]
    count = Counter(pair.place for pair in pairs)
    assert count == dict.fromkeys(range(PLACES), 64 // PLACES)
    seeds = [next(plan({"toy": range(2)}, seed))[0].place for seed in range(64)]
    assert len(set(seeds)) > PLACES / 2


def test_a_workload_that_hangs_is_an_error(built: Path, tmp_path: Path) -> None:
    endless = dataclasses.replace(bench(built, ops=10**12), timeout_s=0.5)
    with pytest.raises(WorkloadError, match=r"limit of 0\.5 s"):
        timed_run(endless, built / "fast.so", 0, tmp_path / "x.log")


@pytest.mark.parametrize(
    "stdout",
    [
        "",
        "hello",
        "bench=x ops=10 seconds=5",
        "bench=x ops=10 seconds=0 peak_rss_kib=7",
        "bench=x ops=10 seconds=nan peak_rss_kib=7",
        "bench=x ops=10 seconds=fast peak_rss_kib=7",
        "bench=x ops=10 seconds=5 peak_rss_kib=7 cpu_seconds=0",
    ],
)
def test_a_result_line_with_a_hole_is_refused(stdout: str) -> None:
    with pytest.raises(ValueError, match=r"no |says|float"):
        parse_bench_line(stdout)


@pytest.mark.parametrize(
    ("tail", "clock", "rate"),
    [
        ("threads=1", "wall", 500.0),
        ("threads=1 cpu_seconds=1.0", "cpu", 1000.0),
        ("threads=2 cpu_seconds=4.0", "cpu", 250.0),
    ],
)
def test_runs_are_judged_by_cpu_time_where_it_is_known(tail: str, clock: str, rate: float) -> None:
    line = parse_bench_line(f"bench=x ops=1000 seconds=2.0 peak_rss_kib=7 {tail}")
    assert (line.sample().clock, line.sample().ops_per_sec) == (clock, rate)
    assert line.sample().wall_ops_per_sec == 500.0


def test_a_run_on_another_allocator_is_an_error(built: Path, tmp_path: Path) -> None:
    other = shutil.copy(built / "fast.so", tmp_path / "libhakmem.so")
    said = compile_c("toy_bench.c", tmp_path / "other", "-DMEASURED=bench_measured",
                     '-DALLOCATOR="libc.so.6"')  # fmt: skip
    command = BenchCommand(name="toy", argv=(str(said), "1000"))
    with pytest.raises(WorkloadError, match=r"ran on libc\.so\.6 instead of libhakmem\.so"):
        timed_run(command, Path(other), 0, tmp_path / "x.log")
