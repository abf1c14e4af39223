"""Whole programs are counted without conflicts of sets: what counts is the code, not its place."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from judge_support import compile_c

from pipeline.judge.counting import whole
from pipeline.judge.counting.whole import WholeCounter, whole_counter
from pipeline.judge.l1i import without_conflicts
from pipeline.judge.request import BenchCommand, CacheGeometry, JudgeRequest
from pipeline.judge.tasks import Task

VALGRIND = shutil.which("valgrind")
L1I = CacheGeometry(32 * 1024, 8)
ROUNDS = 1000


def request(logs: Path) -> JudgeRequest:
    return JudgeRequest(
        baseline=logs / "near.so",
        tuned=logs / "far.so",
        benches=(BenchCommand(name="any", argv=("/bin/true",)),),
        logs=logs,
    )


def test_a_cache_without_conflicts_is_as_large_and_has_one_set() -> None:
    assert without_conflicts(L1I) == CacheGeometry(32 * 1024, 512)
    assert without_conflicts(CacheGeometry(48 * 1024, 12)) == CacheGeometry(48 * 1024, 768)
    assert str(without_conflicts(L1I)) == "32 KiB, fully associative, 64 B lines"
    assert str(L1I) == "32 KiB, 8-way, 64 B lines"


@pytest.mark.skipif(VALGRIND is None, reason="valgrind is not installed")
def test_code_that_lies_apart_has_no_more_misses_than_the_same_code_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "machine_l1i", lambda: (L1I, "fallback"))
    for name, step in (("near", 64), ("far", 4096)):
        flags = ("-shared", "-fPIC", f"-DSTEP={step}")
        compile_c("toy_places.c", tmp_path / f"{name}.so", *flags)
    libraries = {name: tmp_path / f"{name}.so" for name in ("near", "far")}
    task = Task("any", "true", (), path=Path("/bin/true"))

    def misses(counter: WholeCounter) -> tuple[int, int]:
        (told,) = counter.count(libraries, [task])
        assert told.counts, told.problem
        return told.counts["near"].i1_misses, told.counts["far"].i1_misses

    near, far = misses(whole_counter(request(tmp_path)))
    assert far < near + 16
    near, far = misses(WholeCounter(Path(VALGRIND or ""), L1I, {}, tmp_path))
    assert far > near + ROUNDS  # a cache with sets counts where the code fell
