"""redis-server on a unix socket under redis-benchmark."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.harness.allocators import Allocator
from bench.harness.runner import RunFailed, Sample, run_child
from bench.harness.servers.session import (
    LOAD_LIMIT_S,
    Load,
    Server,
    serving,
    succeeds,
    unprivileged,
)

PROGRAMS = {"redis-server": "redis-server", "redis-benchmark": "redis-tools"}
ROWS = ("redis-set", "redis-get", "redis-mixed", "redis-flush")
UNTIMED = ("redis-flush",)
# Requests of one load; 16 in flight on each of 40 connections, so that the server is the limit.
REQUESTS = 1_000_000
KEYS = 100_000
COMMON = ("-c", "40", "-P", "16", "-r", str(KEYS), "--csv")
# Lists, hashes, sorted sets: many blocks of many sizes that come and go.
MIXED = ("lpush", "lpop", "hset", "zadd", "zpopmin", "incr")
# How long after FLUSHALL memory is read again, in seconds, while the server gets a few requests.
SETTLE_S = 2.0


def measure(allocator: Allocator, folder: Path, scale: float) -> Iterator[tuple[str, Sample]]:
    """Yield a sample for each row, all of one server."""
    socket = folder / "redis.sock"
    ask = ["redis-cli", "-s", str(socket)]
    argv = [*unprivileged(), "redis-server", "--port", "0", "--unixsocket", str(socket)]
    argv += ["--save", "", "--dir", str(folder)]
    with serving(argv, allocator, folder, lambda: succeeds([*ask, "ping"])) as server:
        base, requests = ["redis-benchmark", "-s", str(socket), *COMMON], int(REQUESTS * scale)
        few = requests // len(MIXED)
        yield "redis-set", server.measured(lambda: load([*base, "-d", "180"], ["set"], requests))
        yield "redis-get", server.measured(lambda: load(base, ["get"], requests))
        yield "redis-mixed", server.measured(lambda: load([*base, "-d", "60"], MIXED, few))
        yield "redis-flush", flushed(server, ask)


def load(base: list[str], tests: Sequence[str], requests: int) -> Load:
    """Run some tests of redis-benchmark; the latency of several is that of the slowest."""
    output = run_child([*base, "-n", str(requests), "-t", ",".join(tests)], {}, LOAD_LIMIT_S)
    rows = parse(output)
    if len(rows) < len(tests):
        raise RunFailed(f"redis-benchmark: {' '.join(output.split()[-20:])}")
    seconds = sum(requests / row["rps"] for row in rows)
    worst = max(row["p99_latency_ms"] for row in rows)
    return Load(requests * len(rows), seconds, worst * 1000)


def parse(output: str) -> list[dict[str, float]]:
    """Return the lines of ``redis-benchmark --csv`` as numbers by column."""
    return [
        {name: float(value) for name, value in row.items() if name != "test"}
        for row in csv.DictReader(io.StringIO(output))
    ]


def flushed(server: Server, ask: list[str]) -> Sample:
    """Empty the database; return memory before, and what is left of it a little later."""
    peak_kib = server.memory_kib()
    run_child([*ask, "flushall"], {}, LOAD_LIMIT_S)
    deadline = time.monotonic() + SETTLE_S
    while time.monotonic() < deadline:
        run_child([*ask, "set", "one", "value"], {}, LOAD_LIMIT_S)
        time.sleep(0.05)
    return Sample({"peak_rss_kib": peak_kib, "after_flush_kib": server.memory_kib()})
