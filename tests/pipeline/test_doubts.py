"""Runs that ended well and show nothing: a driver may hide that its client has failed."""

from __future__ import annotations

import io
from pathlib import Path

from conftest import TINY
from judge_support import pairs, result_of, throughput_of
from rich.console import Console

from pipeline.core.console import BuildConsole
from pipeline.core.receipt import Receipt
from pipeline.core.store import Artifact
from pipeline.profile.load import parse_profile
from pipeline.profile.workload import Command, Trace
from pipeline.report.build import Inputs, report_model
from pipeline.report.terminal import as_text
from pipeline.stages.build.doubts import (
    idle,
    learnt,
    short_recording,
    tell_doubts,
    words_to_stderr,
)

LOG = Path("logs") / "kv.log"


def played(folder: Path) -> Trace:
    """Return a recording that a quick run plays 100,000 calls of."""
    (folder / "tiny.toml").write_text(TINY, encoding="utf-8")
    workloads = parse_profile(folder / "tiny.toml").workload
    return next(one for one in workloads if isinstance(one, Trace))


def test_a_recording_far_shorter_than_what_is_played_of_it_is_told(tmp_path: Path) -> None:
    trace = played(tmp_path)
    assert short_recording(trace, "2,549 events of python3", 2549, LOG) == [
        (
            'the recording "sort-played" is short',
            "2,549 events of python3, which a run plays 39 times or more: did the program do its "
            "work? If so, give it more; log: logs/kv.log",
        )
    ]
    assert short_recording(trace, "50,000 events", 50_000, LOG) == []


def test_a_training_that_allocated_next_to_nothing_is_told() -> None:
    (doubt,) = idle("kv", 24_118, 0.023, LOG, starts=False)
    assert doubt == (
        'workload "kv" trains on next to nothing',
        "0.023 s of processor time, 24,118 counts in the library: did the program do its work? "
        "log: logs/kv.log",
    )
    assert idle("kv", 200_000, 0.023, LOG, starts=True)  # its start alone allocates so much
    assert not idle("replay", 200_000, 0.013, LOG, starts=False)
    assert not idle("kv", 200_000, 0.3, LOG, starts=True)


def test_what_a_run_that_ended_well_wrote_to_stderr_is_told() -> None:
    said = "\n  python3: can't open file 'nosuch.py'\nmore\n"
    (doubt,) = words_to_stderr("kv", said, LOG)
    assert doubt[1] == """"python3: can't open file 'nosuch.py'"; log: logs/kv.log"""
    assert not words_to_stderr("kv", "\n \n", LOG)


def test_a_recording_of_the_command_that_trains_is_told(tmp_path: Path) -> None:
    trace = played(tmp_path)
    assert trace.record is not None
    command = Command(
        name="kv", kind="command", role="train", argv=trace.record, weight=1, timeout_s=9
    )
    (doubt,) = learnt([command, trace])
    assert doubt[0] == 'workload "sort-played" judges by the command that trains'
    assert learnt([trace.model_copy(update={"role": "train"}), trace]) == [doubt]
    assert not learnt([trace])
    assert not learnt([command.model_copy(update={"argv": ("sort", "--other")}), trace])


def receipt(stage: str, *doubts: tuple[str, str]) -> Receipt:
    return Receipt(stage, "0" * 64, {}, {}, 1.0, {"doubts": [list(one) for one in doubts]})


def test_a_build_says_doubts_again_that_it_noted_before() -> None:
    written = io.StringIO()
    shop = type("Shop", (), {"console": BuildConsole(Console(file=written))})()
    tell_doubts(shop, Artifact(Path(), receipt("record", ("short", "9 events")), fresh=False))
    assert written.getvalue() == "note: short: 9 events\n"


def test_a_report_says_what_was_suspicious_about_recording_and_training() -> None:
    made = {
        "record": receipt("record", ("the recording is short", "9 events of sh")),
        "train": receipt("train", ("kv trains on next to nothing", "0.023 s")),
    }
    model = report_model(
        profile="kv",
        version="1",
        result=result_of(throughput_of(loop=pairs(1.03))),
        allow_neutral=False,
        inputs=Inputs(receipts=made, doubts=[("kv-played judges by the command", "learnt")]),
    )
    for wanted in (
        "worth a look: the recording is short: 9 events of sh",
        "worth a look: kv trains on next to nothing: 0.023 s",
        "worth a look: kv-played judges by the command: learnt",
    ):
        assert wanted in as_text(model)
