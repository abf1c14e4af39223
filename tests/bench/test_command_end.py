"""bench/command to the very end: what a server does last, and what its driver leaves behind."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.judge.bench import BenchLine, parse_bench_line

BENCH = Path(__file__).resolve().parents[2] / "bench"
SERVER = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double used, wanted;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *burn(void *none) {
    while ((used = now()) < wanted) {}
    return none;
}

static void tell(const char *name) {
    FILE *file = fopen(name, "a");
    fprintf(file, "%.9f %d\n", used, (int)getpid());
    fclose(file);
}

static void stopped(int number) {
    (void)number;
    wanted = now() + 0.02;
    burn(NULL);
    tell("stopped");
    _exit(0);
}

int main(int count, char **words) {
    const char *how = count > 1 ? words[1] : "";
    wanted = 0.02;
    if (strcmp(how, "thread") == 0) {
        pthread_t one;
        pthread_create(&one, NULL, burn, NULL);
        pthread_exit(NULL);
    }
    if (strcmp(how, "forks") == 0) {
        for (int i = 0; i < 300; i++) {
            wanted = 0.0002;
            if (fork() == 0) {
                burn(NULL);
                _exit(0);
            }
            wait(NULL);
        }
        return 0;
    }
    if (strcmp(how, "daemon") == 0) {
        signal(SIGTERM, stopped);
        if (daemon(1, 1) != 0)
            return 1;
        tell("there");
        for (;;)
            pause();
    }
    if (strcmp(how, "stubborn") == 0) {
        signal(SIGTERM, SIG_IGN);
        if (daemon(1, 1) != 0)
            return 1;
        burn(NULL);
        tell("there");
        for (;;)
            pause();
    }
    burn(NULL);
    if (strcmp(how, "killed") == 0)
        raise(SIGKILL);
    return 0;
}
"""
LEAVE = "./my-server {how}; while [ ! -s there ]; do sleep 0.01; done"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("command")
    (folder / "server.c").write_text(SERVER)
    sources = sorted(BENCH.glob("command*.c"))
    for name, files in (("command", sources), ("my-server", [folder / "server.c"])):
        subprocess.run(
            ["cc", "-D_GNU_SOURCE", "-O1", "-pthread", "-o", folder / name, *files], check=True
        )
    return folder


Timed = Callable[..., BenchLine]


@pytest.fixture
def timed(programs: Path, tmp_path: Path) -> Timed:
    """Return what times my-server below a shell in an empty folder."""
    (tmp_path / "my-server").symlink_to(programs / "my-server")

    def run(script: str, *words: str, before: Callable[[], None] | None = None) -> BenchLine:
        line = [str(programs / "command"), *words, "--in", str(tmp_path), "sh", "-c", script]
        done = subprocess.run(line, capture_output=True, text=True, preexec_fn=before, timeout=60)
        assert done.returncode == 0, done.stderr
        return parse_bench_line(done.stdout)

    return run


def server(timed: Timed, script: str) -> BenchLine:
    return timed(script, "--time-of", "my-server")


def seconds_of(told: Path) -> float:
    return float(told.read_text().split()[0])


@pytest.mark.parametrize("how", ["plain", "killed", "thread"])
def test_what_a_server_does_right_before_its_end_is_counted(timed: Timed, how: str) -> None:
    line = server(timed, f"./my-server {how}; true")
    assert line.cpu_seconds is not None
    assert line.cpu_seconds >= 0.02
    assert line.looked == 0


def test_processes_that_live_shorter_than_a_look_are_counted_all(timed: Timed) -> None:
    line = server(timed, "./my-server forks")
    assert line.cpu_seconds is not None
    assert line.cpu_seconds >= 300 * 0.0002
    assert line.looked == 0


def test_a_server_that_a_thread_of_its_driver_starts_is_counted(timed: Timed) -> None:
    thread = "threading.Thread(target=subprocess.run, args=(['./my-server'],))"
    line = server(timed, f'python3 -c "import subprocess, threading; {thread}.start()"')
    assert line.cpu_seconds is not None
    assert line.cpu_seconds >= 0.02


def test_a_daemon_is_followed_until_its_driver_ends_and_asked_to_end(
    timed: Timed, tmp_path: Path
) -> None:
    line = server(timed, LEAVE.format(how="daemon"))
    burnt = seconds_of(tmp_path / "stopped")  # by SIGTERM it has had its time to end
    assert line.cpu_seconds is not None
    assert line.cpu_seconds >= burnt >= 0.02
    assert line.looked == 0


def test_what_does_not_end_when_it_is_asked_is_killed(timed: Timed, tmp_path: Path) -> None:
    line = server(timed, LEAVE.format(how="stubborn"))
    _, pid = (tmp_path / "there").read_text().split()
    assert line.cpu_seconds is not None
    assert line.cpu_seconds >= 0.02
    assert not Path(f"/proc/{pid}").exists()


def test_without_a_name_what_the_command_leaves_counts_too(timed: Timed, tmp_path: Path) -> None:
    line = timed(LEAVE.format(how="daemon"))
    assert line.cpu_seconds is not None
    assert line.cpu_seconds >= seconds_of(tmp_path / "stopped")


def test_a_server_of_many_signals_gets_them_all(timed: Timed, tmp_path: Path) -> None:
    script = (
        "trap 'n=$((n+1)); echo $n > got' USR1; n=0; "
        "for i in 1 2 3 4 5; do kill -USR1 $$; done; ./my-server"
    )
    server(timed, script)
    assert (tmp_path / "got").read_text() == "5\n"


# ---- where ptrace is forbidden ----

NUMBERS = {"x86_64": 101, "aarch64": 117}
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
REFUSE, ALLOW = 0x00050001, 0x7FFF0000


def refuse_ptrace() -> None:
    """Let ptrace fail with EPERM in this process and what it starts, as some containers do."""
    rows = ((LOAD, 0, 0, 0), (EQUAL, 0, 1, NUMBERS[platform.machine()]),
            (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW))  # fmt: skip
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    program = struct.pack("HxxxxxxP", len(rows), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        PR_SET_SECCOMP, FILTER, program, 0, 0
    ):
        os._exit(99)


@pytest.mark.skipif(platform.machine() not in NUMBERS, reason="the filter knows two processors")
def test_where_ptrace_is_forbidden_the_line_says_that_ends_were_not_seen(timed: Timed) -> None:
    line = timed("./my-server; true", "--time-of", "my-server", before=refuse_ptrace)
    assert line.cpu_seconds is not None
    assert line.cpu_seconds > 0
    assert line.looked == 1
    assert line.sample().looked == 1
