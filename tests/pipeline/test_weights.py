"""Weights by time, in whole numbers for PGO and multiplied counts for BOLT."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.process import run
from pipeline.stages.pgo.train import SCALE, time_factors
from pipeline.toolchain.fdata import Edges
from pipeline.toolchain.find import find_llvm

LINES = "1 malloc 2b 1 malloc 41 0 100\n1 refill/1 79 1 write@PLT 0 3 42\n"


def test_share_of_counts_follows_the_wish() -> None:
    wish = {"long": (1.0, 10.0), "short": (3.0, 0.5)}
    factors = time_factors(wish)
    # Counts grow with time: seconds * factor is what a workload contributes.
    parts = {name: seconds * factors[name] for name, (_, seconds) in wish.items()}
    assert parts["short"] / parts["long"] == pytest.approx(3.0, rel=0.02)
    assert max(factors.values()) == SCALE


def test_factors_never_fall_to_zero_or_divide_by_it() -> None:
    factors = time_factors({"instant": (1.0, 0.0), "hour": (0.001, 3600.0)})
    assert factors == {"instant": SCALE, "hour": 1}


def write(folder: Path, name: str, text: str = LINES) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_counts_are_multiplied_and_added(tmp_path: Path) -> None:
    edges = Edges()
    assert edges.add_file(write(tmp_path, "a"), 3)
    assert edges.add_file(write(tmp_path, "b"), 1)
    assert edges.taken == {"1 malloc 2b 1 malloc 41": 400, "1 refill/1 79 1 write@PLT 0": 168}
    assert edges.missed["1 refill/1 79 1 write@PLT 0"] == 12


@pytest.mark.parametrize(
    "text", ["", "1 malloc 2b 1 malloc 41 0\n", LINES + "garbage\n", "\0" * 80]
)
def test_corrupt_counts_add_nothing(text: str, tmp_path: Path) -> None:
    edges = Edges()
    assert not edges.add_file(write(tmp_path, "a", text), 3)
    assert not edges.taken


def test_same_sum_as_llvms_own_tool(tmp_path: Path) -> None:
    edges, files = Edges(), [write(tmp_path, "a"), write(tmp_path, "b")]
    for path in files:
        edges.add_file(path, 1)
    edges.write(tmp_path / "ours")
    theirs = run([find_llvm() / "merge-fdata", *files]).stdout.splitlines()
    ours = (tmp_path / "ours").read_text(encoding="utf-8").splitlines()
    assert sorted(ours) == sorted(theirs)


def test_functions_lose_bolts_suffix(tmp_path: Path) -> None:
    edges = Edges()
    edges.add_file(write(tmp_path, "a"), 1)
    assert edges.functions() == {"malloc", "refill", "write@PLT"}
