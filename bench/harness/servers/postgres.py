"""PostgreSQL on a unix socket under pgbench."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.harness.allocators import Allocator
from bench.harness.runner import RunFailed, Sample, run_child
from bench.harness.servers.session import (
    LOAD_LIMIT_S,
    Load,
    serving,
    succeeds,
    unprivileged,
)

PROGRAMS = {"/usr/lib/postgresql/*/bin/postgres": "postgresql", "pgbench": "postgresql-contrib"}
OPTIONS = {
    "postgres-select": ("-S", "-M", "prepared"),
    "postgres-update": ("-N",),
    "postgres-connect": ("-S", "-C"),
}
ROWS = tuple(OPTIONS)
SECONDS = 2
CLIENTS = 8
SCALE = 2


def folder_of_programs() -> Path:
    """Return where the newest server's programs are: Debian keeps them out of PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if not found:
        raise RunFailed("there is no /usr/lib/postgresql/*/bin/postgres")
    return found[-1].parent


def measure(allocator: Allocator, folder: Path, scale: float) -> Iterator[tuple[str, Sample]]:
    """Yield a sample for each row, all of one server."""
    programs, data = folder_of_programs(), folder / "data"
    _make_data(programs, data)
    argv = [*unprivileged(), str(programs / "postgres"), "-D", str(data), "-k", str(folder)]
    for setting in ("listen_addresses=", "fsync=off", "autovacuum=off", "shared_buffers=64MB"):
        argv += ["-c", setting]
    reach = ["-h", str(folder), "-U", "owner"]
    ready = [str(programs / "pg_isready"), "-q", *reach]
    with serving(argv, allocator, folder, lambda: succeeds(ready), signal.SIGINT) as server:
        bench = [str(programs / "pgbench"), *reach]
        run_child([*bench, "-q", "-i", "-s", str(SCALE), "postgres"], {}, LOAD_LIMIT_S)
        for row, options in OPTIONS.items():
            command = [*bench, "-n", "-c", str(CLIENTS), "-T", str(max(1, round(SECONDS * scale)))]
            command += ["-l", f"--log-prefix={folder}/{row}", *options, "postgres"]
            yield row, server.measured(lambda: load(command, folder, row))  # noqa: B023  run at once


def _make_data(programs: Path, data: Path) -> None:
    data.mkdir()
    if os.geteuid() == 0:
        shutil.chown(data, "nobody", "nogroup")
        shutil.chown(data.parent, "nobody", "nogroup")
    words = ["-U", "owner", "--no-sync", "--no-locale", "-E", "UTF8", "-A", "trust"]
    run_child(
        [*unprivileged(), str(programs / "initdb"), "-D", str(data), *words], {}, LOAD_LIMIT_S
    )


def load(command: list[str], folder: Path, row: str) -> Load:
    """Run pgbench and read its report and its log of transactions."""
    output = run_child(command, {}, LOAD_LIMIT_S)
    return parse(output, latencies_us(folder, row))


def parse(output: str, latencies: np.ndarray) -> Load:
    """Read the report of pgbench; RunFailed if transactions failed."""
    done = re.search(r"number of transactions actually processed: (\d+)", output)
    rate = re.search(r"tps = ([\d.]+)", output)
    if done is None or rate is None or "failed transactions: 0 " not in output:
        raise RunFailed(f"pgbench: {' '.join(output.split()[-20:])}")
    requests = float(done[1])
    return Load(requests, requests / float(rate[1]), float(np.percentile(latencies, 99)))


def latencies_us(folder: Path, row: str) -> np.ndarray:
    """Return the latency of each transaction: the third column of pgbench's logs."""
    texts = [path.read_text(encoding="ascii") for path in folder.glob(f"{row}.*")]
    return np.array([int(line.split()[2]) for text in texts for line in text.splitlines()])
