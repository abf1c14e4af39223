"""`hakmem heap` and `hakmem reload`: what a running program does when its socket is asked."""

from __future__ import annotations

import re
import stat
import time
from pathlib import Path

import pytest
from made import ROOT, Compile, compile_c, hakmem, loads
from test_check_process import echo, running
from test_top import answering

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
        assert hakmem("heap", "--begin", pid).returncode == 0
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
    assert refused.returncode == ExitCode.USAGE and "HAKMEM_CONF=file=/PATH" in refused.stderr


def test_reload_without_a_file(allocates: Path, env: dict[str, str]) -> None:
    with running(allocates, **env) as process:
        said = hakmem("reload", str(process))
    assert said.returncode == ExitCode.USAGE and "reads no file of options" in said.stderr


@pytest.mark.parametrize("words", [["heap"], ["heap", "--begin"], ["reload"]])
def test_a_library_before_these_commands(tmp_path: Path, echo: Path, words: list[str]) -> None:
    path = tmp_path / "old.sock"
    with running(echo, **{VARIABLE: str(path)}) as process, answering(path, "", "405 No"):
        said = hakmem(*words, str(process))
    assert said.returncode == ExitCode.USAGE and "too old" in said.stderr


def test_a_folder_is_no_file(tmp_path: Path, allocates: Path, env: dict[str, str]) -> None:
    with running(allocates, **env) as process:
        hakmem("heap", "--begin", str(process))
        said = hakmem("heap", "-o", str(tmp_path), str(process))
    assert said.returncode == ExitCode.USAGE and "is a folder" in said.stderr
