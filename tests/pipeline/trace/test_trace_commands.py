"""The commands: output, exit codes, and what they say to bad input."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import pytest
from trace_support import Recorder

ROOT = Path(__file__).resolve().parents[3]


def pipeline(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run ``pipeline`` as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "pipeline", *arguments], cwd=ROOT, capture_output=True, text=True
    )


def lines_until_closed(screen: TextIO) -> Iterator[str]:
    """Yield what a terminal shows until nobody writes to it, which Linux tells as an error."""
    with suppress(OSError):
        for line in screen:
            yield line.rstrip()


def test_record_and_info(recorder: Recorder) -> None:
    trace = recorder.folder / "my app.trace"
    done = pipeline("record", "-o", trace, "--", recorder.program, "fails")
    assert done.returncode == 7
    assert "recorded" in done.stderr
    assert "0 lost" in done.stderr
    assert f".venv/bin/pipeline trace info '{trace}'\n" in done.stderr
    assert "of the program's processor time" in done.stderr
    assert "warning: the command ended with exit code 7\n" in done.stderr
    shown = pipeline("trace", "info", trace)
    assert shown.returncode == 0
    for words in (
        "requests by size (up to, in powers of two;",
        "how long blocks live (",
        "live memory over time",
        "bytes per event",
    ):
        assert words in shown.stdout


def test_a_page_is_not_written_into_a_folder_that_is_not_there(
    recorder: Recorder, tmp_path: Path
) -> None:
    page = tmp_path / "typo" / "a.html"
    done = pipeline("trace", "info", recorder.program, "--html", page)
    assert (done.returncode, page.parent.exists()) == (2, False)
    assert f"there is no folder {page.parent}" in done.stderr


def test_a_file_in_place_of_a_command_gets_the_command(tmp_path: Path) -> None:
    trace = tmp_path / "my app.trace"
    trace.touch()
    done = pipeline("trace", trace)
    assert done.returncode == 2
    assert f"`.venv/bin/pipeline trace info '{trace}'` shows what is in it" in done.stderr


def test_of_many_processes_the_busiest_are_listed_in_a_line_each(recorder: Recorder) -> None:
    trace = recorder.folder / "many.trace"
    script = "for i in $(seq 20)\ndo env true\ndone; seq 9999 | sort -n >/dev/null"
    assert pipeline("record", "-o", trace, "--", "sh", "-c", script).returncode == 0
    lines = pipeline("trace", "info", trace).stdout.split("\n\n")[0].splitlines()
    assert len(lines) == 13 and lines[-1].startswith("and ") and "smaller" in lines[-1]
    assert all(line.startswith("process ") for line in lines[:-1])
    assert "sort -n" in lines[0]
    page = recorder.folder / "many.html"
    assert pipeline("trace", "info", trace, "--html", page).returncode == 0
    rows = page.read_text(encoding="utf-8").partition("Processes in this file")[2].split("<tr>")
    assert "sort -n" in rows[2], "the busiest comes first, as in the terminal"
    assert f"<td>{lines[0].split()[1].rstrip(':')}</td>" in rows[2]


def test_a_terminal_gets_lines_that_fit(recorder: Recorder) -> None:
    """Bars and command lines went beyond 80 columns, and broke the table."""
    trace = recorder.folder / "wide.trace"
    script = 'env true; seq 9999 | sort -n - "$@" >/dev/null'
    words = ["sh", "-c", script, "sh", *["/dev/null"] * 12]
    assert pipeline("record", "-o", trace, "--", *words).returncode == 0
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "pipeline", "trace", "info", str(trace)]
    shown = {**os.environ, "COLUMNS": "80"}
    with subprocess.Popen(command, cwd=ROOT, stdout=theirs, env=shown):
        os.close(theirs)
        with os.fdopen(ours, encoding="utf-8") as screen:
            lines = [*lines_until_closed(screen)]
    assert max(map(len, lines)) == 80
    assert any(line.startswith("process ") and line.endswith("…") for line in lines)
    assert any(line.startswith(f"{' ' * 25}/dev/null ") for line in lines)


def test_page_is_self_contained(recorder: Recorder) -> None:
    page = recorder.folder / "page.html"
    path = recorder.record("handed")
    assert pipeline("trace", "info", path, "--html", page).returncode == 0
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 4
    assert text.rstrip().endswith("</html>")
    for outside in ("http://", "https://", "src=", "href=", "@import"):
        assert outside not in text
    assert "&lt;" not in text.split("<table")[0]


@pytest.mark.parametrize(
    "command",
    [
        ("record", "-o", "{trace}", "--", "true"),
        ("trace", "cut", "{trace}", "--last", "9", "-o", "{trace}"),
        ("trace", "merge", "{trace}", "{trace}", "-o", "{trace}"),
        ("trace", "join", "{trace}", "-o", "{trace}"),
        ("trace", "anonymise", "{trace}", "-o", "{trace}"),
    ],
)
def test_a_trace_is_never_replaced(recorder: Recorder, command: tuple[str, ...]) -> None:
    path = recorder.record("calls")
    before = path.read_bytes()
    done = pipeline(*(word.format(trace=path) for word in command))
    assert (done.returncode, "exists already" in done.stderr) == (2, True), done.stderr
    assert path.read_bytes() == before


def test_all_traces_are_their_owners_alone(recorder: Recorder) -> None:
    path, folder = recorder.record("calls"), recorder.folder
    for command in (("cut", path, "--last", "9"), ("merge", path), ("anonymise", path)):
        output = folder / f"{command[0]}.trace"
        done = pipeline("trace", *command, "-o", output)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("process 0  about ")
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.glob("*.trace")} == {0o600}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("record", "--", "true"), 2, "Missing option"),
        (("record", "-o", "x.trace"), 2, "Missing argument"),
        (("record", "-o", "{folder}/x.trace", "--", "/no/such/program"), 4, "name or path right"),
        (("record", "-o", "/proc/x.trace", "--", "true"), 9, "cannot make /proc/x.trace.parts"),
        (("record", "-o", "x", "--sample", "0", "--", "true"), 2, "--sample"),
        (("trace", "info", "/no/such/file"), 2, "does not exist"),
        (("trace", "info", "{root}/README.md"), 7, "not a trace"),
        (("trace", "info", "{trace}", "--process", "9"), 2, "there is no process 9; it has 1"),
        (("trace", "info", "{trace}", "--html", "/proc/x.html"), 9, "cannot write /proc/x.html"),
        (("trace", "cut", "{trace}", "-o", "x", "--first", "9", "--last", "3"), 2, "lies before"),
        (
            ("trace", "cut", "{trace}", "-o", "{folder}/x", "--first", "9000", "--last", "9001"),
            2,
            "ends before event 9,000",
        ),
        (
            ("trace", "cut", "{trace}", "-o", "{folder}/x", "--process", "9", "--last", "1"),
            2,
            "there is no process 9",
        ),
        (("trace", "merge", "{root}/README.md", "-o", "{folder}/x"), 7, "not a trace"),
        (("trace", "join", "{root}/README.md", "-o", "{folder}/x"), 7, "not a trace"),
        (("trace", "anonymise", "{trace}", "-o", "/proc/x"), 9, "cannot be written"),
    ],
)
def test_bad_input_is_named(
    recorder: Recorder, arguments: tuple[str, ...], code: int, words: str
) -> None:
    places = {"root": ROOT, "folder": recorder.folder, "trace": recorder.record("calls")}
    done = pipeline(*(argument.format(**places) for argument in arguments))
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr
    assert {path.name for path in recorder.folder.iterdir()} <= {"a.trace", "crash"}


def test_a_left_over_recording_says_what_to_do(recorder: Recorder) -> None:
    (recorder.folder / "b c.trace.parts").mkdir()
    done = pipeline("record", "-o", recorder.folder / "b c.trace", "--", "true")
    assert done.returncode == 2
    assert f"pipeline trace join -o '{recorder.folder}/b c.trace' '" in done.stderr


def test_ctrl_c_goes_to_the_program_and_the_trace_is_kept(recorder: Recorder) -> None:
    trace = recorder.folder / "app.trace"
    script = 'trap "exit 5" INT; echo ready; while sort -u /dev/null; do sleep 0.05; done'
    heeding = ("env", "--default-signal=INT", sys.executable)
    child = subprocess.Popen(
        [*heeding, "-m", "pipeline", "record", "-o", str(trace), "--", "sh", "-c", script],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    os.killpg(child.pid, signal.SIGINT)
    _, errors = child.communicate()
    assert (child.returncode, "recorded" in errors) == (5, True), errors
    assert trace.is_file()


def test_processes_left_behind_are_waited_for(recorder: Recorder) -> None:
    trace = recorder.folder / "app.trace"
    done = pipeline("record", "-o", trace, "--", "sh", "-c", "(sleep 0.3; sort VERSION) & exit 3")
    assert (done.returncode, done.stdout.strip()) == (3, (ROOT / "VERSION").read_text().strip())
    assert any(t.process.name == "sort VERSION" for t in recorder.every(trace))
