"""Weights by work, in whole numbers for PGO and multiplied counts for BOLT."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.process import run
from pipeline.stages.pgo.train import SCALE, work_factors
from pipeline.toolchain.fdata import Edges
from pipeline.toolchain.find import find_llvm

LINES = "1 malloc 2b 1 malloc 41 0 100\n1 refill/1 79 1 write@PLT 0 3 42\n"


def test_share_of_counts_follows_the_wish() -> None:
    wish = {"long": (1.0, 1_000_000), "short": (3.0, 5_000)}
    factors = work_factors(wish)
    parts = {name: work * factors[name] for name, (_, work) in wish.items()}
    assert parts["short"] / parts["long"] == pytest.approx(3.0, rel=0.02)
    assert max(factors.values()) == SCALE


def test_factors_never_fall_to_zero_or_divide_by_it() -> None:
    factors = work_factors({"short": (1.0, 1), "long": (0.001, 10**9)})
    assert factors == {"short": SCALE, "long": 1}


def test_what_never_used_the_library_does_not_weigh_on_the_others() -> None:
    shares = {"idle": (1.0, 0), "one": (1.0, 100), "two": (1.0, 200)}
    assert work_factors(shares) == {"idle": 1, "one": SCALE, "two": SCALE // 2}
    assert work_factors({"idle": (1.0, 0)}) == {"idle": 1}


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
