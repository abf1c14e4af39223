"""bench/recorded: what recording costs a program."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from trace_support import Recorder

from bench.harness.recorded import main

ROOT = Path(__file__).parents[3]


def test_it_says_times_events_and_bytes(recorder: Recorder) -> None:
    file = recorder.folder / "pairs.json"
    done = subprocess.run(
        [
            ROOT / "bench/recorded",
            "--pairs",
            "3",
            "--json",
            file,
            "--",
            recorder.program,
            "loop",
            "5000",
        ],
        cwd=recorder.folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    number = r"\d+\.\d\d"
    assert re.search(rf"processor time: {number} \[{number}, {number}\] times", done.stdout)
    events = re.search(r"events: +([\d,]+), (\d\.\d\d) bytes each", done.stdout)
    assert events is not None
    assert int(events[1].replace(",", "")) >= 10_000
    assert 1 < float(events[2]) < 8
    assert list(recorder.folder.iterdir()) == [file]
    pairs = json.loads(file.read_text(encoding="utf-8"))
    assert [pair["events"] for pair in pairs] == [int(events[1].replace(",", ""))] * 3
    assert all(pair["cpu_ratio"] > 0 for pair in pairs)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no-such-program"], "no-such-program: No such file or directory"),
        ([sys.executable, "-c", "raise SystemExit(3)"], "ended with 3"),
    ],
)
def test_a_program_that_does_not_run_is_named(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["--pairs", "3", "--", *words])
    assert (result.exit_code, list(tmp_path.iterdir())) == (1, [])
    assert message in result.output


def test_wrong_use_is_refused() -> None:
    result = CliRunner().invoke(main, ["--pairs", "1", "--", "true"])
    assert result.exit_code == 2
    assert "1 is not in the range x>=3" in result.output
