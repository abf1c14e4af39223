"""Who runs the measurements: the workers of a Dask scheduler, of our own if none is named.

Without the extra "cluster" this process does, one measurement at a time, by the same functions.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from pipeline.core.errors import ToolError, WorkloadError
from pipeline.tune.loop import Loop
from pipeline.tune.measure import Job, Result, measure

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

Measure = Callable[[Job], Result]
RESOURCE = "measuring"
"""What a worker has one of, so that it measures one job at a time."""

CONNECT_LIMIT_S = 30.0
HERE, NONE = "local", "none"
"""In place of an address: a scheduler and one worker on this machine, for this run alone; and no
scheduler at all, so that this process measures."""

INSTALL = ".venv/bin/pip install --require-hashes -r requirements-cluster.lock"

QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "5s",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.cycle": "10s",
    "distributed.admin.system-monitor.interval": "5s",
}
"""For a cluster on the machine that measures: what watches it wakes up seldom. By its defaults an
idle one takes 5 % of a processor, with these 1 %."""


class Engine(Protocol):
    """Runs jobs and returns each result as soon as it is there, in any order."""

    def run(self, jobs: Iterable[Job]) -> Iterator[Result]:
        """Run ``jobs``; the exception of a job that fails is raised here."""
        ...


class Local:
    """Runs jobs on this machine, one after the other and nothing beside."""

    def __init__(self, function: Measure = measure) -> None:
        """Measure by ``function``."""
        self._function = function

    def run(self, jobs: Iterable[Job]) -> Iterator[Result]:
        """Run ``jobs`` in order."""
        for job in jobs:
            yield self._function(job)


class Cluster:
    """Workers of a scheduler, each with one of the resource "measuring".

    A worker that is lost gives its jobs back to the scheduler, which hands them to another one.
    """

    def __init__(self, address: str, function: Measure = measure) -> None:
        """Connect to ``address``; ToolError without the extra or without a scheduler there.

        HERE for an address starts a scheduler and a worker, which end with :meth:`close`.
        """
        self._function = function
        try:
            self._loop = Loop()  # where connecting fails it goes on: Dask needs it to clean up
            with ExitStack() as open_now:
                self._client = _open(address, self._loop, open_now)
                self._open = open_now.pop_all()
        except ImportError as error:
            raise ToolError(
                "--scheduler needs the package distributed",
                hint=INSTALL,
            ) from error

    def run(self, jobs: Iterable[Job]) -> Iterator[Result]:
        """Run ``jobs``, as many at a time as there are workers."""
        from distributed import KilledWorker, as_completed

        waiting = iter(jobs)
        first = [self._submit(job) for job in islice(waiting, self.workers() + 1)]
        running = as_completed(first, loop=self._client.loop)
        try:
            for future in running:
                result: Result = future.result()
                yield result
                for job in islice(waiting, 1):
                    running.add(self._submit(job))
        except KilledWorker as error:
            raise WorkloadError(
                f"a job was lost with several workers: {error}",
                hint="it may be what kills them: see the workers' logs",
            ) from error
        finally:
            running.clear()

    @property
    def client(self) -> Client:
        """What Dask gives whoever asks for more than measurements."""
        return self._client

    def workers(self) -> int:
        """Return how many workers there are now."""
        return len(self._client.scheduler_info()["workers"])

    def _submit(self, job: Job) -> Future:
        resources = {RESOURCE: 1}
        return self._client.submit(self._function, job, pure=False, resources=resources)

    def close(self) -> None:
        """Let go of the scheduler; unless it is our own, it and its workers go on."""
        self._open.close()
        self._loop.close()


def _open(address: str, loop: Loop, open_now: ExitStack) -> Client:
    if address == HERE:
        here = _one_worker_here(loop)
        open_now.callback(here.close)
        address = here.scheduler_address
    client = _connect(address, loop)
    open_now.callback(client.close)
    return client


def _one_worker_here(loop: Loop) -> LocalCluster:
    import dask
    from distributed import LocalCluster

    dask.config.set(QUIET)  # workers are given the configuration of this process
    try:
        return LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            resources={RESOURCE: 1},
            loop=loop.loop,
            dashboard_address="127.0.0.1:0",  # any port: None means 8787, which may be taken
            silence_logs=logging.CRITICAL,  # after ctrl-C it would warn of what is meant to be so
        )
    except (OSError, RuntimeError) as error:
        raise ToolError(
            f"no cluster can be started on this machine: {error}",
            hint="--scheduler none measures in this process",
        ) from error


def _connect(address: str, loop: Loop) -> Client:
    from distributed import Client

    try:
        return Client(address, timeout=CONNECT_LIMIT_S, set_as_default=False, loop=loop.loop)
    except (OSError, ValueError) as error:
        raise ToolError(
            f"no scheduler answers at {address}",
            hint="start one with `.venv/bin/dask scheduler` (docs/tuning.md)",
        ) from error


@contextmanager
def engine_for(scheduler: str | None, tell: Callable[[str], None]) -> Iterator[Engine]:
    """Give the engine for the time of a search.

    ``scheduler`` is an address such as tcp://host:8786, or HERE, or NONE. None leaves it to what is
    installed: HERE, or without the extra NONE, which ``tell`` tells.
    """
    if scheduler is None and not is_installed():
        tell(f"this process measures; for a cluster, also of several machines: {INSTALL}")
        scheduler = NONE
    if scheduler == NONE:
        yield Local()
        return
    cluster = Cluster(scheduler or HERE)
    try:
        yield cluster
    finally:
        cluster.close()


def is_installed() -> bool:
    """Return whether the extra "cluster" is there."""
    return importlib.util.find_spec("distributed") is not None
