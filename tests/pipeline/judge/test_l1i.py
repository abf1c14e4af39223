"""The machine's instruction cache, and the caches that a judgement simulates beside it."""

from pathlib import Path

import pytest

from pipeline.judge.judging import geometries
from pipeline.judge.l1i import FALLBACK, SWEEP, machine_l1i
from pipeline.judge.request import CacheGeometry, Mode


def cache_index(root: Path, number: int, **fields: str) -> None:
    folder = root / f"index{number}"
    folder.mkdir(parents=True)
    for name, value in fields.items():
        (folder / name).write_text(value + "\n")


def l1i(size: str, ways: str) -> dict[str, str]:
    return {
        "level": "1",
        "type": "Instruction",
        "size": size,
        "ways_of_associativity": ways,
        "coherency_line_size": "64",
    }


def test_the_machines_cache_is_read(tmp_path: Path) -> None:
    cache_index(tmp_path, 0, level="1", type="Data", size="48K")
    cache_index(tmp_path, 1, **l1i("64K", "16"))
    assert machine_l1i(tmp_path) == (CacheGeometry(65536, 16, 64), "sysfs")


@pytest.mark.parametrize(("size", "ways"), [("64K", "0"), ("48K", "8"), ("?", "8")])
def test_a_cache_that_cannot_be_simulated_falls_back(tmp_path: Path, size: str, ways: str) -> None:
    cache_index(tmp_path, 1, **l1i(size, ways))
    assert machine_l1i(tmp_path) == (FALLBACK, "fallback")


def test_no_description_falls_back(tmp_path: Path) -> None:
    assert machine_l1i(tmp_path / "none") == (FALLBACK, "fallback")


@pytest.mark.parametrize(("mode", "points"), [("quick", 0), ("default", 0), ("thorough", 8)])
def test_the_curve_has_as_many_points_as_the_mode_pays_for(mode: Mode, points: int) -> None:
    own, *curve = geometries(mode)
    assert own == machine_l1i()[0]
    assert len(curve) == points
    assert set(curve) <= set(SWEEP)
