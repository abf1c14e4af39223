"""A request to the socket that the library of a process listens at, and its answer."""

from __future__ import annotations

import http.client
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from operate.processes import Process
from pipeline.core.errors import UsageError

_SECONDS = 5


@dataclass(frozen=True)
class Answer:
    """What came back: a status of HTTP, and the body."""

    status: int
    body: bytes

    @property
    def is_good(self) -> bool:
        """Whether the library did or gave what it was asked for."""
        return self.status == http.client.OK

    @property
    def sentence(self) -> str:
        """The body as text on one line."""
        return " ".join(self.body.decode("utf-8", errors="replace").split())


class _Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, listener: int) -> None:
        """Remember the path, and who must listen there; nothing is opened yet."""
        super().__init__("localhost", timeout=_SECONDS)
        self._path, self._listener = path, listener

    def connect(self) -> None:
        """Open the socket: where many wait already, the system lets us wait, too."""
        self.sock = socket.socket(socket.AF_UNIX)
        limit = struct.pack("@ll", _SECONDS, 0)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        self.sock.connect(self._path)
        self.sock.settimeout(_SECONDS)
        if self._listener != peer(self.sock):
            raise _NotIts


class _NotIts(Exception):
    """Another process listens there."""


def peer(client: socket.socket) -> int:
    """Return the process that listens, which the system knows: nothing is sent to another one."""
    size = struct.calcsize("3i")
    said = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid: int = struct.unpack("3i", said)[0]
    return pid


def ask_itself(process: Process, path: str, method: str, page: str) -> Answer:
    """Return what is answered at a path, if this very process listens there.

    Else UsageError says what to do, and nothing is sent. Whoever is cut off asks once more: a busy
    machine may keep us waiting for longer than the library waits for us.
    """
    with _told(process, path):
        try:
            return _ask(path, method, page, process.pid)
        except (BrokenPipeError, ConnectionResetError, http.client.IncompleteRead):
            return _ask(path, method, page, process.pid)


def _ask(path: str, method: str, page: str, listener: int) -> Answer:
    connection = _Connection(path, listener)
    try:
        connection.request(method, page)
        response = connection.getresponse()
        return Answer(response.status, response.read())
    finally:
        connection.close()


@contextmanager
def _told(process: Process, path: str) -> Iterator[None]:
    try:
        yield
    except _NotIts:
        raise elsewhere(process) from None
    except PermissionError as error:
        raise UsageError(f"{path} is another user's", hint="run this as its user") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise silent(process, path, error) from error


def elsewhere(process: Process) -> UsageError:
    """Return the error where another process listens at the socket that it is said to have."""
    return UsageError(
        f"another process answers at the socket of {process.pid}",
        hint="put %p into HAKMEM_STATS_SOCKET: each process has a socket of its own then",
    )


def silent(process: Process, path: str, why: Exception) -> UsageError:
    """Return the error of a process that gave no answer, or none that can be read."""
    if process.is_stopped():
        return UsageError(
            f"process {process.pid} is stopped, so it answers nothing",
            hint=f"`kill -CONT {process.pid}` lets it go on, unless a debugger holds it",
        )
    if isinstance(why, TimeoutError | BlockingIOError):
        return UsageError(
            f"process {process.pid} did not answer within {_SECONDS} seconds at {path}",
            hint="ask again: the machine is busy, or others ask the process, too",
        )
    words = os.strerror(why.errno) if isinstance(why, OSError) and why.errno else why
    return UsageError(
        f"process {process.pid} does not answer at {path}: {words}",
        hint=f"`hakmem check {process.pid}` says whether it uses the library. A forked child has a "
        "socket only where the path has %p, once it has lived for a second and then allocates",
    )
