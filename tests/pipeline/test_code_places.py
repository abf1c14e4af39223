"""Programs with their code at other places: cmake/places.cmake."""

from __future__ import annotations

from pathlib import Path

from conftest import Sandbox

from pipeline.core.places import PLACES
from pipeline.toolchain.find import find_toolchain
from pipeline.toolchain.symbols import functions

STEP, PERIOD = 32, 512


def test_code_lies_elsewhere_in_each_program(built: Sandbox, tmp_path: Path) -> None:
    folder = built.artifacts("baseline")[-1] / "bench"
    names = [folder / "placed" / f"random_mixed-{place}" for place in range(1, PLACES)]
    nm = find_toolchain().path("llvm-nm")
    found = [functions(nm, name, tmp_path / "nm.log") for name in names]
    loops = [next(f.address for f in one if f.name == "slot_run") for one in found]
    ahead = [(loop - loops[0]) % PERIOD for loop in loops]
    assert ahead == [STEP * place for place in range(PLACES - 1)]
    assert {name.name for name in names} == {
        p.name for p in (folder / "placed").glob("random_mixed-*")
    }
