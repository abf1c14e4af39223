"""`hakmem heap` and `hakmem reload`: what a running program does when its socket is asked."""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from made import ROOT, Compile, compile_c, hakmem, loads
from test_check_process import echo, running
from test_metrics import answering

from operate import asking, telling
from operate.processes import Process
from pipeline.core.errors import UsageError
from pipeline.core.exit_codes import ExitCode

__all__ = ["compile_c", "echo"]
VARIABLE = "HAKMEM_STATS_SOCKET"
MINUTE = 60
ALLOCATES = r"""#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    struct pollfd input = {.fd = 0, .events = POLLIN};
    getchar(); getchar(); puts("a"); fflush(stdout);
    static void *blocks[20];
    while (poll(&input, 1, 1) < 1) /* one magazine serves it all: no slow path is needed */
        for (int i = 0; i < 999; i++) {
            for (int j = 0; j < 20; j++) blocks[j] = malloc(60);
            for (int j = 0; j < 20; j++) free(blocks[j]); }
    return 0; }"""


@pytest.fixture(scope="module")
def allocates(compile_c: Compile) -> Path:
    return compile_c(ALLOCATES, "-O0", "-fno-builtin")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    built = ROOT / "build/clang/lib/libhakmem.so"
    if not loads(built) or b"no heap profile was begun" not in built.read_bytes():
        pytest.skip("no library is built: cmake --preset clang && cmake --build --preset clang")
    return {VARIABLE: f"{tmp_path}/%p.sock", "LD_PRELOAD": str(built)}


def samples(text: str) -> int:
    found = re.match(r"heap profile: \d+: \d+ \[(\d+): \d+\] @ heap_v2/524288\n", text)
    assert found and "\nMAPPED_LIBRARIES:\n" in text and "libhakmem.so" in text
    return int(found.group(1))


def wait_for_samples(pid: str) -> None:
    ends = time.monotonic() + MINUTE
    while samples(hakmem("heap", pid).stdout) == 0:
        assert time.monotonic() < ends


def test_begin_write_and_end(tmp_path: Path, allocates: Path, env: dict[str, str]) -> None:
    file = tmp_path / "app.heap"
    with running(allocates, **env) as process:
        pid = str(process)
        early = hakmem("heap", pid)
        assert early.returncode == ExitCode.USAGE and f"hakmem heap --begin {pid}" in early.stderr
        assert hakmem("heap", "--begin", pid).stdout == f"process {pid}: a heap profile begins\n"
        assert "is made already" in hakmem("heap", "--begin", pid).stdout
        wait_for_samples(pid)
        assert hakmem("heap", "--end", pid).returncode == 0
        written = hakmem("heap", "-o", str(file), pid)
        again = hakmem("heap", "--begin", pid).returncode
    assert again == 0 and written.returncode == 0 and written.stdout == ""
    assert samples(file.read_text("utf-8")) > 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_it_goes_on_after_the_option_said_none(allocates: Path, env: dict[str, str]) -> None:
    with running(allocates, **env, HAKMEM_PROFILE_RATE="0") as process:
        assert hakmem("heap", str(process)).returncode == ExitCode.USAGE
        assert hakmem("heap", "--begin", str(process)).returncode == 0
        wait_for_samples(str(process))


def test_profiles_of_several_begin_and_end(allocates: Path, env: dict[str, str]) -> None:
    with ExitStack() as all_of_them:
        pids = [str(all_of_them.enter_context(running(allocates, **env))) for _ in range(2)]
        begun = hakmem("heap", "--begin", *pids)
        one = hakmem("heap", *pids)
        ended = hakmem("heap", "--end", *pids, "1")
    assert begun.stdout.splitlines() == [f"process {pid}: a heap profile begins" for pid in pids]
    assert one.returncode == ExitCode.USAGE and "give one number" in one.stderr
    assert [line.partition(":")[0] for line in ended.stdout.splitlines()] == [
        f"process {pid}" for pid in pids
    ]
    assert ended.returncode != 0


