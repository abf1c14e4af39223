"""A request to the socket that the library of a process listens at, and its answer."""

from __future__ import annotations

import http.client
import socket
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

    def __init__(self, path: str) -> None:
        """Remember the path; nothing is opened yet."""
        super().__init__("localhost", timeout=_SECONDS)
        self._path = path

    def connect(self) -> None:
        """Open the socket."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(_SECONDS)
        self.sock.connect(self._path)


def ask(process: Process, path: str, method: str, page: str) -> Answer:
    """Return the answer of the process; UsageError says what to do where there is none."""
    connection = _Connection(path)
    try:
        connection.request(method, page)
        response = connection.getresponse()
        return Answer(response.status, response.read())
    except PermissionError as error:
        raise UsageError(f"{path} is another user's", hint="run this as its user") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise silent(process, path, error) from error
    finally:
        connection.close()


def silent(process: Process, path: str, why: Exception) -> UsageError:
    """Return the error of a process that gave no answer, or none that can be read."""
    return UsageError(
        f"process {process.pid} does not answer at {path}: {why}",
        hint="does it use the library (hakmem check)? A forked child has a socket only where "
        "the path has %p, once it has lived for a second and then allocates",
    )
