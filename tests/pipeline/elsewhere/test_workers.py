"""Orders go to workers of the right kind; whatever happens to one, the others' results come."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from elsewhere_support import (
    KINDS,
    await_file,
    cluster_of,
    kind_by_number,
    make_at_once,
    make_for_ever,
    needs_extra,
    order_of,
)

from pipeline.core.errors import GateError, WorkloadError
from pipeline.elsewhere.workers import Workers
from pipeline.tune.engine import Cluster

if TYPE_CHECKING:
    from distributed import LocalCluster

pytestmark = needs_extra


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """Two workers, one of each kind; a killed one is started again."""
    with cluster_of(len(KINDS)) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Any]:
    with closing(Cluster(cluster.scheduler_address)) as open_cluster:
        workers = Workers(open_cluster.client, make_at_once, kind_by_number)
        while sorted(workers.processors().values()) != sorted(KINDS):
            time.sleep(0.05)
        yield open_cluster.client


def at(workers: Workers, kind: str) -> frozenset[str]:
    return frozenset(a for a, name in workers.processors().items() if name == kind)


def test_each_kind_is_made_by_its_worker_and_what_fails_says_why(client: Any) -> None:
    workers = Workers(client, make_at_once, kind_by_number)
    assert sorted(workers.processors().values()) == sorted(KINDS)
    order = order_of()
    sent = [workers.send(replace(order, kind=kind), at(workers, kind)) for kind in KINDS]
    made = [workers.wait(one) for one in sent]
    assert [int(one.host) for one in made] == [0, 1]
    assert len({one.files["pid"] for one in made} | {str(os.getpid()).encode()}) == 3
    fails = workers.send(replace(order, words=("fail",)), at(workers, KINDS[0]))
    breaks = workers.send(replace(order, words=("break",)), at(workers, KINDS[1]))
    with pytest.raises(GateError, match="it was judged and is worse") as stopped:
        workers.wait(fails)
    assert stopped.value.hint == "be better"
    with pytest.raises(WorkloadError, match="ZeroDivisionError: not foreseen"):
        workers.wait(breaks)


def test_what_nobody_waits_for_any_more_ends(client: Any, tmp_path: Path) -> None:
    workers = Workers(client, make_for_ever, kind_by_number)
    sent = [workers.send(order_of_folder(tmp_path), at(workers, kind)) for kind in KINDS]
    for number in range(2):
        await_file(tmp_path / f"began-{number}")
    workers.cancel()
    for number in range(2):
        await_file(tmp_path / f"ended-{number}")
    with pytest.raises(WorkloadError, match="the connection to the scheduler was lost"):
        workers.wait(sent[0])  # so it is told where that is why nobody waits


def test_it_ends_as_well_when_who_ordered_it_has_gone(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    with closing(Cluster(cluster.scheduler_address)) as open_cluster:
        workers = Workers(open_cluster.client, make_for_ever, kind_by_number)
        workers.send(order_of_folder(tmp_path), at(workers, KINDS[0]))
        await_file(tmp_path / "began-0")
    await_file(tmp_path / "ended-0")  # its connection is gone, and nobody has cancelled anything


def test_a_lost_worker_is_told_where_no_other_has_its_kind(
    cluster: LocalCluster, client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.elsewhere.workers.LOOK_EVERY_S", 0.2)
    workers = Workers(client, make_for_ever, kind_by_number)
    sent = workers.send(order_of_folder(tmp_path), at(workers, KINDS[0]))
    pid = int(await_file(tmp_path / "began-0").read_text())
    assert pid == cluster.workers[0].process.pid
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(WorkloadError, match=r"the worker at tcp://.* was lost"):
        workers.wait(sent)


def test_where_another_has_the_same_kind_that_one_makes_it(client: Any, tmp_path: Path) -> None:
    workers = Workers(client, make_for_ever, kind_by_number)
    both = frozenset(workers.processors())
    workers.send(order_of_folder(tmp_path), both)
    while not (began := list(tmp_path.glob("began-*"))):
        time.sleep(0.01)
    os.kill(int(began[0].read_text()), signal.SIGKILL)
    other = {"began-0": "began-1", "began-1": "began-0"}[began[0].name]
    await_file(tmp_path / other)
    workers.cancel()
    await_file(tmp_path / other.replace("began", "ended"))


def order_of_folder(folder: Path) -> Any:
    return replace(order_of(), words=(str(folder),))
