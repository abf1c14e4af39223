"""Who runs the jobs: this machine in order, or a cluster of which a worker dies."""

from __future__ import annotations

import importlib.util
import itertools
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tune_support import World, ground, single

from pipeline.core.digest import digest_file
from pipeline.core.errors import ToolError
from pipeline.judge.request import BenchCommand
from pipeline.tune.engine import HERE, NONE, RESOURCE, Cluster, Local, engine_for
from pipeline.tune.loop import Loop
from pipeline.tune.measure import File, Job, Result
from pipeline.tune.state import Journal

JOBS = 8
needs_extra = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None,
    reason="the extra 'cluster' is not installed: HAKMEM_CLUSTER=1 ./bootstrap --help",
)


def jobs() -> list[Job]:
    return [ground().job(single("a"), number, 1) for number in range(JOBS)]


def real_job(folder: Path) -> Job:
    """Return a job of two pairs of a real process with a real library."""
    source = Path(__file__).parents[1] / "judge" / "toy_library.c"
    flags = ["-shared", "-fPIC", "-DROUNDS=1", '-DPLACE=".text"']
    subprocess.run(["cc", *flags, "-o", folder / "lib.so", source], check=True)
    library = File(folder / "lib.so", digest_file(folder / "lib.so"))
    line = "echo ops=1 seconds=1 cpu_seconds=1 peak_rss_kib=1000"
    bench = BenchCommand("spoken", ("/bin/sh", "-c", line))
    return Job("same", library, library, (bench,), {"spoken": (0, 2)}, 1, "context")


def measure_slowly(job: Job) -> Result:
    """Measure for a moment; leave a note of when, and in which process."""
    began = time.time()
    time.sleep(0.25)
    note = f"{os.getpid()} {began} {time.time()}\n"
    with Path(job.context).open("a", encoding="utf-8") as file:
        file.write(note)
    return World({"a": (1.0, 1.0)}).measure(job)


def test_this_machine_runs_one_job_at_a_time_in_order_and_only_when_asked() -> None:
    world = World({"a": (1.0, 1.0)})
    results = Local(world.measure).run(iter(jobs()))
    assert next(results).key == jobs()[0].key
    assert len(world.jobs) == 1
    assert [result.key for result in results] == [job.key for job in jobs()[1:]]


def test_without_the_extra_this_process_measures_and_says_how_to_have_a_cluster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pipeline.tune.engine.is_installed", lambda: False)
    told: list[str] = []
    with engine_for(None, told.append) as engine:
        assert isinstance(engine, Local)
    assert len(told) == 1
    assert "requirements-cluster.lock" in told[0]


def test_who_wants_no_scheduler_is_told_nothing() -> None:
    told: list[str] = []
    with engine_for(NONE, told.append) as engine:
        assert isinstance(engine, Local)
    assert told == []


@needs_extra
def test_with_the_extra_a_cluster_of_this_machine_measures() -> None:
    told: list[str] = []
    with engine_for(None, told.append) as engine:
        assert isinstance(engine, Cluster)
        assert engine.workers() == 1
    assert told == []


@needs_extra
def test_where_no_cluster_can_be_started_the_message_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(**_: object) -> None:
        raise RuntimeError("Cluster failed to start: no loopback")

    monkeypatch.setattr("distributed.LocalCluster", refuse)
    with pytest.raises(ToolError, match=r"no cluster can be started.*no loopback") as error:
        Cluster(HERE)
    assert "--scheduler none" in error.value.hint


@needs_extra
def test_a_worker_measures_real_programs(tmp_path: Path) -> None:
    """What a worker does runs in a thread: no part of it may be for the main thread alone."""
    job = real_job(tmp_path)
    engine = Cluster(HERE)
    try:
        (result,) = engine.run([job])
    finally:
        engine.close()
    assert result.key == job.key
    assert len(result.samples["spoken"]) == 2


def test_without_the_extra_the_message_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ToolError, match="needs the package distributed") as error:
        Cluster("tcp://127.0.0.1:1")
    assert "requirements-cluster.lock" in error.value.hint


@needs_extra
def test_a_scheduler_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.tune.engine.CONNECT_LIMIT_S", 1.0)
    with pytest.raises(ToolError, match="no scheduler answers at tcp"):
        Cluster("tcp://127.0.0.1:9")
    with pytest.raises(ToolError, match="no scheduler answers at rubbish"):
        Cluster("rubbish://")


@needs_extra
def test_a_cluster_of_this_machine_measures_in_a_process_of_its_own_and_ends(
    tmp_path: Path,
) -> None:
    notes = tmp_path / "notes"
    engine = Cluster(HERE, measure_slowly)
    found = list(engine.run(replace(job, context=str(notes)) for job in jobs()[:2]))
    engine.close()
    assert {result.key for result in found} == {
        replace(job, context=str(notes)).key for job in jobs()[:2]
    }
    workers = {line.split()[0] for line in notes.read_text(encoding="utf-8").splitlines()}
    assert workers
    assert str(os.getpid()) not in workers
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


@needs_extra
def test_a_killed_worker_loses_no_result_and_workers_run_one_job_at_a_time(tmp_path: Path) -> None:
    from distributed import LocalCluster

    notes, journal = tmp_path / "notes", Journal(tmp_path / "results")
    wanted = [replace(job, context=str(notes)) for job in jobs()]
    with (
        closing(Loop()) as loop,
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            resources={RESOURCE: 1},
            loop=loop.loop,
            dashboard_address="127.0.0.1:0",
        ) as cluster,
    ):
        victim = cluster.workers[0].process.pid
        engine = Cluster(cluster.scheduler_address, measure_slowly)
        try:
            for result in engine.run(wanted):
                if len(journal) == 0:
                    os.kill(victim, signal.SIGKILL)
                journal.add(result)
        finally:
            engine.close()
    assert all(journal.find(job.key) is not None for job in wanted)
    assert len(Journal(tmp_path / "results")) == JOBS
    rows = [line.split() for line in notes.read_text(encoding="utf-8").splitlines()]
    assert_one_at_a_time([(pid, float(start), float(end)) for pid, start, end in rows])


def assert_one_at_a_time(rows: list[tuple[str, float, float]]) -> None:
    for pid in {pid for pid, _, _ in rows}:
        spans = sorted((start, end) for who, start, end in rows if who == pid)
        for (_, end), (start, _) in itertools.pairwise(spans):
            assert end <= start