def test_reload(tmp_path: Path, allocates: Path, env: dict[str, str]) -> None:
    conf = tmp_path / "conf"
    conf.write_text("purge_delay = 600\n", "utf-8")
    conf.chmod(0o600)
    with running(allocates, **env, HAKMEM_CONF=f"file={conf}") as process:
        conf.write_text("purge_delay = 700\n", "utf-8")
        said = hakmem("reload", str(process))
        top = hakmem("top", "--once", str(process)).stdout
        conf.chmod(0o666)
        refused = hakmem("reload", str(process))
    assert said.stdout.startswith(f"process {process}: the file was read again")
    assert "purge delay 700 ms" in top
    assert refused.returncode == ExitCode.USAGE and "its stderr says what" in refused.stderr


@pytest.mark.parametrize("entry", ["purge_delay = soon", "purge_dely = 1", "reserve = 2"])
def test_reload_of_what_does_not_count(
    tmp_path: Path, allocates: Path, env: dict[str, str], entry: str
) -> None:
    conf = tmp_path / "conf"
    conf.touch(0o600)
    with running(allocates, **env, HAKMEM_CONF=f"file={conf}") as process:
        conf.write_text(f"soft_limit = 1G\n{entry}\n", "utf-8")
        said = hakmem("reload", str(process))
        top = hakmem("top", "--once", str(process)).stdout
    assert said.returncode == ExitCode.USAGE and "some of it does not count" in said.stderr
    assert "soft 1.0 GiB" in top


def test_reload_of_several(
    tmp_path: Path, allocates: Path, echo: Path, env: dict[str, str]
) -> None:
    """As of the workers of a server, of which one may have no socket."""
    conf = tmp_path / "conf"
    conf.touch(0o600)
    with ExitStack() as all_of_them:
        start = {**env, "HAKMEM_CONF": f"file={conf}"}
        first, last = (all_of_them.enter_context(running(allocates, **start)) for _ in range(2))
        without = all_of_them.enter_context(running(echo))
        conf.write_text("purge_delay = 700\n", "utf-8")
        said = hakmem("reload", str(first), str(without), str(last))
    assert said.returncode == ExitCode.USAGE and said.stderr.count(f"process {without} ") == 1
    for process in (first, last):
        assert f"process {process}: the file was read again" in said.stdout


def test_reload_without_a_file(allocates: Path, env: dict[str, str]) -> None:
    with running(allocates, **env) as process:
        said = hakmem("reload", str(process))
    assert said.returncode == ExitCode.USAGE and "read no file of options" in said.stderr


@pytest.mark.parametrize("words", [["heap"], ["heap", "--begin"], ["reload"]])
def test_a_library_before_these_commands(tmp_path: Path, words: list[str]) -> None:
    with answering(tmp_path, 'client.sendall(b"HTTP/1.0 405 No\\r\\n\\r\\n")') as process:
        said = hakmem(*words, str(process))
    assert said.returncode == ExitCode.USAGE and "too old" in said.stderr


@pytest.mark.parametrize(
    ("status", "hint"), [("501 No", "production library"), ("503 No", "ask again")]
)
def test_a_library_that_cannot(tmp_path: Path, status: str, hint: str) -> None:
    what = f'client.sendall(b"HTTP/1.0 {status}\\r\\n\\r\\nnone here")'
    with answering(tmp_path, what) as process:
        said = hakmem("heap", "--begin", str(process))
    assert said.returncode == ExitCode.USAGE and "none here" in said.stderr
    assert hint in said.stderr and "pipeline --help" not in said.stderr


def test_a_folder_is_no_file(tmp_path: Path, allocates: Path, env: dict[str, str]) -> None:
    with running(allocates, **env) as process:
        hakmem("heap", "--begin", str(process))
        said = hakmem("heap", "-o", str(tmp_path), str(process))
    assert said.returncode == ExitCode.USAGE and "is a folder" in said.stderr


