"""bench/compare as a user meets it: bad input is refused, and an interrupt loses nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.harness import compare, instructions, saved
from bench.harness.allocators import REPOSITORY
from bench.harness.compare import main
from pipeline.core.errors import PipelineError

COMPARE = REPOSITORY / "bench" / "compare"
RESULT = (
    "bench=x ops=1000 seconds=0.00001 peak_rss_kib=2048 cpu_seconds=0.00001 allocator=libours.so"
)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder in which `patterns` ends at once; `tree_build` makes a file `begun` and does not."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, text in {
        "patterns": f"echo {RESULT}",
        "tree_build": f"touch {folder}/begun; sleep 600",
    }.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def ours(tmp_path: Path) -> str:
    library = tmp_path / "libours.so"
    library.touch()
    return f"ours={library}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scale", "0"], "is not a number above 0"),
        (["--scale", "nan"], "is not a number above 0"),
        (["--timeout", "-1"], "is not a number above 0"),
        (["--timeout", "inf"], "is not a number above 0"),
        (["--threads", "3"], "no row has so many threads"),
        (["--json", "FOLDER"], "is a directory"),
        (["--json", "FOLDER/a", "--markdown", "FOLDER/a"], "are the same file"),
        (["--peer", "OURS"], "two allocators are called ours"),
        (["--row", "server"], "has no program server"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_runs(
    arguments: list[str], message: str, ours: str, programs: Path, tmp_path: Path
) -> None:
    words = [word.replace("FOLDER", str(tmp_path)).replace("OURS", ours) for word in arguments]
    usual = ["--ours", ours, "--only", "--row", "calloc/1t", "--programs", str(programs)]
    done = CliRunner().invoke(main, [*usual, *words])
    assert done.exit_code == (4 if "program" in message else 2)
    assert message in done.output
    assert "calloc" not in done.output


@pytest.mark.parametrize(
    ("sent", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_what_was_measured_is_written_when_it_is_interrupted(
    sent: signal.Signals, code: int, ours: str, programs: Path, tmp_path: Path
) -> None:
    found = tmp_path / "found.json"
    rows = ["--row", "calloc/1t", "--row", "tree/1t"]
    process = subprocess.Popen(
        [
            COMPARE,
            "--ours",
            ours,
            "--only",
            *rows,
            "-n",
            "2",
            "--programs",
            programs,
            "--json",
            found,
        ],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (programs / "begun").exists():  # an earlier signal would end the first row
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(sent)
    output, _ = process.communicate()
    assert process.returncode == code
    written = json.loads(found.read_text(encoding="utf-8"))
    (row,) = written["rows"]
    assert row["name"] == "calloc/1t"
    assert len(row["allocators"]["ours"]["samples"]) == 2
    if code == 130:
        assert written["environment"]["interrupted"] is True
        assert "interrupted in row 2 of 2" in output


def test_an_option_that_the_library_refuses_is_no_measurement(ours: str, programs: Path) -> None:
    complaint = "hakmem: HAKMEM_PURGE_DELAY=x is not a number"
    (programs / "patterns").write_text(f"#!/bin/sh\necho {complaint} >&2\necho {RESULT}\n")
    usual = ["--ours", ours, "--only", "--row", "calloc/1t", "--programs", str(programs)]
    done = CliRunner().invoke(main, usual)
    assert done.exit_code == 1
    assert f"failed: calloc/1t: ours: {complaint}" in done.output


def test_a_library_that_is_linked_again_meanwhile_is_measured_as_it_was(
    ours: str, programs: Path
) -> None:
    """The program stands for a build beside it: it writes the library anew in each run."""
    library = Path(ours.partition("=")[2])
    library.write_text("old", encoding="utf-8")
    seen = programs / "seen"
    text = f"cat $LD_PRELOAD >>{seen}; echo new >{library}; echo {RESULT}"
    (programs / "patterns").write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    usual = ["--ours", ours, "--only", "--row", "calloc/1t", "--programs", str(programs)]
    done = CliRunner().invoke(main, [*usual, "-n", "3"])
    assert done.exit_code == 0, done.output
    assert seen.read_text(encoding="utf-8") == "old" * 3
    assert library.read_text(encoding="utf-8") == "new\n"


def test_a_busy_machine_is_named_below_the_figures(
    ours: str, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = ["--ours", ours, "--only", "--row", "calloc/1t", "--programs", str(programs), "-n", "1"]
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for load, told in ((9.0, True), (1.0, False)):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, load, load))
        output = CliRunner().invoke(main, usual).output
        assert ("note: the machine was busy (load 9 on 2 CPUs)" in output) == told, output


COMMANDS = ["compare", "instructions", "memory", "places", "programs", "recorded", "result"]
COMMANDS += ["servers", "verdict_rates"]


@pytest.mark.parametrize("name", COMMANDS)
def test_without_its_packages_it_says_how_to_get_them(tmp_path: Path, name: str) -> None:
    harness = tmp_path / "bench" / "harness"
    harness.mkdir(parents=True)
    shutil.copy(REPOSITORY / "bench" / name, harness.parent)
    shutil.copy(REPOSITORY / "bench" / "harness" / "run.sh", harness)
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    (tmp_path / "python3").chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        [harness.parent / name], env=path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 4
    assert done.stderr.endswith(f"{tmp_path}/bootstrap doctor\n")


def test_instructions_says_why_valgrind_gives_up(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text("### unhandled dwarf2 abbrev form code 0x25\n", encoding="utf-8")
    error = PipelineError("valgrind: exit code 1")
    assert "-gdwarf-4" in instructions._reason(error, log)
    assert instructions._reason(error, tmp_path / "none.log") == "valgrind: exit code 1"


def test_a_saved_comparison_has_a_page_and_the_next_one_does_not_replace_it(
    ours: str, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(compare, "today", lambda: ("2026-01-02", "intel-x"))
    words = ["--ours", ours, "--only", "--row", "calloc/1t", "--programs", str(programs), "--save"]
    for _ in range(2):
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
    assert re.search(r"stays out of docs/results/allocators.md.* has\s1 of \d\d rows", done.output)
    name = "compare-2026-01-02-intel-x"
    names = [f"{name}{end}" for end in ("-2.json", "-2.md", ".json", ".md")]
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == names
    page = (tmp_path / "results" / f"{name}.md").read_text(encoding="utf-8")
    found = json.loads((tmp_path / "results" / f"{name}.json").read_text(encoding="utf-8"))
    assert [row["name"] for row in found["rows"]] == ["calloc/1t"]
    assert f"({name}.json)" in page
    assert "| calloc/1t |" in page
    assert all(len(line) <= 130 for line in page.splitlines() if not line.startswith("|"))
    assert found["environment"]["processor"] in page
