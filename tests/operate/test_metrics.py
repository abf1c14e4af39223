"""`hakmem metrics`: what is joined, who is left out, the page that Prometheus asks, the file."""

from __future__ import annotations

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from made import ROOT, Compile, compile_c, hakmem, loads
from test_check_process import echo, running

from operate import exporter, exposition, scrape
from operate.commands import metrics
from pipeline.core.errors import UsageError

__all__ = ["compile_c", "echo"]
VARIABLE = "HAKMEM_STATS_SOCKET"
TEXT = """# HELP hakmem_live_bytes What the program has.
# TYPE hakmem_live_bytes gauge
hakmem_live_bytes 7
# HELP hakmem_class_slabs Slabs.
# TYPE hakmem_class_slabs gauge
hakmem_class_slabs{size="64"} 2
hakmem_class_slabs{size="64",cold="1"} 1
"""
ANSWERS = """#!PYTHON
import contextlib, os, socket, sys
path = os.environ["HAKMEM_STATS_SOCKET"].replace("%p", str(os.getpid()))
with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(path)
    listener.listen()
    print("a", flush=True)
    while True:
        client, _ = listener.accept()
        with client, contextlib.suppress(ConnectionError):  # who asked may be gone
            client.recv(4096)
            WHAT
"""
TELLS = 'client.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\n" + TEXT)'


@contextmanager
def answering(
    folder: Path, what: str = TELLS, text: str = TEXT, name: str = "server"
) -> Iterator[int]:
    """A process that answers at a socket of its own, as one with the library does."""
    program = folder / name
    filled = ANSWERS.replace("WHAT", what).replace("TEXT", repr(text.encode()))
    program.write_text(filled.replace("PYTHON", sys.executable), "utf-8")
    program.chmod(0o755)
    env = {VARIABLE: f"{folder}/%p.sock", "PATH": os.environ["PATH"]}
    with subprocess.Popen([program], env=env, stdout=subprocess.PIPE) as child:
        assert child.stdout and child.stdout.readline() == b"a\n"
        try:
            yield child.pid
        finally:
            child.kill()


def of(text: str, *pids: int) -> list[str]:
    """Return the samples of some processes: there may be others on this machine."""
    return [line for line in text.splitlines() if any(f'pid="{pid}"' in line for pid in pids)]


def told(seconds: float = 20, proc: Path = Path("/proc")) -> str:
    """Look, with more patience than the command has: the machine may be busy."""
    return scrape.text(proc, seconds)[0]


def only(folder: Path, *pids: int) -> Path:
    """A /proc with these processes alone: any other on this machine has words of its own."""
    folder.mkdir()
    for name in ("self", *map(str, pids)):
        (folder / name).symlink_to(f"/proc/{name}")
    return folder


def test_two_processes_are_told_together(tmp_path: Path) -> None:
    with answering(tmp_path, name="one") as one, answering(tmp_path, name="two") as two:
        text = told(proc=only(tmp_path / "proc", one, two))
    assert of(text, one, two) == [
        line
        for name, more in (
            ("up", ("}} 1",)),
            ("live_bytes", ("}} 7",)),
            ("class_slabs", (',size="64"}} 2', ',cold="1",size="64"}} 1')),
        )
        for pid, comm in sorted([(one, "one"), (two, "two")])
        for end in more
        for line in [f'hakmem_{name}{{pid="{pid}",comm="{comm}"' + end.replace("}}", "}")]
    ]
    heads = re.findall(r"^# \w+ \w+", text, re.M)
    assert len(set(heads)) == len(heads)
    assert "# HELP hakmem_live_bytes What the program has.\n" in text


def test_what_is_told_can_be_read_again(tmp_path: Path) -> None:
    """The labels are ours then, so they are taken off first."""
    with answering(tmp_path) as pid:
        text = "\n".join(of(told(), pid)[1:])
    bare = re.sub(r'pid="\d+",comm="server",?', "", text).replace("{}", "")
    heads = "\n".join(line for line in TEXT.splitlines() if line.startswith("#"))
    assert exposition.parse(f"{heads}\n{bare}") == exposition.parse(TEXT)


