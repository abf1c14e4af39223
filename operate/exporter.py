"""The page that Prometheus asks: a server of HTTP that gives one look for each question."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any

from pipeline.core.errors import UsageError

DEFAULT_ADDRESS = "127.0.0.1"
MOST_CLIENTS = 8
"""Who comes while so many are served is sent away: no thread is begun."""
MOST_LOOKS = 2
"""Looks at once; one more is refused with 503."""
_SECONDS = 30
"""After that a client's connection ends, whatever it waits for."""
_PATHS = ("/", "/metrics")
TYPE = "text/plain; version=0.0.4; charset=utf-8"
Look = Callable[[], str]


def address(word: str) -> tuple[str, int]:
    """Return host and port of ``[ADDRESS:]PORT``; ValueError if it is not that."""
    host, _, port = word.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or DEFAULT_ADDRESS
    if not (port.isascii() and port.isdigit()):
        raise ValueError(f"{word!r} has no port: give PORT or ADDRESS:PORT")
    if int(port) >= 1 << 16:
        raise ValueError(f"there is no port {port}: the last one is {(1 << 16) - 1}")
    return host, int(port)


class Server(ThreadingHTTPServer):
    """A server that begins no more threads than it may."""

    daemon_threads = True

    def __init__(self, host: str, port: int, look: Look) -> None:
        """Listen; UsageError says why that is not possible."""
        self.look = look
        self.looks = threading.BoundedSemaphore(MOST_LOOKS)
        self._clients = threading.BoundedSemaphore(MOST_CLIENTS)
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            self.address_family = found[0][0]
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise UsageError(
                f"cannot listen at {host}, port {port}: {error.strerror}",
                hint="give an address of this machine, and a port that is free",
            ) from error

    def server_bind(self) -> None:
        """Bind, without asking a name server what this machine is called."""
        TCPServer.server_bind(self)
        host, port = self.server_address[:2]
        self.server_name, self.server_port = str(host), int(port)

    @property
    def url(self) -> str:
        """Where it answers."""
        host, port = self.server_address[:2]
        named = f"[{host!s}]" if ":" in str(host) else str(host)
        return f"http://{named}:{port}/metrics"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a client in a thread of its own, if there is room."""
        if self._clients.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve it, for a while at most, and make room again."""
        ends = threading.Timer(_SECONDS, _cut, [request])
        ends.daemon = True
        ends.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            ends.cancel()
            self._clients.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away."""


def _cut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version, sys_version = "hakmem", ""
    timeout = 5  # for each piece of the request

    def do_GET(self) -> None:
        """Answer with a look."""
        if self.path.partition("?")[0] not in _PATHS:
            self.send_error(404)
        elif not self.server.looks.acquire(blocking=False):
            self.send_error(503, "Too many ask at once")
        else:
            try:
                text = self.server.look()
            finally:
                self.server.looks.release()
            self._send(text.encode())

    def _send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Write no line for each question."""
