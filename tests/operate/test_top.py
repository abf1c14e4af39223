"""`hakmem top`: what it says of a process that answers, and of those that do not."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from made import ROOT, Compile, built_library, compile_c, hakmem, publish
from test_check_process import echo, running

from operate import asking, overview, statistics
from operate.processes import Process
from pipeline.core.errors import UsageError

__all__ = ["compile_c", "echo"]
VARIABLE = "HAKMEM_STATS_SOCKET"
WAITS = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) { memset(malloc(40 << 20), 1, 40 << 20); puts("a"); fflush(stdout);
    while (getchar() != EOF) continue; return 0; }"""


def document(process: int) -> dict[str, Any]:
    """What the library tells, as far as the page needs it."""
    one = {"size": 64, "slab_bytes": 65536, "live_blocks": 512, "magazine_blocks": 3}
    one["fresh_blocks"] = 256
    more = {"slabs": 1, "slabs_hot": 1, "slabs_draining": 0, "slabs_free": 0}
    names = (ROOT / "allocator/report/figures.def").read_text("utf-8").split("HAK_FIGURE(")[2:]
    figures = {text.partition(",")[0]: 1024 for text in names}
    events = {"purged_pages": 16}
    build = {"profile": "shop", "cpu": "amd-zen3", "build_id": "0123456789abcdef"}
    head = {"hakmem": "1.2.3", "variant": "production", "process": process, "build": build}
    told = {"options": {"purge_delay": "500"}, "figures": figures, "events": events}
    return {**head, **told, "classes": [{**one, **more}]}


@contextmanager
def answering(path: Path, text: str) -> Iterator[None]:
    """A socket at which each request gets this answer."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                with client, suppress(BrokenPipeError):  # nothing is sent to it
                    client.recv(4096)
                    client.sendall(f"HTTP/1.0 200 OK\r\n\r\n{text}".encode())

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


SPEAKS = f"""#!{sys.executable}
import os, socket, sys, threading
listener = socket.socket(socket.AF_UNIX)
listener.bind(os.environ["{VARIABLE}"].replace("%p", str(os.getpid())))
listener.listen()
def serve():
    while True:
        client, _ = listener.accept()
        with client, open(os.environ["ANSWER"], "rb") as answer:
            client.recv(4096)
            client.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\n" + answer.read())
