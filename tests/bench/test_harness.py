from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from bench.harness import allocators, compare, kept, memory, report
from bench.harness.allocators import Allocator
from bench.harness.arguments import choose_allocators
from bench.harness.compare import rotated
from bench.harness.results import Comparison, RunResult, geometric_mean, of_allocators, spread
from bench.harness.rows import GROUPS, Row, Run, of_traces, select
from bench.harness.runner import RunFailed, Sample, measure, read_line, warm_memory
from bench.harness.syscalls import parse_summary
from bench.harness.terminal import fitting, print_table, progress

LINE = (
    "bench=tiny_hot ops=1000 seconds=0.000010 ops_per_sec=100000000 ns_per_op=10.00 "
    "peak_rss_kib=2048 rss_kib=1024 threads=1 seed=1 cpu_seconds=0.000009 allocator=libours.so"
)


def sample(ns: float, peak_kib: float = 1024.0) -> Sample:
    return Sample(
        {"ops": 1e6, "seconds": ns / 1e3, "cpu_seconds": ns / 1e3, "peak_rss_kib": peak_kib}
    )


def comparison(**times: list[float]) -> Comparison:
    result = RunResult("row/1t", timed=True)
    result.samples = {name: [sample(ns) for ns in values] for name, values in times.items()}
    return Comparison("ours", tuple(times), (result,), {})


def test_a_line_is_read_only_from_the_allocator_that_was_asked_for(tmp_path: Path) -> None:
    ours = Allocator("ours", tmp_path / "libours.so")
    assert read_line(LINE, ours).ns_per_op == pytest.approx(10.0)
    assert read_line("noise\n" + LINE + "\n", Allocator("libc")).peak_rss_kib == 2048
    with pytest.raises(RunFailed, match="was not preloaded"):
        read_line(LINE, Allocator("other", tmp_path / "libother.so"))
    with pytest.raises(RunFailed, match="no line"):
        read_line("", ours)


def test_the_ratio_is_against_the_best_peer_of_the_row() -> None:
    found = comparison(ours=[8.0, 9.0, 10.0], slow=[20.0], fast=[10.0, 12.0, 11.0])
    row = found.results[0]
    assert found.time_ratio(row, "ours") == pytest.approx(9 / 11)
    assert found.time_ratio(row, "fast") == pytest.approx(11 / 20)  # ours does not count
    assert found.time_mean("ours") == pytest.approx(9 / 11)


def test_ours_with_other_options_is_shown_and_no_peer(tmp_path: Path) -> None:
    library = tmp_path / "lib.so"
    library.touch()
    huge = [f"huge={library},HAKMEM_HUGE_PAGES=2"]
    chosen = choose_allocators(f"ours={library}", [f"peer={library}"], True, False, huge)
    assert [one.name for one in chosen] == ["ours", "huge", "peer"]
    row = comparison(ours=[9.0], huge=[5.0], peer=[10.0]).results[0]
    found = replace(of_allocators("ours", chosen, {}, "wall"), results=(row,))
    assert found.time_ratio(row, "ours") == pytest.approx(9 / 10)
    assert found.time_ratio(row, "huge") == pytest.approx(5 / 10)
    assert kept.comparison(report.as_json(found)).aside == ("huge",)


def test_a_ratio_has_an_interval_from_five_repetitions_on() -> None:
    noise = [1.0, 1.3, 0.9, 1.1, 1.6]
    found = comparison(ours=[8 * n for n in noise], fast=[10 * n for n in noise], slow=[90.0] * 5)
    row = found.results[0]
    low, high = found.time_interval(row) or (0.0, 0.0)
    assert low == pytest.approx(0.8)  # what slows both down alike is no noise of the ratio
    assert high == pytest.approx(0.8)
    assert "0.80 [0.80, 0.80]" in report.as_markdown(found)
    row.samples["ours"] = [sample(8 * n) for n in (1.0, 2.0, 1.0, 2.0, 1.0)]
    low, high = found.time_interval(row) or (0.0, 0.0)
    assert low < 0.8 < high
    assert report.as_json(found)["rows"][0]["allocators"]["ours"]["time_interval"] == (low, high)


def test_scaling_is_time_of_one_thread_over_time_of_several() -> None:
    one, two = comparison(ours=[8.0]).results[0], RunResult("row/2t", timed=True)
    two.samples = {"ours": [sample(5.0)]}
    by_wall = Comparison("ours", ("ours",), (one, two), {})
    assert report.scaling_table(by_wall)[1:] == [["row/2t", "1.60"]]
    assert report.scaling_table(replace(by_wall, by="cpu"))[1:] == [["row/2t", "3.20"]]
    assert report.scaling_table(replace(by_wall, results=(two,))) == []


def test_fewer_repetitions_have_none() -> None:
    found = comparison(ours=[8.0] * 4, fast=[10.0] * 4)
    assert found.time_interval(found.results[0]) is None
    assert "| 0.80 |" in report.as_markdown(found)


