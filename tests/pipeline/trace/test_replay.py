"""bench/replay does what was recorded: a replay that is recorded again is the same trace."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from trace_support import HANDED, LOOPED, PASSED, Recorder, births, deaths

from pipeline.judge.bench import parse_bench_line
from pipeline.trace.read import NO_OBJECT, Kind, change
from pipeline.trace.record import record

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """bench/replay, compiled alone."""
    program = tmp_path_factory.mktemp("bench") / "replay"
    recorder, bench = ROOT / "training" / "recorder", ROOT / "bench"
    sources = [
        *(bench / name for name in ("replay.c", "replay_plan.c")),
        *(bench / "common" / name for name in ("bench.c", "memory.c", "options.c")),
        *(recorder / name for name in ("reader.c", "order.c", "objects.c")),
    ]
    flags = ("-O2", "-fno-builtin", "-D_GNU_SOURCE", "-pthread", f"-I{recorder}")
    subprocess.run(["cc", *flags, *sources, "-o", program], check=True)
    return program


def play(replay: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a replay to its end."""
    return subprocess.run([replay, *arguments], capture_output=True, text=True)


def test_every_call_comes_again(recorder: Recorder, replay: Path) -> None:
    path, again = recorder.record("calls"), recorder.folder / "again.trace"
    assert record(recorder.tools, [str(replay), str(path)], again) == 0
    first, second = (recorder.read(p).rows for p in (path, again))
    for kind in Kind:
        for low, high in ((20000, 30000), (400000, 400010)):
            counts = [
                np.sort(r["size"][(r["kind"] == kind) & (r["size"] > low) & (r["size"] < high)])
                for r in (first, second)
            ]
            assert counts[0].tolist() == counts[1].tolist(), kind
    aligned = [r["align"][r["kind"] == Kind.ALIGNED].tolist() for r in (first, second)]
    assert aligned[0] == aligned[1]


def test_threads_and_their_order_come_again(recorder: Recorder, replay: Path) -> None:
    path, again = recorder.record("handed"), recorder.folder / "again.trace"
    assert record(recorder.tools, [str(replay), str(path)], again) == 0
    traces = [recorder.read(path), recorder.read(again)]
    assert [(births(t, HANDED), deaths(t, HANDED)) for t in traces] == [(5000, 5000)] * 2
    handed = [t.rows[(t.rows["size"] == HANDED) | (t.rows["before"] == HANDED)] for t in traces]
    for column in ("kind", "thread", "size", "before"):
        assert np.array_equal(handed[0][column], handed[1][column]), column


def test_a_hundred_threads_are_replayed(recorder: Recorder, replay: Path) -> None:
    path, again = recorder.record("threads", "200"), recorder.folder / "again.trace"
    assert record(recorder.tools, [str(replay), str(path)], again) == 0
    trace = recorder.read(again)
    assert births(trace, LOOPED) == 20_000
    assert len(np.unique(trace.rows["thread"][trace.rows["size"] == LOOPED])) == 100
    assert trace.process.foreign == trace.process.unseen == 0


@pytest.mark.parametrize("mode", ["handed", "passed"])
def test_threads_that_run_freely_touch_each_block_in_order(
    recorder: Recorder, replay: Path, mode: str
) -> None:
    """Every call comes again, from the same thread; each block's calls in the recorded order."""
    path, again = recorder.record(mode), recorder.folder / "again.trace"
    assert record(recorder.tools, [str(replay), str(path), "--order", "free"], again) == 0
    lives = []
    for rows in (recorder.read(p).rows for p in (path, again)):
        ours = np.isin(rows["object"], rows["object"][np.isin(rows["size"], (HANDED, PASSED))])
        by_object = rows[ours & (rows["object"] != NO_OBJECT)]
        order = np.argsort(by_object["object"], kind="stable")
        columns = [by_object[name][order].tolist() for name in ("kind", "size", "before")]
        lives.append(sorted(zip(*columns, strict=True)))
        assert len(by_object) >= 10_000
    assert lives[0] == lives[1]


def test_the_line_of_results_is_that_of_a_bench_program(recorder: Recorder, replay: Path) -> None:
    path = recorder.record("handed")
    done = play(replay, path)
    line = parse_bench_line(done.stdout)
    played = recorder.read(path).rows["kind"] != Kind.END
    assert line.operations == np.count_nonzero(played)
    assert "trace_threads=3" in done.stdout


@pytest.mark.parametrize(("ops", "expected"), [("500", 500), ("25k", 20_000), ("10000", 10_000)])
def test_length(recorder: Recorder, replay: Path, ops: str, expected: int) -> None:
    """Shorter than the trace it ends early; longer, it is played whole again and again."""
    path, cut = recorder.record("loop", "20000"), recorder.folder / "cut.trace"
    change(recorder.tools, "cut", path, "0", "0", "9999", cut)
    assert parse_bench_line(play(replay, cut, "--ops", ops).stdout).operations == expected


@pytest.mark.parametrize(
    "options",
    [
        ("--touch", "none"),
        ("--touch", "ends"),
        ("--later", "10"),
        ("--ops", "60k"),
        ("--order", "free", "--ops", "60k"),
        ("--seed", "9"),
    ],
)
def test_options(recorder: Recorder, replay: Path, options: tuple[str, ...]) -> None:
    done = play(replay, recorder.record("handed"), *options)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 1, "which trace"),
        (("--trace", "/no/such/file"), 1, "/no/such/file: cannot be read"),
        (("README.md",), 1, "README.md: not a trace"),
        (("{trace}", "--process", "7"), 1, "there is no such process in it"),
        (("{trace}", "--touch", "all"), 2, "'all' is not allowed"),
        (("{trace}", "--order", "free", "--later", "9"), 1, "not with --order free"),
        (("--trace",), 2, "--trace needs a value"),
    ],
)
def test_mistakes(
    recorder: Recorder, replay: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    trace = recorder.record("calls")
    words = [argument.format(trace=trace) for argument in arguments]
    done = subprocess.run([replay, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == code
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_damaged_trace_is_played_up_to_the_damage(recorder: Recorder, replay: Path) -> None:
    path = recorder.record("loop", "100000")
    damaged = recorder.folder / "damaged.trace"
    damaged.write_bytes(path.read_bytes()[:200_000])
    done = play(replay, damaged)
    line = parse_bench_line(done.stdout)
    assert line.operations == len(recorder.read(damaged).rows) < 200_000
    assert "damaged: a block is cut off at byte" in done.stderr
    assert "played up to there" in done.stderr


def test_the_plan_leaves_no_trace_in_the_heap(recorder: Recorder, replay: Path) -> None:
    """The trace is read in a child: with 200,000 events or 2,000 the heap begins the same."""
    sizes = []
    for name, times in (("a", "1000"), ("b", "100000")):
        path, again = recorder.record("loop", times, name=name), recorder.folder / f"{name}2.trace"
        assert record(recorder.tools, [str(replay), str(path)], again) == 0
        rows = recorder.read(again).rows
        sizes.append(int(np.flatnonzero(rows["size"] == 30001)[0]))
    assert sizes[0] == sizes[1]


def test_help_names_every_option(replay: Path) -> None:
    text = play(replay, "--help").stdout
    for option in ("--trace", "--process", "--touch", "--later", "--ops"):
        assert re.search(rf"^  {option} ", text, re.M), option
