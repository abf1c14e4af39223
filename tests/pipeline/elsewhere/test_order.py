"""What a worker does with an order: it refuses what it cannot do, and builds in its own folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from elsewhere_support import FAILS, LASTS, PUBLISHES, STOPPED, order_of

from pipeline.core.errors import BuildError, GateError, ToolError
from pipeline.core.processor import machine
from pipeline.elsewhere.order import SENT_BACK, Made, Order, make_in
from pipeline.toolchain.find import find_toolchain

OTHER = "amd-zen3" if machine().name != "amd-zen3" else "intel-icelake"


def make(place: Path, order: Order) -> Made:
    return make_in(place, order, lambda: True)


def test_what_was_published_there_comes_back(tmp_path: Path) -> None:
    made = make(tmp_path, order_of(PUBLISHES, **find_toolchain().versions))
    assert set(made.files) == set(SENT_BACK)
    assert made.files["library"] == b"this is lib/libhakmem.so"
    assert made.files["debug"] == b"this is lib/libhakmem.so.debug"
    assert made.files["manifest.json"] == b"{}"


def test_an_order_for_another_processor_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=f"has {machine().name}, and this order is for {OTHER}"):
        make(tmp_path, order_of(kind=OTHER))
    assert list(tmp_path.iterdir()) == []


def test_other_tools_are_refused_before_anything_is_built(tmp_path: Path) -> None:
    said = "has other tools than the order wants: clang was 'clang version 1'"
    with pytest.raises(ToolError, match=said) as refused:
        make(tmp_path, order_of(clang="clang version 1"))
    assert "HAKMEM_LLVM" in refused.value.hint
    assert list(tmp_path.iterdir()) == []


def test_a_build_that_fails_says_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"^the build ended with code 5: no such thing$"):
        make(tmp_path, order_of(FAILS))


def test_a_build_that_the_judge_stops_says_his_reason(tmp_path: Path) -> None:
    with pytest.raises(GateError, match=r"^throughput is NO-GO$"):
        make(tmp_path, order_of(STOPPED))


def test_a_build_that_nobody_waits_for_is_ended(tmp_path: Path) -> None:
    def until_it_runs() -> bool:
        return not any(path.read_text() for path in tmp_path.glob("*/pid"))

    with pytest.raises(BuildError, match="is gone"):
        make_in(tmp_path, order_of(LASTS), until_it_runs)
    (pid,) = (int(path.read_text()) for path in tmp_path.glob("*/pid"))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
