"""What a person sees of a stage while it works, on a narrow terminal."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from pipeline.commands.workshop import tell_load
from pipeline.core.console import QUIET_S, BuildConsole, StageLine, StageLog
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


def test_brackets_in_a_step_are_no_markup() -> None:
    assert any(
        "counting my[b]server" in line for line in lines_of("verify", "counting my[b]server")
    )


def test_a_step_says_how_much_of_it_is_done() -> None:
    said: list[str] = []
    line = StageLine(said.append)
    line.step("compiling the library")
    line.part(3, 98)
    line.part(4, 98)
    assert said[1:] == ["compiling the library, 3 of 98", "compiling the library, 4 of 98"]


@pytest.mark.parametrize("terminal", [True, False])
def test_a_sentence_is_wrapped_on_a_terminal_alone_and_a_line_to_copy_never(terminal: bool) -> None:
    sent = io.StringIO()
    console = BuildConsole(Console(file=sent, force_terminal=terminal, width=80))
    console.prose("next: " + "word " * 30)
    console.say("LD_PRELOAD=" + "word " * 30)
    *wrapped, line = sent.getvalue().splitlines()
    assert len(wrapped) == (2 if terminal else 1)
    assert all(len(one) <= 80 for one in wrapped) == terminal
    assert len(line) > 80


def test_all_stages_stand_in_one_column() -> None:
    places = {lines_of(name, "")[-2].index(" s  done") for name in NAMES}
    assert len(places) == 1


def log_of(times: list[float]) -> list[str]:
    """Return what a log gets of a stage that makes a step at each of ``times``."""
    sent, now = io.StringIO(), [0.0]
    console = BuildConsole(Console(file=sent, force_terminal=False), clock=lambda: now[0])
    with console.stage("verify") as line:
        for at in times:
            now[0] = at
            line.step(f"pair at {at:g}")
        line.done("GO")
    return sent.getvalue().splitlines()


def test_a_log_shows_steps_now_and_then() -> None:
    every_second = [float(second) for second in range(int(2 * QUIET_S) + 5)]
    assert log_of(every_second) == [
        "verify: started",
        "verify: pair at 20 (for 20 s now)",
        "verify: pair at 40 (for 40 s now)",
        "verify: done in 44.0 s: GO",
    ]


def test_a_log_shows_no_steps_of_a_short_stage() -> None:
    assert log_of([1.0, 2.0, QUIET_S - 0.1]) == ["verify: started", "verify: done in 19.9 s: GO"]


def test_a_log_tells_a_step_that_takes_long_again() -> None:
    said: list[str] = []
    now = [0.0]
    log = StageLog("record", said.append, lambda: now[0])
    log.step("recording shop-played, limit 300 s")
    for at in (5.0, QUIET_S, QUIET_S + 5, 2 * QUIET_S):
        now[0] = at
        log.remind()
    assert said == [
        "record: recording shop-played, limit 300 s (for 20 s now)",
        "record: recording shop-played, limit 300 s (for 40 s now)",
    ]


def test_a_busy_machine_is_told_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    for load, told in ((1000.0, True), (0.0, False)):
        monkeypatch.setattr("os.getloadavg", lambda load=load: (load, 0.0, 0.0))
        sent = io.StringIO()
        tell_load(BuildConsole(Console(file=sent)))
        assert ("note: load 1000 on" in sent.getvalue()) is told
