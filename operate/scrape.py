"""All processes of ours that answer at a socket, asked once: what `hakmem metrics` tells."""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from operate import exposition, statistics
from operate.asking import peer
from operate.exposition import LEFT_OUT, UP, Metric
from operate.processes import Process
from pipeline.core.errors import UsageError

SECONDS = 1.0
"""A process that has not told all of it by then is left out."""
MOST_BYTES = 4 << 20
"""An answer that is longer is not the library's: it has some 30 KiB."""
_AT_ONCE = 32
_REQUEST = b"GET /metrics HTTP/1.0\r\n\r\n"
_AGAIN = 0.02
REASONS = ("no_answer", "too_long", "not_understood")


class LeftOut(Exception):
    """A process that has a socket, and nothing to be used came from it: one of REASONS."""


class NotIts(Exception):
    """The socket that a process is said to have is none, or that of another one."""


@dataclass(frozen=True)
class Told:
    """A process, and what it told; if nothing, why."""

    labels: str
    metrics: dict[str, Metric] = field(default_factory=dict)
    left_out: str = ""


def text(proc: Path = Path("/proc"), seconds: float = SECONDS) -> tuple[str, int]:
    """Return the joined text, and how many processes told something."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        asked = pool.map(lambda one: ask(one[0], one[1], seconds), candidates(proc))
        told = [one for one in asked if one is not None]
    joined = exposition.join((one.labels, one.metrics) for one in told)
    return exposition.render({**_own(told), **joined}), sum(not one.left_out for one in told)


def _own(told: list[Told]) -> dict[str, Metric]:
    """Return who was asked, and how many did not answer."""
    up = Metric("gauge", "Whether the process told its figures just now.")
    up.samples = {one.labels: "0" if one.left_out else "1" for one in told}
    missing = Counter(one.left_out for one in told)
    left = Metric("gauge", "Processes with a socket that told nothing, by the reason.")
    left.samples = {exposition.labels({"reason": why}): str(missing[why]) for why in REASONS}
    return {UP: up, LEFT_OUT: left}


def candidates(proc: Path) -> Iterator[tuple[Process, str]]:
    """Yield the processes that this user may look into, each with where its socket should be."""
    for pid in sorted(int(one.name) for one in proc.iterdir() if one.name.isdigit()):
        process = Process(pid, proc)
        try:
            yield process, statistics.socket_path(process)
        except (OSError, UsageError):  # another user's, ended meanwhile, or without a socket
            continue


def ask(process: Process, path: str, seconds: float) -> Told | None:
    """Return what a process tells; None if it has no socket of its own, or has ended."""
    name = ""
    try:
        name = process.command()
        named = exposition.labels({"pid": process.pid, "comm": name})
        return Told(named, exposition.parse(fetch(process.pid, path, seconds)))
    except NotIts:
        return None
    except LeftOut as error:
        why = str(error)
    except exposition.NotUnderstood:
        why = "not_understood"
    except OSError:
        why = "no_answer"
    return Told(named, left_out=why) if name and _runs(process) else None


def _runs(process: Process) -> bool:
    """Return whether it still runs: one that ended, or waits for its parent, has no memory."""
    try:
        return bool(process.text("maps"))
    except OSError:
        return False


def fetch(pid: int, path: str, seconds: float) -> str:
    """Return what a process answers at a socket; raises NotIts, LeftOut or OSError."""
    ends = time.monotonic() + seconds
    with socket.socket(socket.AF_UNIX) as client:
        _connect(client, path, ends)
        if peer(client) != pid:
            raise NotIts
        client.sendall(_REQUEST)
        answer = bytearray()
        while part := _receive(client, ends):
            answer += part
            if len(answer) > MOST_BYTES:
                raise LeftOut("too_long")
    return _body(bytes(answer))


def _connect(client: socket.socket, path: str, ends: float) -> None:
    """Connect; where many wait already, the system says so at once, and we ask again."""
    while True:
        client.settimeout(_left(ends))
        try:
            client.connect(path)
            return
        except BlockingIOError:
            time.sleep(min(_AGAIN, _left(ends)))
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise NotIts from error


def _receive(client: socket.socket, ends: float) -> bytes:
    client.settimeout(_left(ends))
    return client.recv(1 << 16)


def _left(ends: float) -> float:
    """Return the seconds that are left; TimeoutError, an OSError, if none are."""
    left = ends - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _body(answer: bytes) -> str:
    """Return what follows the head of HTTP, if it is whole."""
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *rest = head.decode("ascii", errors="replace").split("\r\n")
    lengths = [line.partition(":")[2].strip() for line in rest if _is_length(line)]
    if first.split(" ")[1:2] != ["200"] or lengths not in ([], [str(len(body))]):
        raise LeftOut("not_understood")
    return body.decode("utf-8", errors="replace")


def _is_length(line: str) -> bool:
    return line.partition(":")[0].lower() == "content-length"
