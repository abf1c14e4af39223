"""The dashboard asks for metrics that the library tells; a real Prometheus answers all of it."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from made import ROOT, Compile, compile_c, loads
from test_check_process import running

from operate import scrape

__all__ = ["compile_c"]
DASHBOARD = json.loads((ROOT / "operate/grafana/hakmem.json").read_text("utf-8"))
QUESTIONS = [t["expr"] for panel in DASHBOARD["panels"] for t in panel["targets"]]
MINUTES = 3
PROGRAM = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) { for (int i = 0; i < 1000; i++) malloc(100); memset(malloc(9 << 20), 1, 9 << 20);
    puts("a"); fflush(stdout); while (getchar() != EOF) continue; return 0; }"""


def told() -> set[str]:
    """Return the names of all metrics, from the tables that they are made of."""

    def names(table: str, macro: str) -> list[str]:
        return re.findall(rf"^{macro}\((\w+),", (ROOT / table).read_text("utf-8"), re.M)

    return {
        "hakmem_build_info",
        "hakmem_options_info",
        *(f"hakmem_{n}" for n in names("allocator/report/figures.def", "HAK_FIGURE")),
        *(
            f"hakmem_class_{n}"
            for n in names("allocator/report/class_figures.def", "HAK_CLASS_FIGURE")
        ),
        *(f"hakmem_{n}_total" for n in names("allocator/stats/events.def", "HAK_EVENT")),
    }


def test_every_metric_of_the_dashboard_is_told() -> None:
    asked = set(re.findall(r"hakmem_\w+", json.dumps(DASHBOARD)))
    assert len(asked) > 20
    assert asked <= told()


def test_every_question_chooses_instance_program_and_process() -> None:
    """Where Prometheus asks a process itself there are no labels of ours: `.*` fits these, too."""
    chosen = '{instance=~"$instance",comm=~"$comm",pid=~"$pid"}'
    names = [name for one in QUESTIONS for name in re.findall(r"hakmem_\w+", one)]
    assert sum(one.count(chosen) for one in QUESTIONS) == len(names)
    variables = {one["name"]: one for one in DASHBOARD["templating"]["list"]}
    assert all(variables[name]["allValue"] == ".*" for name in ("instance", "comm", "pid"))


def test_panels_do_not_overlap() -> None:
    places = [(p["gridPos"]["x"], p["gridPos"]["y"]) for p in DASHBOARD["panels"]]
    assert len(set(places)) == len(places) == len({p["id"] for p in DASHBOARD["panels"]})


# ---- with the library and a real Prometheus ----


def built_library() -> Path:
    found = ROOT / "build/clang/lib/libhakmem.so"
    if not loads(found) or b"HAKMEM_STATS_SOCKET" not in found.read_bytes():
        pytest.skip("no library is built: cmake --preset clang && cmake --build --preset clang")
    return found


@pytest.fixture
def asked(tmp_path: Path, compile_c: Compile) -> Iterator[tuple[Path, int]]:
    """The socket of a program that runs with the library, and its number."""
    env = {"HAKMEM_STATS_SOCKET": f"{tmp_path}/s", "LD_PRELOAD": str(built_library())}
    with running(compile_c(PROGRAM, "-O0", "-fno-builtin"), **env) as pid:
        yield tmp_path / "s", pid


def text_of(path: Path) -> bytes:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    return answer.partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize("together", [False, True])
def test_the_text_is_what_promtool_wants(asked: tuple[Path, int], together: bool) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed")
    text = scrape.text(seconds=20)[0].encode() if together else text_of(asked[0])
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


@contextmanager
def passed_on(path: Path) -> Iterator[int]:
    """A port at which each request goes to the socket, as an operator's proxy does it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                with client:
                    client.recv(65536)
                    client.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + text_of(path))

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


@contextmanager
def told_together() -> Iterator[int]:
    """The port at which `hakmem metrics` tells of all processes."""
    command = [sys.executable, "-m", "operate", "metrics", "--listen", "0"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr
        try:
            found = re.search(r":(\d+)/", child.stderr.readline())
            assert found
            yield int(found[1])
        finally:
            child.terminate()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@contextmanager
def prometheus(folder: Path, *targets: str) -> Iterator[str]:
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("prometheus is not installed: apt-get install prometheus")
    job = {"job_name": "it", "static_configs": [{"targets": targets}]}
    config = {"global": {"scrape_interval": "1s"}, "scrape_configs": [job]}
    (folder / "config.yml").write_text(json.dumps(config), encoding="utf-8")
    address = f"127.0.0.1:{free_port()}"
    flags = (f"--config.file={folder / 'config.yml'}", f"--storage.tsdb.path={folder / 'data'}")
    with (folder / "log").open("w") as log:
        command = [program, *flags, f"--web.listen-address={address}"]
        with subprocess.Popen(command, stdout=log, stderr=log) as child:
            try:
                yield f"http://{address}"
            finally:
                child.terminate()


def results(address: str, question: str, chosen: dict[str, str]) -> list[object]:
    """Return what Prometheus answers; nothing while it starts."""
    asked = question.replace("$__rate_interval", "1m")
    for name in ("instance", "comm", "pid"):
        asked = asked.replace(f"${name}", chosen.get(name, ".*"))
    url = f"{address}/api/v1/query?{urllib.parse.urlencode({'query': asked})}"
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            found: list[object] = json.loads(answer.read())["data"]["result"]
            return found
    except OSError as error:
        assert "HTTP Error" not in str(error), f"{question}: {error}"
        return []


@pytest.mark.slow
def test_a_real_prometheus_answers_each_question(tmp_path: Path, asked: tuple[Path, int]) -> None:
    """Of the process itself, and of what `hakmem metrics` tells of it among all others."""
    path, pid = asked
    with passed_on(path) as port, told_together() as joined:
        alone, together = f"127.0.0.1:{port}", f"127.0.0.1:{joined}"
        ways = ({"instance": alone}, {"instance": together, "comm": "made", "pid": str(pid)})
        with prometheus(tmp_path, alone, together) as address:
            open_questions = [(one, way) for one in QUESTIONS for way in ways]
            ends = time.monotonic() + 60 * MINUTES
            while open_questions and time.monotonic() < ends:
                time.sleep(1)
                open_questions = [one for one in open_questions if not results(address, *one)]
    assert not open_questions
