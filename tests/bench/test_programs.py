from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.harness import report
from bench.harness.allocators import REPOSITORY, Allocator
from bench.harness.programs import running
from bench.harness.programs.command import main
from bench.harness.programs.model import WHOLE, Program, choose, load_programs, prepare
from bench.harness.programs.tables import join, tables
from bench.harness.results import Comparison, RunResult
from bench.harness.runner import RunFailed, Sample, measure
from bench.harness.terminal import terminal
from pipeline.core.errors import UsageError

ONE = Program(name="one", what="", needs={}, input="echo kept >file", run="exec cat file")


def sample(seconds: float, faults: float = 100.0, ops: float = 1.0) -> Sample:
    times = {"ops": ops, "seconds": seconds, "cpu_seconds": seconds}
    return Sample({**times, "peak_rss_kib": 2048.0, "faults": faults})


def found(**times: list[float]) -> Comparison:
    row = RunResult("z3", timed=True)
    row.samples = {name: [sample(seconds) for seconds in all_] for name, all_ in times.items()}
    return Comparison("ours", tuple(times), (row,), {}, "cpu")


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("bench") / "command"
    sources = sorted((REPOSITORY / "bench").glob("command*.c"))
    subprocess.run(["cc", "-D_GNU_SOURCE", "-o", program, *sources], check=True)
    return program


def test_there_are_fourteen_programs_and_each_says_what_brings_it() -> None:
    programs = load_programs()
    assert len(programs) >= 14
    assert len({program.name for program in programs}) == len(programs)
    for program in programs:
        assert program.needs, program.name
        assert program.run, program.name


@pytest.mark.parametrize("kind", ["c", "ps", "smt2", "pov"])
def test_inputs_are_the_same_bytes_each_time(kind: str) -> None:
    words = [sys.executable, str(WHOLE / "inputs.py"), kind]
    first, second = (subprocess.run(words, capture_output=True, check=True) for _ in range(2))
    assert len(first.stdout) > 1000
    assert first.stdout == second.stdout


def test_a_program_runs_in_the_folder_of_its_input(command: Path, tmp_path: Path) -> None:
    run = prepare(ONE, tmp_path / "one")
    got = measure(command, run.arguments(), Allocator("libc"), timeout_s=60).values
    assert (run.name, got["ops"]) == ("one", 1)
    assert got["faults"] > 0
    assert got["switches"] >= 0


def test_an_input_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    bad = ONE.model_copy(update={"input": "echo no disk >&2; exit 3"})
    with pytest.raises(RunFailed, match="no disk"):
        prepare(bad, tmp_path / "bad")


@pytest.mark.parametrize(("flag", "is_served"), [("-pie", True), ("-static", False)])
def test_a_library_counts_only_where_it_is_mapped(
    command: Path, tmp_path: Path, flag: str, is_served: bool
) -> None:
    """What is linked statically takes no notice of LD_PRELOAD, and says nothing."""
    library, program, source = tmp_path / "libempty.so", tmp_path / "waits", tmp_path / "waits.c"
    source.write_text("#include <unistd.h>\nint main(void) { return (int)sleep(2); }")
    subprocess.run(["cc", "-shared", "-o", library, "-x", "c", "/dev/null"], check=True)
    subprocess.run(["cc", flag, "-o", program, source], check=True)
    empty = Allocator("empty", library)
    if is_served:
        assert measure(command, [str(program)], empty, timeout_s=60).values["mean_rss_kib"] > 0
        return
    with pytest.raises(RunFailed, match="was not preloaded"):
        measure(command, [str(program)], empty, timeout_s=60)


