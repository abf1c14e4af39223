"""A forked child has a socket of its own, which top and metrics find; without one, top says why."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from made import ROOT, Compile, compile_c, hakmem, loads
from test_check_process import running

__all__ = ["compile_c"]
VARIABLE = "HAKMEM_STATS_SOCKET"
MINUTE = 60
PROGRAM = r"""#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
    struct pollfd input = {.fd = 0, .events = POLLIN};
    getchar(); getchar();
    int child = fork() == 0;
    if (!child) { puts("a"); fflush(stdout); }
    while (poll(&input, 1, 1) < 1) if (child && ALLOCATES) free(malloc(100));
    _exit(0); }"""


def built_library() -> Path:
    built = ROOT / "build/clang/lib/libhakmem.so"
    if not loads(built) or b"hak_stats_json" not in built.read_bytes():
        pytest.skip("no library is built: cmake --preset clang && cmake --build --preset clang")
    return built


def child_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()[0])


def started(tmp_path: Path, compile_c: Compile, allocates: int) -> tuple[Path, dict[str, str]]:
    options = ("-O0", "-fno-builtin", f"-DALLOCATES={allocates}")
    env = {VARIABLE: f"{tmp_path}/%p.sock", "LD_PRELOAD": str(built_library())}
    return compile_c(PROGRAM, *options), env


def test_top_and_metrics_find_it(tmp_path: Path, compile_c: Compile) -> None:
    program, env = started(tmp_path, compile_c, 1)
    with running(program, **env) as pid:
        child, ends = child_of(pid), time.monotonic() + MINUTE
        while (said := hakmem("top", "--once", "--json", str(child))).returncode != 0:
            assert time.monotonic() < ends, said.stderr
        metrics = hakmem("metrics").stdout
        assert json.loads(said.stdout)["process"] == child
        assert json.loads(hakmem("top", "--once", "--json", str(pid)).stdout)["process"] == pid
    for one in (pid, child):
        assert re.search(rf'^hakmem_up{{pid="{one}",.*}} 1$', metrics, re.M)


def test_one_that_does_not_allocate_has_none(tmp_path: Path, compile_c: Compile) -> None:
    program, env = started(tmp_path, compile_c, 0)
    with running(program, **env) as pid:
        child = child_of(pid)
        said = hakmem("top", "--once", str(child))
        assert f'pid="{child}"' not in hakmem("metrics").stdout
    assert said.returncode == 2
    assert "once it has lived for a second and then allocates" in " ".join(said.stderr.split())
