from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from bench.harness import report
from bench.harness.allocators import Allocator
from bench.harness.results import Comparison, RunResult
from bench.harness.runner import RunFailed, Sample
from bench.harness.servers import command, nginx, postgres, redis
from bench.harness.servers.command import KINDS, Kind, run_kind
from bench.harness.servers.session import Load, serving
from bench.harness.terminal import terminal

WRK = """Running 2s test @ http://127.0.0.1:1/x
  Latency Distribution
     50%  210.00us
     99%    1.25ms
  40000 requests in 2.00s, 160.00MB read
Requests/sec:  20000.00
"""
PGBENCH = """number of transactions actually processed: 5000
number of failed transactions: 0 (0.000%)
tps = 2500.000000 (without initial connection time)
"""
REDIS = """test,rps,avg_latency_ms,min_latency_ms,p99_latency_ms
"SET","500000.00","0.5","0.1","1.5"
"""


def test_wrk_is_read_in_microseconds() -> None:
    assert nginx.parse(WRK) == Load(40000, 2.0, 1250.0)


@pytest.mark.parametrize("output", ["", WRK + "  Non-2xx or 3xx responses: 5\n"])
def test_refused_requests_are_a_failure(output: str) -> None:
    with pytest.raises(RunFailed, match="wrk"):
        nginx.parse(output)


def test_pgbench_is_read_with_its_transactions() -> None:
    load = postgres.parse(PGBENCH, np.arange(1, 1001))
    assert (load.requests, load.seconds) == (5000, 2.0)
    assert load.p99_us == pytest.approx(990, abs=1)


def test_failed_transactions_are_a_failure() -> None:
    with pytest.raises(RunFailed, match="pgbench"):
        postgres.parse(
            PGBENCH.replace("failed transactions: 0 ", "failed transactions: 3 "), np.ones(1)
        )


def test_latencies_are_the_third_column_of_all_logs(tmp_path: Path) -> None:
    (tmp_path / "row.1").write_text("0 1 250 0 1 2\n0 2 350 0 1 2\n", encoding="ascii")
    (tmp_path / "row.1.1").write_text("1 1 450 0 1 2\n", encoding="ascii")
    assert sorted(postgres.latencies_us(tmp_path, "row")) == [250, 350, 450]


def test_redis_benchmark_is_read_by_column() -> None:
    assert redis.parse(REDIS) == [
        {"rps": 5e5, "avg_latency_ms": 0.5, "min_latency_ms": 0.1, "p99_latency_ms": 1.5}
    ]


def test_latency_has_a_table_of_its_own() -> None:
    values = {"ops": 10.0, "seconds": 1.0, "cpu_seconds": 1.0, "peak_rss_kib": 5.0}
    result = RunResult("row", timed=True)
    for name, p99 in (("ours", 100.0), ("peer", 200.0)):
        result.samples[name] = [Sample({**values, "p99_us": p99})]
    cells = report.latency_table(Comparison("ours", ("ours", "peer"), (result,), {}))
    assert cells[1] == ["row", "100.0 ±0 %", "200.0 ±0 %", "peer", "0.50"]


SERVER = "import time; block = bytearray(20 << 20); print('up', flush=True); time.sleep(60)"


def test_a_server_is_watched_and_ended_with_its_children(tmp_path: Path) -> None:
    argv = ["sh", "-c", f'{sys.executable} -c "{SERVER}" & wait']
    log = tmp_path / "server.log"
    with serving(argv, Allocator("libc"), tmp_path, lambda: "up" in log.read_text()) as server:
        pids = server.pids()
        sample = server.measured(lambda: Load(5, 0.1, 7.0))
    assert len(pids) >= 2
    assert sample.values["peak_rss_kib"] > 20 << 10
    assert sample.values["p99_us"] == 7.0
    assert not [pid for pid in pids if Path(f"/proc/{pid}/exe").exists()]


def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    argv = ["sh", "-c", "echo no port; exit 1"]
    with (
        pytest.raises(RunFailed, match="the server does not start: no port"),
        serving(argv, Allocator("libc"), tmp_path, lambda: False),
    ):
        pass


def test_a_library_that_is_not_loaded_is_noticed(tmp_path: Path) -> None:
    library = Path(shutil.copy2("/usr/lib/x86_64-linux-gnu/libm.so.6", tmp_path / "libother.so"))
    log = tmp_path / "server.log"
    argv = ["env", "-u", "LD_PRELOAD", "sh", "-c", "echo up; exec sleep 60"]
    with (
        pytest.raises(RunFailed, match="was not preloaded"),
        serving(argv, Allocator("other", library), tmp_path, lambda: "up" in log.read_text()),
    ):
        pass


def test_one_failing_allocator_leaves_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    def measure(allocator: Allocator, _folder: Path, _scale: float):  # type: ignore[no-untyped-def]
        if allocator.name == "bad":
            raise RunFailed("it crashed")
        yield "row", Sample({"ops": 1.0, "seconds": 1.0, "cpu_seconds": 1.0, "peak_rss_kib": 1.0})

    allocators = [Allocator("good"), Allocator("bad")]
    found = run_kind(Kind({}, ("row",), measure), allocators, 2, 1.0, terminal())
    assert len(found[0].samples["good"]) == 2
    assert found[0].failures == {"bad": "it crashed"}
    assert "row: 2 of 2" in capsys.readouterr().out


def test_missing_servers_are_named_with_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "present", lambda what: "redis" not in what)
    done = CliRunner().invoke(command.main, ["--server", "redis"])
    assert done.exit_code == 1
    assert "redis-server redis-tools" in done.output


def test_every_row_belongs_to_one_server() -> None:
    rows = [row for kind in KINDS.values() for row in kind.rows]
    assert len(set(rows)) == len(rows)
    assert all(row.startswith(name) for name, kind in KINDS.items() for row in kind.rows)


def test_the_script_is_there() -> None:
    script = Path(__file__).resolve().parents[2] / "bench" / "servers"
    assert os.access(script, os.X_OK)
    done = subprocess.run([script, "--help"], capture_output=True, text=True)
    assert (done.returncode, "p99 latency" in done.stdout) == (0, True)