threading.Thread(target=serve, daemon=True).start()
print(sys.stdin.readline(), flush=True)
sys.stdin.read()
"""


@contextmanager
def speaking(folder: Path, name: str, answer: Path) -> Iterator[int]:
    """A process that answers each request at its own socket ``name`` with what the file has."""
    script = folder / "speaks"
    script.write_text(SPEAKS, encoding="utf-8")
    script.chmod(0o755)
    with running(script, ANSWER=str(answer), **{VARIABLE: f"{folder}/{name}"}) as pid:
        yield pid


def test_a_look(tmp_path: Path) -> None:
    with speaking(tmp_path, "%p.sock", tmp_path / "answer") as pid:
        (tmp_path / "answer").write_text(json.dumps(document(pid)), encoding="utf-8")
        said = hakmem("top", "--once", str(pid))
        found = json.loads(hakmem("top", "--once", "--json", str(pid)).stdout)
    assert said.returncode == 0, said.stderr
    build = "hakmem 1.2.3 (production), profile shop, for amd-zen3, build-id 0123456789ab"
    assert said.stdout.startswith(f"process {pid} speaks\n{build}\n")
    assert len(build) <= 80
    words = [line.split() for line in said.stdout.splitlines()]
    assert ["64", "512", "32.0", "KiB", "3", "1", "1", "0", "0", "67", "%"] in words
    assert found["pid"] == pid and found["published"] is None
    assert found["system"]["resident_bytes"] > 0


def test_pages_of_slabs_that_were_never_used_are_told_apart_and_lower_no_share() -> None:
    now = document(1)
    now["system"] = dict.fromkeys(("resident_bytes", "huge_page_bytes", "swapped_bytes"), 0)
    now["figures"] |= {"slab_bytes": 65536, "slab_fresh_bytes": 16384, "slab_returned_bytes": 2048}
    (line,) = (one for one in overview._summary(now) if one.startswith("slabs"))
    said = "64.0 KiB: 32.0 KiB live, 2.0 KiB free again, 16.0 KiB never used"
    assert line == f"slabs    {said}, 13.0 KiB cached, 1.0 KiB at ends"


def test_what_is_told_of_slabs_adds_up_in_what_a_library_told() -> None:
    """The line had 8.2 MiB, of which 2.3, 4.9 and 0.2 were named."""
    recorded = ROOT / "tests/pipeline/learn/recorded/python-growing.jsonl"
    now = json.loads(recorded.read_text("utf-8").splitlines()[0])
    f = now["figures"]
    waiting = f["magazine_bytes"] + f["remote_bytes"]
    said = "139.4 MiB: 134.5 MiB live, 148.4 KiB free again, 1.7 MiB never used"
    rest = f"{overview.size(waiting)} cached, 2.8 MiB at ends"
    assert overview._slabs(now) == f"slabs    {said}, {rest}"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "1.2.3 (production)"),  # libraries from before that
        ({"build": dict.fromkeys(("profile", "cpu", "build_id"))}, "a plain build"),
        (
            {"published": "1.2.3-ab", "build": {"profile": "x", "cpu": "any", "build_id": None}},
            "1.2.3-ab (production), profile x",
        ),
    ],
)
def test_which_build_it_is(more: dict[str, Any], said: str) -> None:
    head = {"hakmem": "1.2.3", "variant": "production"}
    assert overview._library({**head, **more}).endswith(said)


def test_a_library_that_tells_no_options_has_no_line_of_limits() -> None:
    assert overview._limits({"figures": {}}) == []


def test_the_published_version_is_named(tmp_path: Path, compile_c: Compile) -> None:
    version = publish(tmp_path / "dist", built_library(), "mixed", "x86-64")
    place, manifest = version / "lib/libhakmem.so", version / "manifest.json"
    said = json.loads(manifest.read_text("utf-8"))
    digest = hashlib.sha256(place.read_bytes()).hexdigest()
    said["files"] = {"lib/libhakmem.so": digest}
    manifest.write_text(json.dumps(said), "utf-8")
    program = compile_c(WAITS, "-O0", "-fno-builtin")
    env = {VARIABLE: f"{tmp_path}/%p.sock", "LD_PRELOAD": str(place)}
    with running(program, **env) as pid:
        found = json.loads(hakmem("top", "--once", "--json", str(pid)).stdout)
        page = hakmem("top", "--once", str(pid)).stdout
        marks = {"rejected": [{"version": "1.0-aa", "reason": "redis grows"}]}
        (version.parent / "marks.json").write_text(json.dumps(marks), "utf-8")
        rejected = hakmem("top", "--once", str(pid)).stdout.splitlines()[1]
    assert rejected.endswith("; this version was rejected: redis grows")
    assert "rejected" not in page and found["rejected"] is None
    assert found["published"] == "1.0-aa"
    assert re.match(rf"process {pid} \S+\nhakmem 1.0-aa \(production\), a plain build, ", page)


def test_changes_are_told_by_the_second() -> None:
    before, now = document(1), document(1)
    for one in (before, now):
        one |= {"pid": 1, "system": dict.fromkeys(("resident_bytes", "huge_page_bytes"), None)}
        one["system"]["swapped_bytes"] = 0
    now["events"] = {"purged_pages": 48}
    now["figures"]["minor_page_faults_total"] += 300
    page = "\n".join(overview.page(now, before, 2.0, 5))
    assert "purged 3.0 MiB; 1.0 MiB/s, 150 page faults/s" in page
    assert "process ?" in page


@pytest.mark.parametrize(
    ("lines", "classes", "shown", "left"),
    [(24, 11, 11, None), (24, 20, 11, 9), (24, 15, 11, 4), (2, 20, 1, 19), (60, 20, 20, None)],
)
def test_the_page_fits_the_screen(lines: int, classes: int, shown: int, left: int | None) -> None:
    now = document(1) | {"pid": 7, "system": dict.fromkeys(statistics._ROLLUP, 1024)}
    now["classes"] *= classes
    page = overview.page(now, None, 1.0, screen=os.terminal_size((200, lines)))
    last = page[-1]
    assert len(page) < lines or shown == 1
    assert last.startswith("and ") == (left is not None)
    if left is not None:
        assert last == f"and {left} more classes: `hakmem top --once --all 7` shows all"
    assert sum(line.split()[:1] == ["64"] for line in page) == shown
    narrow = overview.page(now, None, 1.0, screen=os.terminal_size((40, lines)))
    assert len(narrow) < len(page) or shown in (1, classes)


def test_without_a_screen_all_classes_are_shown(tmp_path: Path) -> None:
    with speaking(tmp_path, "s", tmp_path / "answer") as pid:
        found = document(pid)
        found["classes"] *= 40
        (tmp_path / "answer").write_text(json.dumps(found), encoding="utf-8")
        whole = hakmem("top", "--once", str(pid)).stdout
        two = hakmem("top", "--once", "--rows", "39", str(pid)).stdout
        none = hakmem("top", "--rows", "0", str(pid))
    assert whole.count("67 %") == 40 and "more class" not in whole
    assert two.splitlines()[-1].startswith("and 1 more class: ")
    assert none.returncode == 2 and "1 or more" in none.stderr


def test_classes_without_a_live_block_share_a_line() -> None:
    now = document(1) | {"pid": 1, "system": dict.fromkeys(statistics._ROLLUP, 1024)}
    asleep = {**now["classes"][0], "size": 96, "live_blocks": 0}
    now["classes"] += [asleep, {**asleep, "size": 128}]
    page = overview.page(now, None, 1.0, idle=False)
    assert page[-1] == "and 2 more classes that have no live block, 128.0 KiB in slabs (--all)"
    assert not any(line.split()[:1] in (["96"], ["128"]) for line in page)
    assert len(overview.page(now, None, 1.0)) == len(page) + 1


def test_each_line_and_column_is_explained() -> None:
    """In docs/statistics.md, in their order, by figures that the library tells."""
    now = document(1) | {"pid": 1, "system": dict.fromkeys(statistics._ROLLUP, 1024)}
    lines = overview.page(now, None, 1.0, 5)
    begins = [line.split()[0] for line in lines[: lines.index("")]]
    text = (ROOT / "docs/statistics.md").read_text("utf-8")
    section = text.partition("## A live view\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)`(?: line)? \| (.*) \|$", section, re.M)
    assert [name for name, _ in rows] == [*begins, *overview.COLUMNS]
    tables = ("report/figures", "report/class_figures", "stats/events")
    known = "".join((ROOT / f"allocator/{one}.def").read_text("utf-8") for one in tables)
    figures = {name for _, words in rows for name in re.findall(r"`([a-z_]+)`", words)}
    assert len(figures) > 20
    assert not [name for name in figures if f"({name}," not in known]


def test_what_does_not_answer(tmp_path: Path, echo: Path) -> None:
    with running(echo) as pid:
        none = hakmem("top", str(pid))
    assert none.returncode == 2 and VARIABLE in none.stderr
    with running(echo, **{VARIABLE: f"{tmp_path}/nobody"}) as pid:
        nobody = hakmem("top", str(pid))
    assert nobody.returncode == 2 and f"does not answer at {tmp_path}/nobody" in nobody.stderr
    with (
        running(echo, **{VARIABLE: f"{tmp_path}/one"}) as pid,
        answering(tmp_path / "one", json.dumps(document(pid))),
    ):
        other = hakmem("top", "--once", str(pid))
    assert other.returncode == 2 and "another process answers" in other.stderr
    assert "no process" in hakmem("top", "99999999").stderr


@pytest.mark.parametrize("text", ["no JSON", "[1]"])
def test_what_is_not_the_library(tmp_path: Path, text: str) -> None:
    (tmp_path / "answer").write_text(text, encoding="utf-8")
    with speaking(tmp_path, "s", tmp_path / "answer") as pid:
        done = hakmem("top", "--once", str(pid))
    assert done.returncode == 2 and "another process" not in done.stderr


def test_another_users_socket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, echo: Path) -> None:
    def refuse(_self: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(asking._Connection, "connect", refuse)
    with (
        running(echo, **{VARIABLE: f"{tmp_path}/s"}) as pid,
        pytest.raises(UsageError, match="is another user's"),
    ):
        statistics.look(Process(pid))


OVERWRITES = """#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
extern char **environ;
static void listen_at(const char *path, int mode) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    strcpy(at.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(fd, (void *)&at, sizeof at) || chmod(path, mode) || listen(fd, 1)) puts("failed");
}
int main(int count, char **arguments) {
    char *first = environ[0], *last = first;
    for (char **one = environ; *one; one++) last = *one + strlen(*one);
    memset(first, 0, (size_t)(last - first));
    strcpy(first, "title");
    OTHERS
    puts("a"); fflush(stdout);
    while (getchar() != EOF) continue; return 0; }"""


@pytest.mark.parametrize(("mode", "knows"), [("0755", True), ("0600", False)])
def test_a_program_that_writes_over_its_variables(
    tmp_path: Path, compile_c: Compile, mode: str, knows: bool
) -> None:
    """As redis does: its own sockets are passed over, and where one looks alike both are named."""
    own = f'listen_at("{tmp_path}/own", {mode});'
    program = compile_c(OVERWRITES.replace("OTHERS", own), "-O0")
    env = {VARIABLE: f"{tmp_path}/%p.sock", "LD_PRELOAD": str(built_library())}
    with running(program, **env) as pid:
        said = hakmem("top", "--once", str(pid))
    assert (said.returncode == 0) == knows, said.stderr
    if knows:
        assert re.match(rf"process {pid} \S+\nhakmem", said.stdout)
    else:
        assert f"{tmp_path}/own" in said.stderr and f"{tmp_path}/{pid}.sock" in said.stderr


def test_a_program_without_variables_and_socket(tmp_path: Path, compile_c: Compile) -> None:
    own = f'listen_at("{tmp_path}/own", 0600);'
    program = compile_c(OVERWRITES.replace("OTHERS", own), "-O0")
    with running(program, ANY="one") as pid:
        said = hakmem("top", "--once", str(pid))
    assert said.returncode == 2 and "has no socket" in said.stderr
    assert f"hakmem check {pid}" in said.stderr  # this one runs with libc's malloc


def test_the_library_itself(tmp_path: Path, compile_c: Compile) -> None:
    built = built_library()
    program = compile_c(WAITS, "-O0", "-fno-builtin")
    env = {VARIABLE: f"{tmp_path}/%p.sock", "LD_PRELOAD": str(built), "HAKMEM_HARD_LIMIT": "500M"}
    with running(program, **env) as pid:
        found = json.loads(hakmem("top", "--once", "--json", str(pid)).stdout)
        page = hakmem("top", "--once", str(pid)).stdout
        metrics = hakmem("metrics").stdout
    assert "\nlimits   soft none, hard 500.0 MiB; purge delay 500 ms\n" in page
    assert found["options"]["hard_limit"] == str(500 << 20)
    assert found["figures"]["hard_limit_bytes"] == 500 << 20
    assert found["figures"]["soft_limit_bytes"] is None
    assert re.search(rf'hakmem_options_info{{pid="{pid}",.*purge_delay="500"', metrics)
    assert found["figures"]["large_bytes"] == 40 << 20
    assert found["system"]["resident_bytes"] > found["figures"]["resident_bytes"] >= 40 << 20
    assert "40.0 MiB in 1" in page


ALLOCATES = r"""#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    struct pollfd input = {.fd = 0, .events = POLLIN};
    getchar(); getchar(); puts("a"); fflush(stdout);
    while (poll(&input, 1, 1) < 1) { free(malloc(1 << 20)); free(malloc(2 << 20)); }
    return 0; }"""


def test_what_a_reloaded_file_says_is_seen_from_outside(tmp_path: Path, compile_c: Compile) -> None:
    conf = tmp_path / "conf"
    conf.write_text("hard_limit=600M\n", "utf-8")
    conf.chmod(0o600)
    env = {
        VARIABLE: f"{tmp_path}/%p.sock",
        "LD_PRELOAD": str(built_library()),
        "HAKMEM_CONF": f"file={conf}",
        "HAKMEM_CONF_SIGNAL": str(int(signal.SIGUSR1)),
    }
    with running(compile_c(ALLOCATES, "-O0", "-fno-builtin"), **env) as pid:
        assert _hard_limit(pid) == 600 << 20
        conf.write_text("hard_limit=300MB\n", "utf-8")
        os.kill(pid, signal.SIGUSR1)
        while _hard_limit(pid) == 600 << 20:
            time.sleep(0.01)
        assert _hard_limit(pid) == 300 << 20


def _hard_limit(pid: int) -> object:
    found = json.loads(hakmem("top", "--once", "--json", str(pid)).stdout)
    return found["figures"]["hard_limit_bytes"]
