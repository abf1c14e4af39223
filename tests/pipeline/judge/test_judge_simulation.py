"""What valgrind counts of toy libraries of known worth, and what it refuses to count."""

import dataclasses
from pathlib import Path

import pytest
from judge_support import L1I, compile_c
from toys_support import VALGRIND, bench, make_toys, needs_valgrind

from pipeline.core.errors import WorkloadError
from pipeline.judge.counting.valgrind import ValgrindSource
from pipeline.judge.counts import LibraryCounts


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_toys(tmp_path_factory.mktemp("toys"))


def counted(built: Path, name: str, tmp_path: Path) -> LibraryCounts:
    source = ValgrindSource(Path(VALGRIND or ""))
    return source.count(bench(built), built / f"{name}.so", L1I, tmp_path / "c.log")


@needs_valgrind
def test_counts_repeat_exactly_whatever_the_environment(built: Path, tmp_path: Path) -> None:
    source = ValgrindSource(Path(VALGRIND or ""))
    plain = bench(built)
    padded = dataclasses.replace(plain, env={"PAD": "x" * 3001}, count_env={"PAD": "y" * 17})
    counts = [
        source.count(one, built / "fast.so", L1I, tmp_path / "c.log")
        for one in (plain, plain, padded)
    ]
    assert counts[0] == counts[1] == counts[2]
    assert counts[0].operations == 1000


@needs_valgrind
def test_code_in_another_section_counts_the_same(built: Path, tmp_path: Path) -> None:
    """callgrind does not know whose code it is outside .text; the judge does."""
    plain, far = (counted(built, name, tmp_path) for name in ("fast", "far"))
    assert plain.instructions == far.instructions
    assert plain.instructions is not None
    # 20 rounds of at least four instructions each, and not the bench loop around them.
    assert 80 < plain.instructions.value < 250
    assert plain.total_instructions is not None
    assert plain.total_instructions.value > plain.instructions.value


@needs_valgrind
def test_four_times_the_work_is_counted_as_such(built: Path, tmp_path: Path) -> None:
    fast, slow = (counted(built, name, tmp_path) for name in ("fast", "slow"))
    assert fast.instructions is not None
    assert slow.instructions is not None
    assert slow.instructions.value / fast.instructions.value == pytest.approx(4, abs=0.6)
    assert fast.hot_lines == slow.hot_lines


@needs_valgrind
def test_counting_without_the_measured_function_is_an_error(built: Path, tmp_path: Path) -> None:
    source = ValgrindSource(Path(VALGRIND or ""))
    with pytest.raises(WorkloadError, match=r"^workload \w+: bench_measured was never entered"):
        source.count(bench(built, program="unmeasured"), built / "fast.so", L1I, tmp_path / "c.log")


@needs_valgrind
def test_counting_a_library_that_does_nothing_is_an_error(built: Path, tmp_path: Path) -> None:
    idle = compile_c("toy_library.c", tmp_path / "idle.so", "-shared", "-fPIC", "-DROUNDS=1",
                     '-DPLACE=".text"', "-Dlabs=not_labs")  # fmt: skip
    source = ValgrindSource(Path(VALGRIND or ""))
    with pytest.raises(
        WorkloadError, match=r"^workload \w+: the preloaded library executed nothing"
    ):
        source.count(bench(built), idle, L1I, tmp_path / "c.log")