def test_what_is_no_file_is_written_to(
    tmp_path: Path, allocates: Path, env: dict[str, str]
) -> None:
    """Root would have put a file in the place of /dev/null."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with running(allocates, **env) as process:
        hakmem("heap", "--begin", str(process))
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
            said = hakmem("heap", "-o", str(pipe), str(process))
            text = reader.communicate()[0]
    assert said.returncode == 0 and text.startswith("heap profile: ")
    assert pipe.is_fifo()


def test_a_full_device_is_named(allocates: Path, env: dict[str, str]) -> None:
    with running(allocates, **env) as process:
        hakmem("heap", "--begin", str(process))
        said = hakmem("heap", "-o", "/dev/full", str(process))
    assert said.returncode == ExitCode.SPACE and "cannot write /dev/full: No space" in said.stderr


@pytest.mark.parametrize("words", [["heap"], ["heap", "--begin"], ["reload"]])
def test_nothing_is_said_to_another_process(
    tmp_path: Path, echo: Path, allocates: Path, env: dict[str, str], words: list[str]
) -> None:
    """A child has the variable of its parent."""
    env[VARIABLE] = f"{tmp_path}/one"
    with running(allocates, **env) as other, running(echo, **{VARIABLE: env[VARIABLE]}) as process:
        said = hakmem(*words, str(process))
        untouched = hakmem("heap", str(other))
    assert said.returncode == ExitCode.USAGE and "another process answers" in said.stderr
    assert untouched.returncode == ExitCode.USAGE and "was begun" in untouched.stderr


def test_a_stopped_process(tmp_path: Path) -> None:
    with answering(tmp_path) as process:
        os.kill(process, signal.SIGSTOP)
        said = hakmem("heap", "--begin", str(process))
    assert said.returncode == ExitCode.USAGE and f"`kill -CONT {process}`" in said.stderr


@pytest.mark.parametrize("others", [1, 3])
def test_a_process_that_serves_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: int
) -> None:
    """One other waits already, or more than the system lets wait."""
    monkeypatch.setattr(asking, "_SECONDS", 1)
    path, slow = tmp_path / "s", Process(os.getpid())
    with socket.socket(socket.AF_UNIX) as listener, ExitStack() as held:
        listener.bind(str(path))
        listener.listen(1)
        for _ in range(others - 1):
            held.enter_context(socket.socket(socket.AF_UNIX)).connect(str(path))
        with pytest.raises(UsageError, match="did not answer within 1 seconds"):
            asking.ask_itself(slow, str(path), "GET", "/heap")


def test_who_is_cut_off_asks_once_more(tmp_path: Path) -> None:
    yes = 'client.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\nyes")'
    once = f'sys.argv.append("") or len(sys.argv) > 2 and {yes}'
    with answering(tmp_path, once) as process:
        said = hakmem("heap", "--begin", str(process))
    assert said.stdout == f"process {process}: yes\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="a mount namespace is root's")
def test_a_process_with_files_of_its_own(
    tmp_path: Path, allocates: Path, env: dict[str, str]
) -> None:
    """As a unit of systemd with PrivateTmp has, or a container: each calls its root "/"."""
    own, program = tmp_path / "own", tmp_path / "program"
    own.mkdir()
    program.write_text(f"#!/bin/sh\nmount -t tmpfs none {own} && exec {allocates}\n", "utf-8")
    program.chmod(0o755)
    env = {"LD_PRELOAD": env["LD_PRELOAD"], VARIABLE: f"{own}/%p.sock"}
    shell = subprocess.Popen(
        ["unshare", "-m", program], stdin=-1, stdout=-1, env={**os.environ, **env}
    )
    with shell as child:
        assert child.stdin and child.stdout
        child.stdin.write(b"a\n")
        child.stdin.flush()
        begun = child.stdout.readline()
        said = hakmem("heap", "--begin", str(child.pid))
        child.stdin.close()
    if not begun:
        pytest.skip("no mount namespace can be made here")
    assert said.stdout == f"process {child.pid}: a heap profile begins\n", said.stderr


@pytest.mark.parametrize(
    ("typed", "on_the_path", "said"),
    [
        (".venv/bin/hakmem", None, "`.venv/bin/hakmem check 7` says"),
        ("/a b/hakmem", None, "`'/a b/hakmem' check 7` says"),
        ("/usr/bin/hakmem", "/usr/bin/hakmem", "`hakmem check 7` says"),
        ("/x/__main__.py", None, "`hakmem check 7` says"),
    ],
)
def test_a_command_is_named_as_it_was_typed(
    monkeypatch: pytest.MonkeyPatch, typed: str, on_the_path: str | None, said: str
) -> None:
    """Whoever types `.venv/bin/hakmem` has no `hakmem` to paste."""
    monkeypatch.setattr("sys.argv", [typed])
    monkeypatch.setattr("shutil.which", lambda _: on_the_path)
    assert telling.as_typed("`hakmem check 7` says") == said