def test_memory_is_held_against_the_lean_families_only() -> None:
    found = comparison(ours=[1.0], glibc=[1.0], mimalloc3=[1.0])
    row = found.results[0]
    row.samples["glibc"] = [sample(1.0, peak_kib=100)]
    row.samples["mimalloc3"] = [sample(1.0, peak_kib=512)]
    assert found.rss_ratio(row, "ours") == pytest.approx(2.0)


def test_an_allocator_that_failed_has_no_ratio_and_is_no_opponent() -> None:
    found = comparison(ours=[5.0], broken=[1.0], sound=[10.0])
    row = found.results[0]
    row.failures["broken"] = "crashed"
    assert found.time_ratio(row, "broken") is None
    assert found.time_ratio(row, "ours") == pytest.approx(0.5)
    assert "broken: crashed" in report.as_markdown(found)


def test_geometric_mean_and_spread() -> None:
    assert geometric_mean([0.5, 2.0, None]) == pytest.approx(1.0)
    assert geometric_mean([None]) is None
    found = spread([sample(9.0), sample(10.0), sample(12.0)], lambda one: one.ns_per_op)
    assert found.median == pytest.approx(10.0)
    assert found.relative == pytest.approx(0.3)


def test_every_allocator_comes_first_once() -> None:
    three = [Allocator(name) for name in "abc"]
    orders = ["".join(a.name for a in rotated(three, by)) for by in range(3)]
    assert orders == ["abc", "bca", "cab"]


def test_rows_have_unique_names_and_scale_with_threads() -> None:
    runs = select(tuple(GROUPS), (), ())
    assert len({run.name for run in runs}) == len(runs)
    row = Row("r", "random_mixed", 1000, ("--check",), split_slots=100)
    assert Run(row, 2).arguments(scale=0.5) == [
        *("--ops", "1000", "--check", "--slots", "50", "--threads", "2")
    ]
    assert Run(row, 1).arguments(ops=7)[:2] == ["--ops", "7"]


def test_rows_are_selected_by_pattern_and_threads() -> None:
    assert [run.name for run in select(["speed"], ["calloc"], [])] == ["calloc/1t", "calloc/2t"]
    assert [run.name for run in select(["speed"], ["*/2t", "tree"], [1])] == ["tree/1t"]
    with pytest.raises(ValueError, match="no row is called"):
        select(["speed"], ["nonsense"], [])
    with pytest.raises(ValueError, match=r"did you mean tiny-hot\?"):
        select(["speed"], ["tinyhot"], [])


def test_allocators_are_read_from_text(tmp_path: Path) -> None:
    library = tmp_path / "lib.so"
    library.touch()
    found = allocators.parse(f"ours={library},HAKMEM_X=1,Y=a=b")
    assert found == Allocator("ours", library, {"HAKMEM_X": "1", "Y": "a=b"})
    assert allocators.parse("plain=").library is None
    for wrong in ("noequals", "=x", f"a={library},oops", "a=/nowhere.so", "a b=/x"):
        with pytest.raises(ValueError, match=r"."):
            allocators.parse(wrong)


def test_long_work_says_in_a_file_too_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as tell:
        tell("counting tree")
        tell("counting [graph]")
    assert capsys.readouterr().err.splitlines() == ["counting tree", "counting [graph]"]


def test_a_wide_table_is_printed_in_parts_that_fit_the_terminal() -> None:
    header = ["ns per operation", "ours", *(f"peer{i}" for i in range(9)), "best peer", "ratio"]
    rows = [["realloc-in-place/1t", *(f"{i + 10}.5 ±9 %" for i in range(11)), "0.93 [0.85, 1.02]"]]
    sent = io.StringIO()
    print_table([header, *rows], Console(file=sent, width=80))
    lines = sent.getvalue().splitlines()
    assert all(len(line) <= 80 for line in lines)
    parts = [line for line in lines if "realloc-in-place/1t" in line]
    assert "10.5 ±9 %" in parts[0]
    assert "0.93 [0.85, 1.02]" in parts[0]
    for i in range(11):
        assert sum(f"{i + 10}.5 ±9 %" in line for line in parts) == 1
    assert fitting([header, *rows], 250) == [[header, *rows]]


def test_an_allocator_whose_path_has_a_blank_is_refused_at_once(tmp_path: Path) -> None:
    library = tmp_path / "a b" / "lib.so"
    library.parent.mkdir()
    library.touch()
    with pytest.raises(ValueError, match="cannot be preloaded"):
        allocators.parse(f"ours={library}")


def test_a_named_peer_takes_the_place_of_a_default_one(tmp_path: Path) -> None:
    library = tmp_path / "lib.so"
    library.touch()
    chosen = choose_allocators(f"ours={library}", [f"glibc={library}"], only=False, newer=False)
    assert chosen[0].name == "ours"
    assert [a.library for a in chosen if a.name == "glibc"] == [library]


