"""The recorder: every call, threads, processes, and every way a program can end."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from trace_support import (
    CHILD,
    EARLY,
    EXCHANGED,
    EXECED,
    HANDED,
    LATE,
    LOOPED,
    Recorder,
    births,
    deaths,
)

from pipeline.core.errors import DataError, SpaceError
from pipeline.trace.read import Kind, processes
from pipeline.trace.record import Wishes, join, parts_folder, record
from pipeline.trace.statistics import statistics


def test_every_call_is_recorded_once(recorder: Recorder) -> None:
    trace = recorder.read(recorder.record("calls"))
    once = {20001, 20002, 20003, 20005, 20096, 20007, 20008, 20009, 20010, 20011, 20013}
    assert {size: births(trace, size) for size in once} == dict.fromkeys(once, 1)
    rows = trace.rows
    resized = rows[rows["kind"] == Kind.REALLOC]
    assert [(r["before"], r["size"]) for r in resized if r["size"] > 20000] == [
        (20003, 20004),
        (20004, 400004),
    ]
    assert deaths(trace, 400004) == 1
    assert (deaths(trace, 20009), deaths(trace, 20010), deaths(trace, 20011)) == (0, 0, 1)
    aligned = rows[(rows["kind"] == Kind.ALIGNED) & (rows["size"] > 20000)]
    assert aligned["align"].tolist() == [6, 7, 12, 12]
    assert np.count_nonzero((rows["kind"] == Kind.CALLOC) & (rows["size"] == 20002)) == 1
    assert statistics(trace).free_null >= 1


def test_before_main_and_after_exit(recorder: Recorder) -> None:
    trace = recorder.read(recorder.record("loop"))
    assert (births(trace, EARLY), births(trace, LATE), deaths(trace, LATE)) == (1, 1, 1)
    assert trace.process.closed
    assert (trace.process.foreign, trace.process.unseen, trace.process.lost) == (0, 0, 0)


def test_order_across_threads(recorder: Recorder) -> None:
    trace = recorder.read(recorder.record("handed"))
    assert (births(trace, HANDED), deaths(trace, HANDED)) == (5000, 5000)
    found = statistics(trace)
    assert found.threads[2].remote >= 5000
    assert len(found.threads) == 3
    assert found.remote_share > 0.9


def test_order_of_blocks_that_wander_between_threads(recorder: Recorder) -> None:
    """Both threads free what was allocated with the sizes that the program took, in its order."""
    count = 30_000
    trace = recorder.read(recorder.record("exchanged", str(count)))
    sizes = EXCHANGED + np.arange(count) % 997
    rows = trace.rows
    born = (rows["kind"] == Kind.MALLOC) & (rows["size"] >= EXCHANGED)
    freed = (rows["kind"] == Kind.FREE) & (rows["before"] >= EXCHANGED)
    first, second = (rows["thread"] == thread for thread in (1, 2))
    assert np.array_equal(rows["size"][born & first], sizes)
    assert np.array_equal(rows["size"][born & second], sizes)
    assert np.array_equal(rows["before"][freed], np.repeat(sizes, 2))
    assert np.array_equal(rows["object"][freed & second][::2], rows["object"][born & first])
    assert trace.process.foreign == trace.process.unseen == 0


def test_a_hundred_threads(recorder: Recorder) -> None:
    trace = recorder.read(recorder.record("threads", "2000"))
    assert (births(trace, LOOPED), deaths(trace, LOOPED)) == (200_000, 200_000)
    assert len(np.unique(trace.rows["thread"])) == 101
    assert np.count_nonzero(trace.rows["kind"] == Kind.END) == 100
    assert trace.process.foreign == trace.process.unseen == 0


def test_threads_that_come_and_go_share_chunks(recorder: Recorder) -> None:
    path = recorder.record("churn", "1000")
    assert births(recorder.read(path), LOOPED) == 10_000
    assert path.stat().st_size < 1000 * 1024


def test_children_write_files_of_their_own(recorder: Recorder) -> None:
    traces = recorder.every(recorder.record("fork"))
    assert len(traces) == 4  # the program, its fork, what that became, and what the vfork became
    assert sorted(births(t, CHILD) for t in traces) == [0, 0, 0, 1]
    assert sorted(births(t, EXECED) for t in traces) == [0, 0, 1, 1]
    assert [t.process.parent for t in traces].count(traces[0].process.pid) >= 2
    assert {t.process.name.split()[-1] for t in traces} == {"fork", "execed"}


def test_fork_while_threads_allocate(recorder: Recorder) -> None:
    traces = recorder.every(recorder.record("fork-threads"))
    assert len(traces) == 9
    assert births(traces[0], LOOPED) == 200_000
    assert [(births(t, CHILD), births(t, LOOPED)) for t in traces[1:]] == [(1, 200)] * 8


def killed_parts(recorder: Recorder, name: str, delay_s: float = 0.0) -> Path:
    """Return the folder of a program that was killed ``delay_s`` after 100,000 blocks."""
    folder = recorder.folder / name
    folder.mkdir()
    child = subprocess.Popen(
        [recorder.program, "for-ever"],
        env=Wishes().environment(recorder.tools.library, folder),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(delay_s)
    child.kill()
    child.wait()
    child.stdout.close()
    return folder


def test_kill_loses_nothing_that_happened(recorder: Recorder) -> None:
    folder = killed_parts(recorder, "parts")
    output = recorder.folder / "killed.trace"
    join(sorted(folder.iterdir()), output)
    trace = recorder.read(output)
    assert births(trace, LOOPED) > 100_000
    assert births(trace, LOOPED) - deaths(trace, LOOPED) in (0, 1)
    assert not trace.process.closed
    assert trace.process.damage == ""


def test_kills_at_any_time_leave_no_damage(recorder: Recorder) -> None:
    for attempt in range(8):
        folder = killed_parts(recorder, f"parts{attempt}", 0.001 * attempt)
        trace = recorder.read(next(folder.iterdir()))
        assert births(trace, LOOPED) - deaths(trace, LOOPED) in (0, 1)
        assert (trace.process.damage, trace.process.unseen, trace.process.foreign) == ("", 0, 0)


def test_a_program_that_closes_all_files_is_still_recorded(recorder: Recorder) -> None:
    trace = recorder.read(recorder.record("closing", "50000"))
    assert births(trace, LOOPED) == 50_000
    assert trace.process.lost == 0


def test_a_trace_may_be_called_anything(recorder: Recorder) -> None:
    path = recorder.record("calls", name="über 100%pure: %d")
    assert births(recorder.read(path), 20001) == 1


def test_exit_codes_and_signals_are_passed_on(recorder: Recorder) -> None:
    program = str(recorder.program)
    code = record(recorder.tools, [program, "fails"], recorder.folder / "a.trace")
    assert code == 7
    code = record(recorder.tools, [program, "killed"], recorder.folder / "b.trace")
    assert code == 128 + signal.SIGTERM


def test_without_room_events_are_lost_and_counted(recorder: Recorder) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
    try:
        path = recorder.record("loop", "200000")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    trace = recorder.read(path)
    assert trace.process.lost > 100_000
    assert 10_000 < births(trace, LOOPED) < 200_000
    assert path.stat().st_size <= 300_000


def test_no_room_at_all_is_said(recorder: Recorder) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        with pytest.raises(SpaceError, match="nothing was recorded: there is no room in"):
            recorder.record("calls")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(recorder.folder.glob("a.trace*")) == []


def test_one_process_is_not_copied(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.trace.record.join", None)
    assert births(recorder.read(recorder.record("calls")), 20001) == 1


def test_what_could_not_be_joined_is_kept(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_parts: object, output: Path) -> None:
        raise SpaceError(f"cannot write {output}: No space left on device")

    monkeypatch.setattr("pipeline.trace.record.join", full)
    output = recorder.folder / "a.trace"
    with pytest.raises(SpaceError, match="No space left") as caught:
        record(recorder.tools, [str(recorder.program), "fork"], output)
    folder = parts_folder(output)
    assert f"trace join -o FILE {folder}" in caught.value.hint
    monkeypatch.undo()
    join(sorted(folder.iterdir()), output)
    assert len(recorder.every(output)) == 4


def test_a_ring_keeps_the_end(recorder: Recorder) -> None:
    path = recorder.record("loop", "1000000", wishes=Wishes(ring_mib=1))
    assert path.stat().st_size <= (1 << 20) + 4096
    trace = recorder.read(path)
    assert births(trace, LATE) == 1
    assert births(trace, EARLY) == 0
    assert 100_000 < births(trace, LOOPED) < 1_000_000
    assert trace.process.damage == ""


def test_a_sample_has_whole_lives(recorder: Recorder) -> None:
    path = recorder.record("handed", wishes=Wishes(sample=10))
    trace = recorder.read(path)
    assert 300 < births(trace, HANDED) < 800
    assert births(trace, HANDED) == deaths(trace, HANDED)
    assert trace.process.left_out > 8000


def test_call_sites_repeat(recorder: Recorder) -> None:
    first, second = (
        recorder.read(recorder.record("calls", name=name, wishes=Wishes(sites=True))).rows
        for name in "ab"
    )
    ours = [rows[(rows["size"] > 20000) & (rows["size"] < 20011)] for rows in (first, second)]
    assert ours[0]["site"].tolist() == ours[1]["site"].tolist()
    assert len(set(ours[0]["site"].tolist())) >= 9


def test_files_are_private(recorder: Recorder) -> None:
    path = recorder.record("calls")
    assert path.stat().st_mode & 0o777 == 0o600
    assert not parts_folder(path).exists()


def test_a_static_program_is_named(recorder: Recorder) -> None:
    program = recorder.folder / "static"
    source = recorder.folder / "static.c"
    source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    subprocess.run(["cc", "-static", source, "-o", program], check=True)
    with pytest.raises(DataError, match="nothing was recorded"):
        record(recorder.tools, [str(program)], recorder.folder / "a.trace")
    assert not parts_folder(recorder.folder / "a.trace").exists()


def test_the_recorder_lies_behind_other_allocators_names(recorder: Recorder) -> None:
    """Symbols that the library exports are the family and nothing else."""
    text = subprocess.run(
        ["nm", "-D", "--defined-only", recorder.tools.library],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    names = {line.split()[-1] for line in text.splitlines()}
    family = "malloc free calloc realloc reallocarray memalign aligned_alloc posix_memalign"
    assert names == {*family.split(), "valloc", "pvalloc"}


def test_without_its_variable_the_recorder_does_nothing(recorder: Recorder) -> None:
    env = {**os.environ, "LD_PRELOAD": str(recorder.tools.library)}
    done = subprocess.run(
        [recorder.program, "calls"], env=env, cwd=recorder.folder, capture_output=True
    )
    assert (done.returncode, done.stderr, list(recorder.folder.iterdir())) == (0, b"", [])


def test_a_place_that_cannot_be_written_does_not_stop_the_program(recorder: Recorder) -> None:
    env = Wishes().environment(recorder.tools.library, Path("/proc/nowhere"))
    done = subprocess.run([recorder.program, "calls"], env=env, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr.startswith("hakmem-trace: cannot record into: /proc/nowhere/")
    assert done.stderr.count("\n") == 1


def test_numbers_out_of_range_are_named(recorder: Recorder) -> None:
    env = Wishes().environment(recorder.tools.library, recorder.folder)
    env["HAKMEM_TRACE_SAMPLE"] = "many"
    done = subprocess.run([recorder.program, "calls"], env=env, capture_output=True, text=True)
    assert done.returncode == 0
    assert "HAKMEM_TRACE_SAMPLE" in done.stderr
    assert len(processes(recorder.tools, next(recorder.folder.iterdir()))) == 1


def test_a_killed_process_counts_though_no_block_is_sealed(recorder: Recorder) -> None:
    path = recorder.folder / "a.trace"
    script = f"{recorder.program} killed; {recorder.program} loop 3; seq 2000 | sort >/dev/null"
    assert record(recorder.tools, ["sh", "-c", script], path) == 0
    found = {p.name.split()[-1]: p for p in processes(recorder.tools, path)}
    assert found["killed"].sealed_events == 0
    assert 0 < found["killed"].about_events < 20
