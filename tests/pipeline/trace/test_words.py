"""What is said about a process, whatever its numbers and its name are."""

from __future__ import annotations

import pytest
from trace_support import Recorder

from pipeline.stages.build.tried import seen
from pipeline.trace.read import Process, processes
from pipeline.trace.record import Wishes
from pipeline.trace.statistics import statistics
from pipeline.trace.words import facts, overhead

NAMELESS = Process(
    command="",
    damage="",
    flags=0,
    sample=1,
    pid=1,
    parent=0,
    started_ns=0,
    sealed_events=1,
    about_events=1,
    sealed_bytes=1,
    lost=0,
    left_out=0,
    recorder_ns=0,
    run_ns=0,
    cpu_ns=0,
    threads=1,
    closed=True,
)


@pytest.mark.parametrize(
    ("recorder_ns", "cpu_ns", "words"),
    [
        (0, 100, "unknown"),
        (20, 120, "at least 20 % of the program's processor time"),
        (120, 120, "unknown, the estimate is above all of the program's processor time"),
        (900, 120, "unknown, the estimate is above all of the program's processor time"),
    ],
)
def test_an_estimate_that_cannot_be_true_is_not_shown(
    recorder_ns: int, cpu_ns: int, words: str
) -> None:
    process = NAMELESS.model_copy(update={"recorder_ns": recorder_ns, "cpu_ns": cpu_ns})
    assert overhead(process) == words


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (b"", "-"),
        (b"sort\0-n\0", "sort -n"),
        ("grüße\0ö".encode(), "grüße ö"),
        (b"sh\0-c\0one\ntwo\x1b[31m", "sh -c one two [31m"),
        ("ab€".encode()[:-1], "ab\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_names_are_one_line_that_a_terminal_can_show(command: bytes, name: str) -> None:
    assert NAMELESS.model_copy(update={"command": command.decode("latin-1")}).name == name


def test_the_bytes_of_an_event_in_a_ring_are_of_those_that_are_there(recorder: Recorder) -> None:
    whole = recorder.read(recorder.record("loop", "1000000"))
    ring = recorder.read(recorder.record("loop", "1000000", name="b", wishes=Wishes(ring_mib=1)))
    told = [dict(facts(statistics(trace)))["trace file"] for trace in (whole, ring)]
    assert all(one.endswith(" bytes per event") for one in told)  # of the file, not of a request
    figures = [float(one.split()[0]) for one in told]
    assert figures[1] == pytest.approx(figures[0], rel=0.1)


def test_a_command_that_is_tried_counts_what_its_ring_has_lost(recorder: Recorder) -> None:
    path = recorder.record("loop", "1000000", wishes=Wishes(ring_mib=1))
    (told,) = seen(1.0, processes(recorder.tools, path))
    assert "about 2,000," in told