@pytest.mark.parametrize(
    ("what", "text", "reason"),
    [
        ("import time; time.sleep(600)", "", "no_answer"),
        ("pass", "", "not_understood"),
        (TELLS, "no metric\n", "not_understood"),
        (TELLS, TEXT + 'hakmem_live_bytes{pid="1"} 7\n', "not_understood"),
        (TELLS, TEXT + "hakmem_live_bytes 8\n", "not_understood"),
        (TELLS, TEXT + "# TYPE hakmem_up gauge\nhakmem_up 1\n", "not_understood"),
        (TELLS, TEXT + "hakmem_other 1\n", "not_understood"),
        (TELLS.replace("200", "404"), TEXT, "not_understood"),
        (
            TELLS.replace("\\r\\n\\r\\n", "\\r\\nContent-Length: 999\\r\\n\\r\\n"),
            TEXT,
            "not_understood",
        ),
        (f'client.sendall(b"a" * {scrape.MOST_BYTES + 1})', "", "too_long"),
    ],
)
def test_who_is_left_out_and_why(tmp_path: Path, what: str, text: str, reason: str) -> None:
    with answering(tmp_path, what, text) as pid:
        said = told(seconds=0.5 if reason == "no_answer" else 20)
    assert of(said, pid) == [f'hakmem_up{{pid="{pid}",comm="server"}} 0']
    found = re.search(rf'^hakmem_left_out{{reason="{reason}"}} (\d+)$', said, re.M)
    assert found and int(found[1]) >= 1


