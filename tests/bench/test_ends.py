"""A command of bench/ that is ended from outside ends what it has started."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"


def commands() -> dict[str, Path]:
    """Return the file that Python starts for each script of ``bench/``."""
    found = {}
    for script in (one for one in BENCH.iterdir() if one.is_file() and not one.suffix):
        text = script.read_text(encoding="utf-8")
        if module := re.search(r'run\.sh" (\w+)|-m bench\.harness\.(\w+)', text):
            place = BENCH / "harness" / (module[1] or module[2])
            found[script.name] = place / "__main__.py" if place.is_dir() else Path(f"{place}.py")
    return found


def test_each_command_is_looked_at() -> None:
    assert {"compare", "recorded", "verdict_rates", "programs"} <= commands().keys()


@pytest.mark.parametrize("name", sorted(commands()))
def test_a_command_that_is_ended_from_outside_is_interrupted(name: str) -> None:
    """Else SIGTERM ends Python alone, and compilers and programs go on."""
    assert "\ninterrupts.install()" in commands()[name].read_text("utf-8").replace("\n    ", "\n")
