"""What a person sees of a stage while it works, on a narrow terminal."""

from __future__ import annotations

import io
import re

from rich.console import Console

from pipeline.core.console import BuildConsole
from pipeline.stages import NAMES

LONG = "counting icache-pressure-wide (valgrind, 8 KiB, 8-way, 64 B lines) " * 2


def lines_of(name: str, step: str) -> list[str]:
    """Return the lines that an 80 columns wide terminal was sent, without colours."""
    sent = io.StringIO()
    console = BuildConsole(Console(file=sent, force_terminal=True, width=80))
    with console.stage(name) as line:
        line.step(step)
        line.done("done")
    return re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sent.getvalue()))


def test_a_long_step_leaves_the_stage_and_its_time_whole() -> None:
    shown = [line for line in lines_of("verify", LONG) if "counting" in line]
    assert shown
    for line in shown:
        assert re.match(r"\S verify +0:00:0\d counting icache", line)
        assert len(line) <= 80


def test_all_stages_stand_in_one_column() -> None:
    places = {lines_of(name, "")[-2].index(" s  done") for name in NAMES}
    assert len(places) == 1