def test_strace_tables_are_read() -> None:
    text = (
        "% time     seconds  usecs/call     calls    errors syscall\n"
        "------ ----------- ----------- --------- --------- ----------------\n"
        " 60.00    0.000060           3        20           mmap\n"
        " 40.00    0.000040           4        10         1 madvise\n"
        "100.00    0.000100           3        30         1 total\n"
    )
    counts = parse_summary(text)
    assert (counts["mmap"], counts["madvise"], counts["munmap"]) == (20, 10, 0)


def test_json_holds_every_sample_and_the_ratios() -> None:
    found = json.loads(json.dumps(report.as_json(comparison(ours=[1.0, 2.0], peer=[3.0]))))
    row = found["rows"][0]["allocators"]
    assert len(row["ours"]["samples"]) == 2
    assert row["ours"]["time_ratio"] == pytest.approx(0.5)
    assert found["geometric_means"]["ours"]["time"] == pytest.approx(0.5)


def test_a_program_that_fails_is_reported_with_its_last_words() -> None:
    with pytest.raises(RunFailed, match="exit code 3 said why"):
        measure(
            Path(sys.executable),
            ["-c", "import sys; print('said why', file=sys.stderr); sys.exit(3)"],
            Allocator("libc"),
            timeout_s=300,
        )


def test_memory_is_warmed_before_each_run_of_a_row_that_asks_for_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    events: list[str] = []

    def measured(_program: Path, _arguments: list[str], allocator: Allocator, _s: float) -> Sample:
        events.append(allocator.name)
        return sample(1.0)

    monkeypatch.setattr(compare, "warm_memory", lambda mib: events.append(f"{mib} MiB"))
    monkeypatch.setattr(compare, "measure", measured)
    chosen = [Allocator("ours", tmp_path), Allocator("libc")]
    row = Row("row", "program", 1000, warm_mib=7)
    plan = compare.Plan(tmp_path, [], chosen, 2, 1.0, 1.0, False, "cpu")
    compare.run_one(plan, Run(row, 1), 0, RunResult("row/1t", timed=True))
    assert events == ["7 MiB", "ours", "7 MiB", "libc", "7 MiB", "libc", "7 MiB", "ours"]


def test_warming_memory_leaves_none_behind() -> None:
    def kib(name: str) -> int:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        return int(status.split(f"{name}:")[1].split()[0])

    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # the peak is that of now
    before = kib("VmRSS")
    warm_memory(0)
    assert kib("VmHWM") - before < 32 * 1024
    warm_memory(64)
    assert kib("VmHWM") - before > 48 * 1024
    assert kib("VmRSS") - before < 32 * 1024


@pytest.mark.parametrize("command", ["compare", "instructions"])
def test_the_commands_start(command: str) -> None:
    program = allocators.REPOSITORY / "bench" / command
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
    assert "--ours" in done.stdout


def test_memory_has_a_line_for_each_row_figure_and_setting() -> None:
    def measured(peaks: dict[str, float]) -> Comparison:
        result = RunResult("idle/1t", timed=False)
        for name, peak in peaks.items():
            values = {"peak_rss_kib": peak * 1024, "rss_kib": peak * 512, "ops": 1.0}
            result.samples[name] = [Sample(values)]
        return Comparison("ours", tuple(peaks), (result,), {})

    found = {
        "always": measured({"ours": 3, "glibc": 1, "jemalloc": 6}),
        "never": measured({"ours": 3, "glibc": 1, "jemalloc": 2}),
    }
    header, *lines = memory.table(found)
    assert header == ["RSS, MiB", "ours", "glibc", "jemalloc", "leanest", "ratio"]
    assert lines == [
        ["idle/1t peak, always", "3.0", "1.0", "6.0", "jemalloc", "0.50"],
        ["idle/1t peak, never", "3.0", "1.0", "2.0", "jemalloc", "1.50"],
        ["idle/1t end, always", "1.5", "0.5", "3.0", "jemalloc", "0.50"],
        ["idle/1t end, never", "1.5", "0.5", "1.0", "jemalloc", "1.50"],
    ]
    assert "| idle/1t peak, never | 3.0 | 1.0 | 2.0 | jemalloc | 1.50 |" in memory.as_markdown(
        found
    )
    assert json.loads(json.dumps(memory.as_json(found)))["settings"]["never"]["ours"] == "ours"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--row", "nonsense"], "no row is called 'nonsense'"),
        (["--only"], "nothing to compare"),
        (["--ours", "hakmem=/nowhere.so"], "there is no file"),
        (["--thp", "sometimes"], "sometimes"),
    ],
)
def test_memory_refuses_what_it_cannot_do(arguments: list[str], message: str) -> None:
    run = CliRunner().invoke(memory.main, arguments)
    assert run.exit_code != 0
    assert message in run.output


def test_traces_are_rows(tmp_path: Path) -> None:
    [run] = of_traces([tmp_path / "app.trace"])
    assert run.name == "replay-app/1t"
    trace = str(tmp_path / "app.trace")
    assert run.arguments(scale=0.1) == ["--ops", "500000", "--trace", trace]
