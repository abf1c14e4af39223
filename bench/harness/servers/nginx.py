"""nginx with one worker on the loopback device under wrk."""

from __future__ import annotations

import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

from bench.harness.allocators import Allocator
from bench.harness.runner import RunFailed, Sample, run_child
from bench.harness.servers.session import LOAD_LIMIT_S, Load, serving

PROGRAMS = {"nginx": "nginx-light", "wrk": "wrk"}
PATHS = {"nginx-file": "/plain/4k.txt", "nginx-gzip": "/zip/4k.txt", "nginx-proxy": "/proxy/4k.txt"}
ROWS = tuple(PATHS)
SECONDS = 2
UNITS = {"us": 1.0, "ms": 1000.0, "s": 1e6}
CONFIGURATION = """
daemon off; worker_processes 1; pid {here}/nginx.pid; error_log {here}/error.log warn;
events {{ worker_connections 512; }}
http {{
  access_log off; types {{ text/plain txt; }} gzip_types text/plain; gzip_min_length 100;
  client_body_temp_path {here}/t1; proxy_temp_path {here}/t2; fastcgi_temp_path {here}/t3;
  uwsgi_temp_path {here}/t4; scgi_temp_path {here}/t5;
  server {{
    listen 127.0.0.1:{port} backlog=1024;
    location /plain/ {{ alias {here}/; }}
    location /zip/ {{ alias {here}/; gzip on; gzip_comp_level 1; }}
    location /proxy/ {{ proxy_pass http://127.0.0.1:{port}/plain/; }}
  }}
}}
"""


def measure(allocator: Allocator, folder: Path, scale: float) -> Iterator[tuple[str, Sample]]:
    """Yield a sample for each row, all of one server."""
    port = free_port()
    configuration = folder / "nginx.conf"
    configuration.write_text(CONFIGURATION.format(here=folder, port=port), encoding="utf-8")
    (folder / "4k.txt").write_text("".join(f"{i}\n" for i in range(900)), encoding="utf-8")
    argv = ["setpriv", "--pdeathsig", "KILL", "nginx", "-p", str(folder), "-c", str(configuration)]
    argv += ["-e", str(folder / "error.log")]
    with serving(argv, allocator, folder, lambda: answers(port), signal.SIGQUIT) as server:
        for row, path in PATHS.items():
            command = ["wrk", "-t", "1", "-c", "32", "-d", f"{max(1, round(SECONDS * scale))}s"]
            command += ["--latency", "-H", "Accept-Encoding: gzip"]
            address = f"http://127.0.0.1:{port}{path}"
            yield row, server.measured(lambda: load([*command, address]))  # noqa: B023  run at once


def free_port() -> int:
    """Return a port of the loopback device that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """Return whether somebody listens on the port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def load(command: list[str]) -> Load:
    """Run wrk and read what it reports."""
    return parse(run_child(command, {}, LOAD_LIMIT_S))


def parse(output: str) -> Load:
    """Read the report of ``wrk --latency``; RunFailed if requests were refused."""
    total = re.search(r"(\d+) requests in ([\d.]+)s", output)
    tail = re.search(r"99%\s+([\d.]+)(us|ms|s)", output)
    if total is None or tail is None or "Non-2xx" in output:
        raise RunFailed(f"wrk: {' '.join(output.split()[-20:])}")
    return Load(float(total[1]), float(total[2]), float(tail[1]) * UNITS[tail[2]])
