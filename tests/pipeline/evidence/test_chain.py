"""Chain, random layouts and programs on real processes, with toy libraries of known worth."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from judge_support import compile_c

from pipeline.evidence.chain import Build, judge_chain
from pipeline.evidence.model import Ablation
from pipeline.evidence.null import ENOUGH, judge_layout, standing, until_enough
from pipeline.judge.counting.whole import WholeCounter
from pipeline.judge.request import BenchCommand, CacheGeometry, JudgeRequest
from pipeline.judge.tasks import Task

VALGRIND = shutil.which("valgrind")
pytestmark = pytest.mark.skipif(VALGRIND is None, reason="valgrind is not installed")


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toys")
    for name, rounds in (("slow", 80), ("fast", 20), ("full", 20)):
        flags = ("-shared", "-fPIC", '-DPLACE=".text"', f"-DROUNDS={rounds}")
        compile_c("toy_library.c", folder / f"{name}.so", *flags)
    compile_c("toy_bench.c", folder / "bench", "-DMEASURED=bench_measured")
    return folder


def request(toys: Path, logs: Path) -> JudgeRequest:
    path = str(toys / "bench")
    bench = BenchCommand(name="toy", argv=(path, "300000"))
    return JudgeRequest(
        baseline=toys / "slow.so",
        tuned=toys / "full.so",
        benches=(bench,),
        tasks=(Task("toy", "bench", ("20000",), path=toys / "bench"),),
        logs=logs,
    )


def chain(toys: Path, request: JudgeRequest) -> Ablation:
    builds = [Build(name, f"adds {name}", toys / f"{name}.so") for name in ("slow", "fast", "full")]
    return judge_chain(builds, request, 1.0, lambda _: None)


def test_each_step_is_counted_and_timed_against_the_full_build(toys: Path, tmp_path: Path) -> None:
    result = chain(toys, request(toys, tmp_path))
    slow, fast, full = result.steps
    assert slow.instructions is not None
    assert fast.instructions is not None
    assert slow.instructions > fast.instructions == full.instructions
    assert slow.speed is not None
    assert slow.speed.high < 0.9
    assert full.speed is None
    assert not slow.as_fast
    assert full.as_fast
    assert result.chosen in ("fast", "full")  # as much as so few pairs on this machine can show
    assert Ablation.model_validate_json(result.model_dump_json()) == result


def test_a_layout_is_ranked_by_whole_programs(toys: Path, tmp_path: Path) -> None:
    asked = request(toys, tmp_path)
    made = {7: toys / "fast.so", 9: toys / "full.so"}
    null = judge_layout(asked, list(made), made.__getitem__, lambda _: None)
    assert null is not None
    assert null.workloads == ("toy",)
    assert null.seeds == (7, 9)
    assert null.misses == (null.tuned, null.tuned)  # the same code: not one miss more or less
    assert null.rank == 3


def test_enough_layouts_that_are_as_good_end_it(toys: Path, tmp_path: Path) -> None:
    asked, made = request(toys, tmp_path), []

    def make(seed: int) -> Path:
        made.append(seed)
        return toys / "full.so"

    null = judge_layout(asked, range(1, 17), make, lambda _: None)
    assert null is not None
    assert null.seeds == tuple(range(1, ENOUGH + 1))
    assert len(made) < 16
    assert null.p_value == 1


def test_what_was_counted_beside_the_last_layout_is_left_out() -> None:
    assert until_enough([9, 8, 9, 7, 7, 7, 7, 1], 8) == [9, 8, 9, 7, 7, 7]
    assert until_enough([9, 8, 9], 8) == [9, 8, 9]


def test_stopping_early_does_not_make_a_lucky_rank_more_likely() -> None:
    """Were the tuned layout a random one, a chance of p or less comes up in a share p at most."""
    rng, chances = random.Random(1), []
    for _ in range(4000):
        tuned, *others = rng.sample(range(17), 17)
        kept = until_enough(others, tuned)
        found = standing(("toy",), (), kept, tuned=tuned, baseline=1)
        chances.append(found.p_value or 0.0)
    for chance in set(chances):
        assert sum(one <= chance for one in chances) / len(chances) < chance + 0.02


def test_a_program_is_counted_as_a_whole(toys: Path, tmp_path: Path) -> None:
    counter = WholeCounter(Path(VALGRIND or ""), CacheGeometry(32 * 1024, 8), {}, tmp_path)
    libraries = {name: toys / f"{name}.so" for name in ("slow", "fast")}
    task = Task("toy", "renamed", ("20000",), path=toys / "bench")
    own = Task("toy (own)", str(toys / "bench"), ("20000",), path=toys / "bench", folder=toys)
    told, other = counter.count(libraries, [task, own])
    assert other.counts, other.problem
    assert other.counts["slow"].instructions == told.counts["slow"].instructions
    assert told.counts, told.problem
    slow, fast = told.counts["slow"], told.counts["fast"]
    assert slow.total_instructions > slow.instructions > fast.instructions > 0
    assert fast.total_instructions > 100_000  # the dynamic linker, and all before main