def test_a_process_that_hangs_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped, it takes no client: those that wait for it fill its queue."""
    with answering(tmp_path, name="stuck") as stuck, answering(tmp_path) as pid:
        fetch = scrape.fetch
        patience = {stuck: 0.2}

        def impatient(pid: int, path: str, most: float) -> str:
            return fetch(pid, path, patience.get(pid, most))

        monkeypatch.setattr(scrape, "fetch", impatient)
        os.kill(stuck, signal.SIGSTOP)
        try:
            for _ in range(5):
                said = told()
        finally:
            os.kill(stuck, signal.SIGCONT)
    assert of(said, stuck) == [f'hakmem_up{{pid="{stuck}",comm="stuck"}} 0']
    assert f'hakmem_up{{pid="{pid}",comm="server"}} 1' in said


def test_a_process_that_ends_meanwhile_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(tmp_path) as pid:
        found = [one for one in scrape.candidates(Path("/proc")) if one[0].pid == pid]
    assert len(found) == 1
    assert scrape.ask(*found[0], 5) is None
    monkeypatch.setattr(scrape, "candidates", lambda _proc: found)
    assert f'pid="{pid}"' not in told()


def test_the_socket_of_another_process_is_not_asked(tmp_path: Path, echo: Path) -> None:
    """A child has the variable of its parent; and nobody is sent to a socket of his choice."""
    with answering(tmp_path) as pid:
        with running(echo, **{VARIABLE: f"{tmp_path}/{pid}.sock"}) as child:
            said = told()
        with pytest.raises(scrape.NotIts):
            scrape.fetch(child, f"{tmp_path}/{pid}.sock", 5)
    assert of(said, child) == []
    assert len(of(said, pid)) == 4


def test_a_process_without_a_socket_is_not_told(tmp_path: Path, echo: Path) -> None:
    with running(echo, **{VARIABLE: f"{tmp_path}/none"}) as one, running(echo) as two:
        assert of(told(), one, two) == []


def test_no_process(tmp_path: Path) -> None:
    text, count = scrape.text(proc=tmp_path)
    assert count == 0
    assert "hakmem_up{" not in text
    assert text.count("\nhakmem_left_out{") == len(scrape.REASONS)


def test_no_process_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(scrape, "candidates", lambda _proc: [])
    output = tmp_path / "it.prom"
    args = argparse.Namespace(listen=None, output=output)
    assert metrics.run(args) == 0
    assert "hakmem_left_out" in output.read_text("utf-8")


def test_names_of_programs_are_quoted() -> None:
    assert exposition.labels({"comm": 'a"\\\n'}) == 'comm="a\\"\\\\\\n"'


def test_an_older_kind_of_the_same_metric_is_left_out() -> None:
    new = exposition.parse("# TYPE hakmem_x counter\nhakmem_x 1\n")
    old = exposition.parse("# TYPE hakmem_x gauge\nhakmem_x 2\n")
    joined = exposition.render(exposition.join([('pid="1"', new), ('pid="2"', old)]))
    assert joined == '# TYPE hakmem_x counter\nhakmem_x{pid="1"} 1\n'


# ---- the command ----


def test_the_command_writes_to_stdout_or_into_a_file(tmp_path: Path) -> None:
    output = tmp_path / "it.prom"
    output.write_text("old", "utf-8")
    output.chmod(0o640)
    with answering(tmp_path) as pid:
        shown, written = hakmem("metrics"), hakmem("metrics", "-o", str(output))
    assert (shown.returncode, written.returncode, written.stdout) == (0, 0, "")
    for text in (shown.stdout, output.read_text("utf-8")):
        assert [line.partition("{")[0] for line in of(text, pid)][:1] == ["hakmem_up"]
        assert text.startswith("# HELP hakmem_up ") and text.endswith("\n")
    assert output.stat().st_mode & 0o777 == 0o640
    assert not [*tmp_path.glob(".it.prom*")]


def test_a_new_file_has_the_rights_of_any_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        metrics.write(tmp_path / "new", "a\n")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


def test_what_is_no_file_is_written_to_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        metrics.write(tmp_path, "a\n")
    with pytest.raises(UsageError, match="there is no folder"):
        metrics.write(tmp_path / "misspelt" / "it.prom", "a\n")
    metrics.write(Path("/dev/null"), "a\n")
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("9199", ("127.0.0.1", 9199)),
        ("0.0.0.0:80", ("0.0.0.0", 80)),
        ("[::1]:0", ("::1", 0)),
        (":9199", ("127.0.0.1", 9199)),
    ],
)
def test_addresses(word: str, found: tuple[str, int]) -> None:
    assert exporter.address(word) == found


@pytest.mark.parametrize(
    "words", [("--listen", "x"), ("--listen", "1:99999"), ("--listen", "1", "-o", "f")]
)
def test_wrong_words(words: tuple[str, ...]) -> None:
    done = hakmem("metrics", *words)
    assert done.returncode == 2 and "Traceback" not in done.stderr


# ---- the page ----


@contextmanager
def listening() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    # What a shell starts in the background ignores ctrl-C: these tests, and so their children.
    heeds = ["env", "--default-signal=INT", sys.executable]
    command = [*heeds, "-m", "operate", "metrics", "--listen", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True) as child:
        assert child.stderr
        try:
            found = re.search(r"http://\S+", child.stderr.readline())
            assert found
            yield found[0], child
        finally:
            child.kill()


def test_the_page_answers_until_ctrl_c(tmp_path: Path) -> None:
    with listening() as (url, child):
        assert url.startswith("http://127.0.0.1:")
        for _ in range(2):
            with answering(tmp_path) as pid, urllib.request.urlopen(url) as answer:
                text = answer.read().decode()
                kind = answer.headers["Content-Type"]
            assert f'hakmem_up{{pid="{pid}",comm="server"}} ' in text
            assert kind == exporter.TYPE
        with urllib.request.urlopen(url.removesuffix("metrics")) as answer:
            assert answer.read().startswith(b"# HELP hakmem_up")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{url}/other")
        child.send_signal(signal.SIGINT)
        out, error = child.communicate()
    assert (child.returncode, out, error) == (130, "", "")


def served(look: exporter.Look) -> exporter.Server:
    return exporter.Server("127.0.0.1", 0, look)


def test_too_many_at_once_are_refused() -> None:
    import threading

    with served(lambda: "a\n") as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            held = [server.looks.acquire() for _ in range(exporter.MOST_LOOKS)]
            with pytest.raises(urllib.error.HTTPError, match="503"):
                urllib.request.urlopen(server.url)
            for _ in held:
                server.looks.release()
            silent = [
                socket.create_connection((server.server_name, server.server_port))
                for _ in range(exporter.MOST_CLIENTS + 1)
            ]
            assert silent[-1].recv(1) == b""
            for one in silent:
                one.close()
        finally:
            server.shutdown()
            thread.join()


def test_a_port_that_is_taken() -> None:
    with served(str) as server, pytest.raises(UsageError, match="cannot listen"):
        exporter.Server("127.0.0.1", server.server_port, str)


# ---- with the library ----


def test_the_library_itself(tmp_path: Path, compile_c: Compile) -> None:
    built = ROOT / "build/clang/lib/libhakmem.so"
    if not loads(built) or b"hak_stats_json" not in built.read_bytes():
        pytest.skip("no library is built: cmake --preset clang && cmake --build --preset clang")
    text = (
        "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { char *p = malloc(99); puts(p ?"
        ' "a" : "b"); fflush(stdout); while (getchar() != EOF) continue; return 0; }'
    )
    env = {VARIABLE: f"{tmp_path}/%p.sock", "LD_PRELOAD": str(built)}
    with running(compile_c(text, "-O0", "-fno-builtin"), **env) as pid:
        said = of(told(), pid)
    assert said[0] == f'hakmem_up{{pid="{pid}",comm="made"}} 1'
    assert [line for line in said if line.startswith("hakmem_class_live_blocks{")]
    assert len({line.partition("{")[0] for line in said}) > 50
