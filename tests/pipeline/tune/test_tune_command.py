"""The command line of tuning, and bench/command, which measures whole programs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.cli import cli
from pipeline.core.exit_codes import ExitCode
from pipeline.judge.bench import parse_bench_line

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("budget", ["", "soon", "-5m", "5d", "1s", "0m", "10m5", "9999h", "1e3"])
def test_a_budget_that_is_no_time_is_refused_with_what_is_allowed(budget: str) -> None:
    result = CliRunner().invoke(cli, ["tune", f"--tune-budget={budget}"])
    assert result.exit_code == ExitCode.USAGE
    assert "such as 90s, 10m or 2h" in result.output


def test_a_budget_is_needed() -> None:
    result = CliRunner().invoke(cli, ["tune"])
    assert result.exit_code == ExitCode.USAGE
    assert "--tune-budget" in result.output


def test_an_unknown_profile_is_named() -> None:
    done = subprocess.run(
        [ROOT / ".venv/bin/pipeline", "tune", "-p", "nobody", "--tune-budget", "30s"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == ExitCode.PROFILE
    assert "nobody" in done.stderr


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("bench") / "command"
    sources = sorted((ROOT / "bench").glob("command*.c"))
    subprocess.run(["cc", "-D_GNU_SOURCE", "-O1", "-o", program, *sources], check=True)
    return program


def run(runner: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([runner, *arguments], capture_output=True, text=True)


def test_a_command_is_one_operation_and_its_memory_is_its_own(runner: Path, tmp_path: Path) -> None:
    script = "import os; x = bytearray(64 << 20); open('here', 'w'); print('spoken')"
    done = run(runner, "--threads", "1", "--in", str(tmp_path), "python3", "-c", script)
    line = parse_bench_line(done.stdout)
    assert (line.operations, line.threads) == (1, 1)
    assert line.seconds > 0
    assert line.cpu_seconds is not None
    assert 64 << 10 < line.peak_rss_kib < 100 << 10
    assert (tmp_path / "here").exists()
    assert "spoken" not in done.stdout
    assert "threads=" not in run(runner, "true").stdout


SPINS = """
#include <stdlib.h>
#include <time.h>
int main(int count, char **words) {
    while (count > 1 && (double)clock() / CLOCKS_PER_SEC < atof(words[1])) {}
    return 0;
}
"""
DRIVER = "./my-server 0.3 & ./client 0.5; env -u LD_PRELOAD ./my-server 0.5; wait"


def test_time_of_times_the_server_alone(
    runner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spins.c").write_text(SPINS)
    (tmp_path / "empty.c").write_text("int hak_nothing;")
    cc = ["cc", "-o"]
    for name in ("my-server", "client"):
        subprocess.run([*cc, tmp_path / name, tmp_path / "spins.c"], check=True)
    library = tmp_path / "empty.so"
    subprocess.run([*cc, library, "-shared", "-fPIC", tmp_path / "empty.c"], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    inside = ("--in", str(tmp_path))
    alone = parse_bench_line(
        run(runner, "--time-of", "my-server", *inside, "sh", "-c", DRIVER).stdout
    )
    whole = parse_bench_line(run(runner, *inside, "sh", "-c", DRIVER).stdout)
    assert alone.cpu_seconds is not None and whole.cpu_seconds is not None
    assert 0 < alone.cpu_seconds < 0.45  # neither the client nor the server without the library
    assert whole.cpu_seconds > 1.2
    none = run(runner, "--time-of", "nobody", *inside, "sh", "-c", DRIVER)
    assert (none.returncode, none.stdout) == (1, "")
    said, _, ran = none.stderr.strip().partition("; these ran: ")
    assert said == "command: no process called nobody ran with the library"
    assert {"sh", "client", "my-server"} <= set(ran.split(", "))


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["false"], 1, ""),
        (["sh", "-c", "exit 7"], 7, ""),
        (["sh", "-c", "kill -9 $$"], 137, ""),
        (["no-such-program"], 1, "cannot run no-such-program"),
        (["--in", "/nonexistent", "true"], 1, "cannot run true"),
        ([], 2, "usage"),
        (["--threads", "0", "true"], 2, "usage"),
        (["--help"], 2, "usage"),
    ],
)
def test_a_command_that_fails_gives_no_result(
    runner: Path, words: list[str], code: int, says: str
) -> None:
    done = run(runner, *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr
