"""The judge on real processes: toy libraries of known worth, really preloaded, timed, counted."""

import dataclasses
import os
import re
import shutil
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from judge_support import compile_c, pairs, result_of, throughput_of

from pipeline.core.errors import ArtifactError, WorkloadError
from pipeline.core.places import PLACES
from pipeline.judge import judging
from pipeline.judge.bench import parse_bench_line, timed_run
from pipeline.judge.counting.valgrind import ValgrindSource
from pipeline.judge.health import check_all
from pipeline.judge.judging import judge
from pipeline.judge.model import SILENT, VerifyResult
from pipeline.judge.pairing import PairedRunner
from pipeline.judge.publishing import may_publish
from pipeline.judge.request import (
    BenchCommand,
    CacheGeometry,
    HealthCommand,
    JudgeRequest,
    Side,
)
from pipeline.judge.samples import SIDES, RunSample
from pipeline.judge.schedule import PlannedPair, plan
from pipeline.judge.tasks import Task
from pipeline.judge.verdict import Verdict
from pipeline.report.findings import findings

L1I = CacheGeometry(size=32 * 1024, ways=8)
VALGRIND = shutil.which("valgrind")
needs_valgrind = pytest.mark.skipif(VALGRIND is None, reason="valgrind is not installed")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toys")
    for name, place, rounds in (
        ("fast", ".text", 20),
        ("far", ".toy_code", 20),
        ("slow", ".text", 80),
    ):
        flags = ("-shared", "-fPIC", f'-DPLACE="{place}"', f"-DROUNDS={rounds}")
        compile_c("toy_library.c", folder / f"{name}.so", *flags)
    crash = ("-shared", "-fPIC", '-DPLACE=".text"', "-DROUNDS=*(volatile int *)8")
    compile_c("toy_library.c", folder / "crashing.so", *crash)
    compile_c("toy_bench.c", folder / "bench", "-DMEASURED=bench_measured")
    compile_c("toy_bench.c", folder / "unmeasured", "-DMEASURED=something_else")
    return folder


def bench(built: Path, *extra: str, program: str = "bench", ops: int = 300_000) -> BenchCommand:
    path = str(built / program)
    return BenchCommand(
        name="toy",
        argv=(path, str(ops), *extra),
        count_argv=(path, "1000", *extra),
        timeout_s=200.0,
    )


def request(built: Path, logs: Path, baseline: str, tuned: str) -> JudgeRequest:
    return JudgeRequest(
        baseline=built / f"{baseline}.so",
        tuned=built / f"{tuned}.so",
        benches=(bench(built),),
        tasks=(Task("toy", "bench", ("1000",), path=built / "bench"),),
        health=(HealthCommand(name="python", argv=(sys.executable, "-c", "print(abs(-3))")),),
        logs=logs,
        time_budget_s=1.0,
    )


def timed_alone(built: Path, logs: Path, baseline: str, tuned: str) -> JudgeRequest:
    """Return a request that counts nothing."""
    asked = request(built, logs, baseline, tuned)
    (one,) = asked.benches
    return dataclasses.replace(
        asked, benches=(dataclasses.replace(one, count_argv=None),), tasks=()
    )


def quiet(_: str) -> None:
    """Take a line of progress and drop it."""


@needs_valgrind
def test_a_faster_library_passes_and_a_slower_one_does_not(built: Path, tmp_path: Path) -> None:
    # It stops when it has decided; a noisy machine may need the time.
    asked = dataclasses.replace(request(built, tmp_path, "slow", "fast"), time_budget_s=20.0)
    gain = judge(dataclasses.replace(asked, logs=tmp_path / "1"), quiet)
    assert gain.keys.throughput.verdict is Verdict.GO
    assert gain.throughput.overall.value > 1.2
    assert may_publish(gain, False)[0]
    turned = dataclasses.replace(asked, baseline=asked.tuned, tuned=asked.baseline)
    loss = judge(dataclasses.replace(turned, logs=tmp_path / "2"), quiet)
    assert loss.keys.throughput.verdict is Verdict.NO_GO
    assert not may_publish(loss, True)[0]


@needs_valgrind
def test_a_result_says_everything_about_itself_and_survives_json(
    built: Path, tmp_path: Path
) -> None:
    lines: list[str] = []
    result = judge(request(built, tmp_path, "slow", "fast"), lines.append)
    assert VerifyResult.model_validate_json(result.model_dump_json()) == result
    assert result.schema_version == 2
    assert result.counting.source == "valgrind"
    assert "perf is not installed" in result.counting.why
    assert result.environment.tools["perf"] == "not installed"
    assert result.environment.tools["valgrind"].startswith("3.")
    assert result.environment.cores >= 1
    assert result.baseline.sha256 != result.tuned.sha256
    assert result.baseline.text_bytes > 0
    assert len(result.throughput.workloads[0].samples) == result.throughput.pairs >= 10
    assert any("counting toy" in line for line in lines)
    assert any("health: python" in line for line in lines)


def test_the_seconds_of_a_judgement_hold_its_check_of_itself(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]

    def check(*_: object) -> None:
        clock[0] += 1000

    monkeypatch.setattr(judging, "check", check)
    monkeypatch.setattr(judging, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    assert judge(request(built, tmp_path, "fast", "fast"), quiet).seconds == 1000


def test_a_json_result_with_an_unknown_field_is_refused(built: Path, tmp_path: Path) -> None:
    data = judge(timed_alone(built, tmp_path, "fast", "fast"), quiet).model_dump(mode="json")
    assert VerifyResult.model_validate(data)
    with pytest.raises(ValueError, match="Extra inputs"):
        VerifyResult.model_validate(data | {"surprise": 1})
    with pytest.raises(ValueError, match="schema_version"):
        VerifyResult.model_validate(data | {"schema_version": 1})


@needs_valgrind
def test_counts_repeat_exactly_whatever_the_environment(built: Path, tmp_path: Path) -> None:
    source = ValgrindSource(Path(VALGRIND or ""))
    plain = bench(built)
    padded = dataclasses.replace(plain, env={"PAD": "x" * 3001}, count_env={"PAD": "y" * 17})
    counts = [
        source.count(one, built / "fast.so", L1I, tmp_path / "c.log")
        for one in (plain, plain, padded)
    ]
    assert counts[0] == counts[1] == counts[2]
    assert counts[0].operations == 1000


@needs_valgrind
def test_code_in_another_section_counts_the_same(built: Path, tmp_path: Path) -> None:
    """callgrind does not know whose code it is outside .text; the judge does."""
    source = ValgrindSource(Path(VALGRIND or ""))
    plain, far = (
        source.count(bench(built), built / f"{name}.so", L1I, tmp_path / "c.log")
        for name in ("fast", "far")
    )
    assert plain.instructions == far.instructions
    assert plain.instructions is not None
    # 20 rounds of at least four instructions each, and not the bench loop around them.
    assert 80 < plain.instructions.value < 250
    assert plain.total_instructions is not None
    assert plain.total_instructions.value > plain.instructions.value


@needs_valgrind
def test_four_times_the_work_is_counted_as_such(built: Path, tmp_path: Path) -> None:
    source = ValgrindSource(Path(VALGRIND or ""))
    fast, slow = (
        source.count(bench(built), built / f"{name}.so", L1I, tmp_path / "c.log")
        for name in ("fast", "slow")
    )
    assert fast.instructions is not None
    assert slow.instructions is not None
    assert slow.instructions.value / fast.instructions.value == pytest.approx(4, abs=0.6)
    assert fast.hot_lines == slow.hot_lines


@needs_valgrind
def test_the_same_library_twice_is_neutral_on_the_icache_key(built: Path, tmp_path: Path) -> None:
    result = judge(request(built, tmp_path, "fast", "fast"), quiet)
    assert result.keys.icache.verdict is Verdict.NEUTRAL
    counts = result.counting.workloads[0]
    assert counts.baseline == counts.tuned
    (program,) = result.programs
    assert program.baseline and program.tuned
    assert program.baseline.i1_misses == pytest.approx(program.tuned.i1_misses, rel=0.01)


@needs_valgrind
def test_counting_without_the_measured_function_is_an_error(built: Path, tmp_path: Path) -> None:
    source = ValgrindSource(Path(VALGRIND or ""))
    with pytest.raises(WorkloadError, match="bench_measured was never entered"):
        source.count(bench(built, program="unmeasured"), built / "fast.so", L1I, tmp_path / "c.log")


@needs_valgrind
def test_counting_a_library_that_does_nothing_is_an_error(built: Path, tmp_path: Path) -> None:
    idle = compile_c("toy_library.c", tmp_path / "idle.so", "-shared", "-fPIC", "-DROUNDS=1",
                     '-DPLACE=".text"', "-Dlabs=not_labs")  # fmt: skip
    source = ValgrindSource(Path(VALGRIND or ""))
    with pytest.raises(WorkloadError, match="executed nothing"):
        source.count(bench(built), idle, L1I, tmp_path / "c.log")


def test_a_library_that_does_not_load_is_an_error_and_not_a_tie(
    built: Path, tmp_path: Path
) -> None:
    with pytest.raises(WorkloadError, match=r"cannot be preloaded"):
        timed_run(bench(built), tmp_path / "missing.so", 0, tmp_path / "x.log")


@pytest.mark.parametrize(("how", "word"), [("crash", "SIGABRT"), ("mute", "no result")])
def test_a_workload_that_fails_is_an_error_with_a_log(
    built: Path, tmp_path: Path, how: str, word: str
) -> None:
    log = tmp_path / "x.log"
    with pytest.raises(WorkloadError, match=word) as caught:
        timed_run(bench(built, how), built / "fast.so", 0, log)
    assert caught.value.log == log
    assert log.exists()


PLANNED = PlannedPair(round=3, workload="toy", first="tuned", padding=100)


def runner(built: Path, logs: Path) -> PairedRunner:
    return PairedRunner({"baseline": built / "slow.so", "tuned": built / "fast.so"}, logs)


def test_one_thread_runs_together_on_one_cpu(built: Path, tmp_path: Path) -> None:
    before = os.sched_getaffinity(0)
    sample = runner(built, tmp_path)(bench(built, ops=2_000_000), PLANNED)
    assert sample.together
    assert sample.tuned.ops_per_sec > 1.5 * sample.baseline.ops_per_sec
    # Each was charged its own CPU time, and waited while the other one had the CPU.
    assert sample.baseline.wall_ops_per_sec < sample.baseline.ops_per_sec
    assert os.sched_getaffinity(0) == before


def test_the_pairs_of_a_block_run_side_by_side(built: Path, tmp_path: Path) -> None:
    cpus: list[tuple[int, frozenset[int]]] = []
    before = os.sched_getaffinity(0)

    class Watched(PairedRunner):
        def _run(self, bench: BenchCommand, pair: PlannedPair, side: Side) -> RunSample:
            cpus.append((pair.round, frozenset(os.sched_getaffinity(0))))
            return super()._run(bench, pair, side)

    block = next(plan({"toy": range(2)}, seed=1))
    watched = Watched({"baseline": built / "slow.so", "tuned": built / "fast.so"}, tmp_path)
    samples = watched.block(bench(built, ops=2_000_000), block)
    assert [sample.round for sample in samples] == [0, 1]
    assert all(sample.together for sample in samples)
    # Both sides of a pair on one CPU; the other pair has another, where there is one.
    places = dict(cpus)
    assert len(set(cpus)) == len(places) == 2
    assert len(set(places.values())) == min(2, len(before))
    assert os.sched_getaffinity(0) == before


def test_several_threads_run_in_turn(built: Path, tmp_path: Path) -> None:
    two = compile_c("toy_bench.c", tmp_path / "two", "-DMEASURED=bench_measured", "-DTHREADS=2")
    sample = runner(built, tmp_path)(BenchCommand(name="toy", argv=(str(two), "1000")), PLANNED)
    assert not sample.together
    assert (sample.first, sample.round, sample.padding) == ("tuned", 3, 100)
    assert sorted(path.name for path in (tmp_path / "toy").iterdir()) == [
        "003-baseline.log",
        "003-tuned.log",
        "warm-up.log",
    ]


def test_a_pair_runs_the_program_with_its_code_at_one_place(built: Path, tmp_path: Path) -> None:
    """Both sides: where a load of the program meets one of the library, it is the same for both."""
    here = bench(built)
    there = shutil.copy2(here.argv[0], tmp_path / "elsewhere")
    placed = dataclasses.replace(here, elsewhere=((str(there), *here.argv[1:]),))
    for place, program in enumerate((here.argv[0], there, here.argv[0])):
        runner(built, tmp_path)(placed, dataclasses.replace(PLANNED, place=place))
        for side in SIDES:
            log = (tmp_path / "toy" / f"003-{side}.log").read_text(encoding="utf-8")
            assert str(program) in log.splitlines()[0]


def test_pairs_come_to_each_place_in_turn() -> None:
    pairs = [pair for block in plan({"toy": range(64)}, seed=1) for pair in block]
    count = Counter(pair.place for pair in pairs)
    assert count == dict.fromkeys(range(PLACES), 64 // PLACES)
    seeds = [next(plan({"toy": range(2)}, seed))[0].place for seed in range(64)]
    assert len(set(seeds)) > PLACES / 2


def test_an_error_names_workload_and_side(built: Path, tmp_path: Path) -> None:
    asked = timed_alone(built, tmp_path, "fast", "crashing")
    with pytest.raises(WorkloadError, match=r"toy \(tuned\).*SIGSEGV"):
        judge(asked, quiet)


def test_a_workload_that_hangs_is_an_error(built: Path, tmp_path: Path) -> None:
    endless = dataclasses.replace(bench(built, ops=10**12), timeout_s=0.5)
    with pytest.raises(WorkloadError, match=r"limit of 0\.5 s"):
        timed_run(endless, built / "fast.so", 0, tmp_path / "x.log")


def test_a_file_that_is_no_library_is_refused_before_anything_runs(
    built: Path, tmp_path: Path
) -> None:
    (tmp_path / "text.so").write_text("not a library")
    asked = request(built, tmp_path / "logs", "fast", "fast")
    with pytest.raises(ArtifactError, match="ELF"):
        judge(dataclasses.replace(asked, tuned=tmp_path / "text.so"), quiet)


@pytest.mark.parametrize(
    "stdout",
    [
        "",
        "hello",
        "bench=x ops=10 seconds=5",
        "bench=x ops=10 seconds=0 peak_rss_kib=7",
        "bench=x ops=10 seconds=nan peak_rss_kib=7",
        "bench=x ops=10 seconds=fast peak_rss_kib=7",
        "bench=x ops=10 seconds=5 peak_rss_kib=7 cpu_seconds=0",
    ],
)
def test_a_result_line_with_a_hole_is_refused(stdout: str) -> None:
    with pytest.raises(ValueError, match=r"no |says|float"):
        parse_bench_line(stdout)


@pytest.mark.parametrize(
    ("tail", "clock", "rate"),
    [
        ("threads=1", "wall", 500.0),
        ("threads=1 cpu_seconds=1.0", "cpu", 1000.0),
        ("threads=2 cpu_seconds=4.0", "cpu", 250.0),
    ],
)
def test_runs_are_judged_by_cpu_time_where_it_is_known(tail: str, clock: str, rate: float) -> None:
    line = parse_bench_line(f"bench=x ops=1000 seconds=2.0 peak_rss_kib=7 {tail}")
    assert (line.sample().clock, line.sample().ops_per_sec) == (clock, rate)
    assert line.sample().wall_ops_per_sec == 500.0


def test_a_run_on_another_allocator_is_an_error(built: Path, tmp_path: Path) -> None:
    other = shutil.copy(built / "fast.so", tmp_path / "libhakmem.so")
    said = compile_c("toy_bench.c", tmp_path / "other", "-DMEASURED=bench_measured",
                     '-DALLOCATOR="libc.so.6"')  # fmt: skip
    command = BenchCommand(name="toy", argv=(str(said), "1000"))
    with pytest.raises(WorkloadError, match=r"ran on libc\.so\.6 instead of libhakmem\.so"):
        timed_run(command, Path(other), 0, tmp_path / "x.log")


def health(argv: list[str], built: Path, tmp_path: Path, **options: object) -> tuple[bool, str]:
    command = HealthCommand(name="program", argv=tuple(argv), **options)  # type: ignore[arg-type]
    found = check_all((command,), built / "fast.so", tmp_path, quiet)
    return found.sound, f"{found.checks[0].status}: {found.checks[0].detail}"


SHOW_PRELOAD = "import os; print(os.environ.get('LD_PRELOAD'))"
DIE_PRELOADED = "import os; os.environ.get('LD_PRELOAD') and os.abort()"
COMPLAIN_PRELOADED = DIE_PRELOADED.replace("os.abort()", "(os.write(2, b'one\\ntwo'), os.abort())")
SHELL_PRELOADED = """[ -z "$LD_PRELOAD" ] || sh -c 'kill -SEGV $$'; exit $?"""
HANG_PRELOADED = '[ -z "$LD_PRELOAD" ] || sleep 600'


def test_health_of_a_program_that_does_the_same(built: Path, tmp_path: Path) -> None:
    assert health([sys.executable, "-c", "print(3)"], built, tmp_path) == (
        True,
        "passed: same as plain",
    )


def test_a_check_that_prints_nothing_shows_nothing_and_is_told(built: Path, tmp_path: Path) -> None:
    """It was passed, "same as plain", for a server that no client had asked."""
    silent = HealthCommand(name="kv", argv=("sh", "-c", "echo gone >&2"))
    told: list[str] = []
    found = check_all((silent,), built / "fast.so", tmp_path, quiet, told.append)
    (check,) = found.checks
    assert (check.status, check.detail, check.stderr) == ("passed", SILENT, "gone")
    assert told == [
        "no health check printed anything: kv; a check has to print what its program worked out"
    ]
    result = result_of(throughput_of(loop=pairs(1.03))).model_copy(update={"health": found})
    doubts = [one.what for one in findings(result, None, None) if one.anchor == "health"]
    assert doubts == [
        "kv ended well and wrote to stderr",
        "no health check printed anything: kv",
    ]
    spoken = HealthCommand(name="other", argv=("echo", "x"))
    assert not check_all((silent, spoken), built / "fast.so", tmp_path, quiet).silent


def test_a_failed_check_is_told_before_anything_is_measured(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build measured for minutes, and told at its end what it had known at the begin."""

    class Measuring(Exception):
        pass

    def measuring(*_: object) -> None:
        raise Measuring

    monkeypatch.setattr("pipeline.judge.judging.count", measuring)
    dying = HealthCommand(name="program", argv=(sys.executable, "-c", DIE_PRELOADED))
    for command, wanted in (
        (dying, ["nothing will be published: health check failed: program: killed by SIGABRT"]),
        (HealthCommand(name="program", argv=("echo", "x")), []),
    ):
        said: list[str] = []
        asked = dataclasses.replace(request(built, tmp_path, "slow", "fast"), health=(command,))
        with pytest.raises(Measuring):
            judge(asked, quiet, said.append)
        assert [one.partition(" (log: ")[0] for one in said] == wanted


def test_a_failed_check_names_its_log_from_here(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = HealthCommand(name="program", argv=(sys.executable, "-c", DIE_PRELOADED))
    found = check_all((command,), built / "fast.so", tmp_path / "logs", quiet)
    assert found.reason.endswith("SIGABRT (log: logs/program-preloaded.log)")


def test_health_of_a_program_whose_output_varies_proves_nothing(
    built: Path, tmp_path: Path
) -> None:
    """It was called a failure of the library."""
    sound, said = health([sys.executable, "-c", "import os; print(os.getpid())"], built, tmp_path)
    assert (sound, said) == (
        False,
        "skipped: its output differs from run to run without the library, too",
    )


SWAP_IN_RUNS = """
import pathlib, sys
count, swapped = pathlib.Path(sys.argv[1]), sys.argv[2:]
count.write_text(count.read_text() + "x")
print(*sorted("ab", reverse=str(len(count.read_text())) in swapped), sep="\\n")
"""


@pytest.mark.parametrize(
    ("swapped", "expected"),
    [("2 4", "skipped: its output differs"), ("2", "failed: other output: line 1: 'a' became 'b'")],
)
def test_lines_that_race_for_their_order_are_no_fault_of_the_library(
    swapped: str, expected: str, built: Path, tmp_path: Path
) -> None:
    """The first plain runs came alike by chance. The second run is that with the library."""
    count = tmp_path / "count"
    count.touch()
    argv = [sys.executable, "-c", SWAP_IN_RUNS, str(count), *swapped.split()]
    said = health(argv, built, tmp_path)[1]
    assert said.startswith(expected)
    assert said.endswith("in another order") is said.startswith("failed")


def test_a_library_that_is_not_preloaded_fails_though_the_output_varies(tmp_path: Path) -> None:
    argv = (sys.executable, "-c", "import os; print(os.getpid())")
    command = HealthCommand(name="program", argv=argv)
    broken = tmp_path / "broken.so"
    broken.write_text("no library", encoding="utf-8")
    found = check_all((command,), broken, tmp_path, quiet)
    assert found.checks[0].status == "failed"
    assert "the library could not be preloaded" in found.checks[0].detail


@pytest.mark.parametrize(
    ("argv", "limit_s", "word"),
    [
        ((sys.executable, "-c", SHOW_PRELOAD), 60, "failed: other output: line 1: 'None' became"),
        ((sys.executable, "-c", DIE_PRELOADED), 60, "failed: killed by SIGABRT$"),
        (
            (sys.executable, "-c", COMPLAIN_PRELOADED),
            60,
            "failed: killed by SIGABRT, its last words: 'two'$",
        ),
        (("sh", "-c", SHELL_PRELOADED), 60, "failed: exit code 139, a shell's for SIGSEGV"),
        (("sh", "-c", HANG_PRELOADED), 2, "failed: .*limit of 2 s"),
    ],
)
def test_health_of_a_program_that_does_not(
    built: Path, tmp_path: Path, argv: tuple[str, ...], limit_s: float, word: str
) -> None:
    sound, said = health([*argv], built, tmp_path, timeout_s=limit_s)
    assert not sound
    assert re.search(word, said)
    assert (tmp_path / "program-preloaded.log").exists()


def test_a_scratch_folder_is_empty_in_both_runs(built: Path, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", "import os; print(os.listdir()); open('left', 'w')"]
    assert health(argv, built, tmp_path, scratch=True)[0]


def test_programs_that_prove_nothing_are_skipped_and_do_not_pass(
    built: Path, tmp_path: Path
) -> None:
    sound, said = health(["no-such-program"], built, tmp_path)
    assert (sound, said) == (False, "skipped: no-such-program is not installed")
    sound, said = health([sys.executable, "-c", "raise SystemExit(3)"], built, tmp_path)
    assert (sound, said) == (False, "skipped: plain run: exit code 3")
