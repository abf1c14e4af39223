"""The door for child processes: environment, time limits, logs, and what becomes of children."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from pipeline.core import beside, child, interrupts, process
from pipeline.core.errors import ChildFailed, ChildTimeout, ToolError
from pipeline.core.pool import pool
from pipeline.core.watching import steps_of_ninja

ROOT = Path(__file__).resolve().parents[2]


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until_gone(pid: int) -> None:
    while is_alive(pid):  # a process that stays lets the test hang, which pytest ends
        time.sleep(0.02)


@pytest.mark.parametrize(
    "name", ["HAKMEM_PURGE_DELAY", "LLVM_PROFILE_FILE", "LD_PRELOAD", "CFLAGS", "GIT_DIR"]
)
def test_stray_variables_stay_outside(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "")
    assert f"\n{name}=" not in "\n" + process.run(["env"]).stdout


def test_a_folder_for_temporary_files_that_is_not_there_stays_outside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TMPDIR", "/no/such/folder")
    monkeypatch.setattr(tempfile, "tempdir", None)
    process.run(["sh", "-c", 'test -w "$TMPDIR"'])


def test_a_log_names_a_program_whose_name_is_no_text(tmp_path: Path) -> None:
    process.run(["echo", "a\udcff"], log=tmp_path / "log")
    assert (tmp_path / "log").read_text("utf-8").startswith("$ echo 'a\\udcff'\n")


def test_given_variables_arrive() -> None:
    assert process.run(["sh", "-c", "echo $HAKMEM_X"], env={"HAKMEM_X": "7"}).stdout == "7\n"


def test_what_ninja_has_done_is_told_while_it_works(tmp_path: Path) -> None:
    """The second step waits until the first one is told."""
    rule = "rule do\n command = until [ -e $in ]; do sleep 0.02; done; touch $out\n"
    (tmp_path / "build.ninja").write_text(
        f"{rule}build one: do build.ninja\nbuild two: do told | one\nbuild told: phony\n", "utf-8"
    )
    seen = set()

    def tell(done: int, total: int) -> None:
        seen.add((done, total))
        (tmp_path / "told").touch()

    process.run(["ninja", "-C", tmp_path], look=steps_of_ninja(tell))
    assert (1, 2) in seen and (tmp_path / "two").exists()


def test_failure_carries_code_and_last_words() -> None:
    with pytest.raises(ChildFailed, match="exit code 3\n  sorry") as caught:
        process.run(["sh", "-c", "echo sorry >&2; exit 3"])
    assert caught.value.returncode == 3


def test_how_a_child_failed_is_known_without_its_name() -> None:
    with pytest.raises(ChildFailed) as caught:
        process.run(["/bin/sh", "-c", "exit 3"])
    assert (caught.value.message, caught.value.how) == ("sh: exit code 3", "exit code 3")
    assert caught.value.program == "sh"


def test_death_by_signal_is_named() -> None:
    with pytest.raises(ChildFailed, match="killed by SIGSEGV"):
        process.run(["sh", "-c", "kill -SEGV $$"])


def test_a_shells_code_of_a_signal_is_named_too() -> None:
    assert process.describe_exit(139) == "exit code 139, a shell's for SIGSEGV"
    assert process.describe_exit(-signal.SIGSEGV) == "killed by SIGSEGV"


@pytest.mark.parametrize("code", [0, 1, 127, 128, 129, 255])
def test_other_codes_are_numbers_alone(code: int) -> None:
    """git ends with 129 where its words are wrong: no signal."""
    assert process.describe_exit(code) == f"exit code {code}"


def test_expected_codes_are_no_failure() -> None:
    assert process.run(["sh", "-c", "exit 3"], expect=(3,)).returncode == 3
    assert process.run(["sh", "-c", "kill -9 $$"], expect=None).returncode == -signal.SIGKILL


def test_missing_program_is_a_tool_error() -> None:
    with pytest.raises(ToolError, match="cannot start no-such-program"):
        process.run(["no-such-program"])


def test_time_out_kills_grandchildren_too(tmp_path: Path) -> None:
    note, limit_s = tmp_path / "pid", 0.3
    while not (note.exists() and note.read_text()):  # a busy machine may start it later
        limit_s *= 2
        with pytest.raises(ChildTimeout, match=f"limit of {limit_s} s"):
            process.run(["sh", "-c", f"sleep 60 & echo $! > {note}; wait"], timeout_s=limit_s)
    wait_until_gone(int(note.read_text()))


def test_background_child_that_keeps_output_open_does_not_hang_us() -> None:
    done = process.run(["sh", "-c", "sleep infinity & echo done"])
    assert done.stdout == "done\n"


def test_times_are_seconds() -> None:
    done = process.run(["sh", "-c", "sleep 0.2"])
    assert 0.2 <= done.seconds < 200
    assert done.cpu_seconds < 0.2


def test_times_begin_with_the_child_however_late_we_see_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = child.start

    def seen_late(*arguments: Any) -> subprocess.Popen[bytes]:
        started = real(*arguments)
        time.sleep(0.3)
        return started

    monkeypatch.setattr(process, "start", seen_late)
    assert process.run(["sleep", "0.2"]).seconds >= 0.2


def test_what_a_program_leaves_behind_is_waited_for_and_nobody_else(tmp_path: Path) -> None:
    note = tmp_path / "left behind"
    ours = subprocess.Popen(["sleep", "600"])  # as a helper of some package that runs beside us
    script = f"(sleep 0.3; echo done >'{note}') & exit 3"
    try:
        assert beside.run_as_it_is(["sh", "-c", script]) == 3
        assert note.read_text() == "done\n"
        assert ours.poll() is None
    finally:
        ours.kill()
        ours.wait()


def test_log_begins_with_a_line_to_paste(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "child.log"
    process.run(["sh", "-c", 'echo "$A"; echo err >&2'], env={"A": "x y"}, log=log, cwd=tmp_path)
    first, *rest = log.read_text(encoding="utf-8").splitlines()
    assert rest[:4] == ["--- stdout", "x y", "--- stderr", "err"]
    again = subprocess.run(["sh", "-c", first.removeprefix("$ ")], capture_output=True, text=True)
    assert again.stdout == "x y\n"


def test_standard_input_is_a_file_or_empty(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("text", encoding="utf-8")
    assert process.run(["cat"], stdin=tmp_path / "in").stdout == "text"
    assert process.run(["cat"]).stdout == ""


def test_killed_pipeline_takes_its_child_along(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = (
        "from pipeline.core.process import run\n"
        f"run(['sh', '-c', 'echo $$ > {note}; exec sleep 60'])"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    while not (note.exists() and note.read_text()):
        time.sleep(0.02)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    wait_until_gone(int(note.read_text()))


def test_a_child_whose_parent_died_before_it_was_tied_does_not_run() -> None:
    code = "import os; from pipeline.core.child import die_with; die_with(os.getpid())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_an_interrupt_between_start_and_wait_leaves_no_child(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = []

    def interrupted(begun: subprocess.Popen[bytes], _timeout_s: float | None) -> bool:
        started.append(begun.pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(child, "_wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        process.run(["sleep", "60"])
    assert not Path(f"/proc/{started[0]}").exists()


@pytest.mark.parametrize("end", ["list(found)", "pass", "raise OSError"])
def test_an_interrupt_ends_the_children_that_threads_wait_for(end: str) -> None:
    """Also one that comes behind the block, where its threads still work."""
    script = f"""