def test_a_short_command_is_looked_at_also_in_real_time_on_one_processor(
    command: Path, tmp_path: Path
) -> None:
    """There it would run to its end before whoever looks gets the processor."""
    chrt = ["chrt", "-r", "1", "taskset", "-c", str(min(os.sched_getaffinity(0)))]
    if subprocess.run([*chrt, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no real-time policy is allowed here")
    library = tmp_path / "libempty.so"
    subprocess.run(["cc", "-shared", "-o", library, "-x", "c", "/dev/null"], check=True)
    rank = "import os; print(os.sched_getparam(0).sched_priority, file=open('rank', 'w'))"
    words = [*chrt, str(command), "--in", str(tmp_path), sys.executable, "-c", rank]
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    assert "allocator=libempty.so" in done.stdout
    assert (tmp_path / "rank").read_text() == "1\n"


def test_the_mean_is_that_of_the_whole_family(command: Path) -> None:
    large = "x = bytearray(64 << 20); import time; time.sleep(3)"
    words = [str(command), "sh", "-c", f"{sys.executable} -c '{large}'; :"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    fields = dict(pair.split("=") for pair in done.stdout.split())
    assert float(fields["mean_rss_kib"]) > 20 << 10


def test_tables_have_each_quantity_with_ratio_and_mean() -> None:
    cells = tables(found(ours=[0.1] * 5, fast=[0.2] * 5, slow=[0.4] * 5))
    time = next(rows for rows in cells if rows[0][0] == "processor time, ms")
    assert time[1] == ["z3", "100.0", "200.0", "400.0", "fast", "0.50 [0.50, 0.50]"]
    assert time[-1] == ["geometric mean of ratios", "0.50", "0.50", "2.00", "", "0.50"]
    faults = next(rows for rows in cells if rows[0][0] == "page faults")
    assert faults[1][1:4] == ["100", "100", "100"]
    assert all(rows[0][0] != "mean memory, MiB" for rows in cells)  # nobody has it


def test_servers_stand_in_the_table_by_request() -> None:
    row = RunResult("redis-set", timed=True)
    row.samples = {"ours": [sample(2.0, ops=1e6)]}
    (time, *_) = tables(Comparison("ours", ("ours",), (row,), {}, "cpu"))
    assert time[1][1] == "2.0 µs"


def test_earlier_runs_are_joined_row_by_row(tmp_path: Path) -> None:
    file = tmp_path / "earlier.json"
    file.write_text(json.dumps(report.as_json(found(ours=[0.1], peer=[0.2]))), encoding="utf-8")
    joined = join(found(ours=[0.3], peer=[0.4]), [file])
    (row,) = joined.results
    assert [one.values["cpu_seconds"] for one in row.samples["ours"]] == [0.1, 0.3]
    with pytest.raises(UsageError, match="compares ours, peer"):
        join(found(ours=[0.3], other=[0.4]), [file])
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match="no saved comparison"):
        join(found(ours=[0.3]), [file])


def test_what_is_missing_is_named_with_its_package(capsys: pytest.CaptureFixture[str]) -> None:
    gone = ONE.model_copy(update={"name": "gone", "needs": {"no-such-program": "some-package"}})
    assert running.lacking([ONE, gone]) == {"gone": ["some-package"]}
    assert running.leave_out([ONE, gone], terminal()) == [ONE]
    said = capsys.readouterr().out
    assert "left out: gone" in said
    assert "apt-get install -y --no-install-recommends some-package" in said


def test_names_are_shell_patterns() -> None:
    assert choose(["git-log", "git-pack", "z3"], ["git-*"]) == ["git-log", "git-pack"]
    assert choose(["z3"], []) == ["z3"]
    with pytest.raises(UsageError, match="no program is called 'emacs'"):
        choose(["z3"], ["emacs"])


def test_the_command_lists_programs_servers_and_allocators() -> None:
    done = CliRunner().invoke(main, ["--list", "--only", "--peer", "libc="])
    assert done.exit_code == 0, done.output
    for word in ("povray", "postgres", "libc"):
        assert word in done.output
    assert CliRunner().invoke(main, ["--program", "emacs", "--only", "--peer", "x="]).exit_code == 2