import os, signal, threading
from pipeline.core import interrupts
from pipeline.core.errors import ChildError
from pipeline.core.pool import pool
from pipeline.core.process import run
interrupts.install()

def work(number):
    try:
        run(["sh", "-c", "echo begun >&2; exec sleep 600"], log=None)
    except ChildError:
        run(["sleep", "600"])

with pool(2) as threads:
    found = threads.map(work, range(4))
    threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
    {end}
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert "KeyboardInterrupt" in done.stderr and done.returncode != 0


CHILD_THAT_LASTS = """
import signal
from pipeline.core import interrupts
from pipeline.core.process import run
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup may have started the tests
interrupts.install()
run(["sh", "-c", "(sleep 600; true) & echo $! >$0.new; mv $0.new $0; wait", {note!r}])
"""


def test_a_terminal_that_is_closed_ends_what_children_have_started(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = CHILD_THAT_LASTS.format(note=str(note))
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stderr=subprocess.DEVNULL)
    while not note.exists():
        time.sleep(0.02)
    parent.send_signal(signal.SIGHUP)
    parent.wait()
    wait_until_gone(int(note.read_text()))


def test_nohup_keeps_us_alive_without_a_terminal() -> None:
    script = """
import os, signal
from pipeline.core import interrupts
interrupts.install()
with interrupts.calling(lambda: os._exit(1)):
    os.kill(os.getpid(), signal.SIGHUP)
"""
    words = ["nohup", sys.executable, "-c", script]
    subprocess.run(words, cwd=ROOT, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def test_a_thread_that_starts_children_neither_ends_a_hold_nor_takes_its_interrupt() -> None:
    before = signal.signal(signal.SIGINT, interrupts._arrive)
    try:
        with interrupts.held(), pool(1) as threads:
            threads.submit(process.run, ["true"]).result()
            os.kill(os.getpid(), signal.SIGINT)
            threads.submit(process.run, ["true"]).result()
    except KeyboardInterrupt:
        pytest.fail("it was raised inside the block")
    finally:
        signal.signal(signal.SIGINT, before)
    with pytest.raises(KeyboardInterrupt):
        interrupts.check()


def test_an_interrupt_while_a_child_starts_is_raised_afterwards() -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    interrupts.install()
    try:
        with interrupts.held():
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            process.run(["sleep", "30"])
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 128 + 15), (signal.SIGHUP, 128 + 1)]
)
def test_a_signal_that_comes_with_the_start_reaches_the_program_alone(
    number: int, code: int
) -> None:
    """The program may run, and its terminal's ctrl-C come, before we know that it has started."""
    script = f"""
import os, signal, subprocess, sys
from pipeline.core import beside, interrupts
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup may have started the tests
interrupts.install()
real = subprocess.Popen
def hurried(*arguments, **options):
    child = real(*arguments, **options)
    os.kill(os.getpid(), {number:d})
    return child
subprocess.Popen = hurried
sys.exit(beside.run_as_it_is(["sleep", "{0 if number == signal.SIGINT else 60}"]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, "")


def test_what_a_program_leaves_behind_ends_by_ctrl_c() -> None:
    """As a server that a script has started: a shell lets it ignore ctrl-C."""
    script = """
import sys
from pipeline.core import beside, interrupts
interrupts.install()
sys.exit(beside.run_as_it_is(["sh", "-c", "sleep 600 & exit 3"]))
"""
    child = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None
    said = child.stderr.readline()
    assert re.match(r"the command has ended, and has left behind: s\w+ \(process \d+\)", said)
    while child.poll() is None:
        child.send_signal(signal.SIGINT)
        time.sleep(0.1)
    assert child.returncode == 3


DEAF = "trap '' INT TERM; echo $$ >$0.new; mv $0.new $0; while :; do sleep 0.1; done"


def test_one_ctrl_c_ends_what_is_left_behind_and_deaf(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = f"""
import sys
from pipeline.core import beside, interrupts
interrupts.install()
sys.exit(beside.run_as_it_is(["sh", "-c", 'sh -c "$0" "$1" & exit 3', {DEAF!r}, {str(note)!r}]))
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True)
    assert parent.stderr is not None
    assert "has left behind: sh (process" in parent.stderr.readline()
    parent.send_signal(signal.SIGINT)
    said = parent.stderr.read()
    assert parent.wait() == 3
    left = f"sh (process {note.read_text().strip()})"
    assert said.splitlines()[:2] == [
        f"not ended by SIGINT, so now by SIGTERM: {left}",
        f"not ended by SIGTERM, so now by SIGKILL: {left}",
    ]
    wait_until_gone(int(note.read_text()))
