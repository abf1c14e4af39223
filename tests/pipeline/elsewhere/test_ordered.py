"""Which kinds are ordered of whom, and what is said of those that nobody makes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pipeline.core.errors import GateError, PipelineError, WorkloadError
from pipeline.core.paths import Tree
from pipeline.elsewhere.order import Made, Order
from pipeline.elsewhere.workers import Sent
from pipeline.stages.build.workshop import Options, Workshop
from pipeline.stages.publish import elsewhere
from pipeline.stages.publish.elsewhere import ordered

DEEP = "schema_version = 1\nconstants.small_depth = { value = 64, why = 'x' }\n"
NOTHING = "schema_version = 1\n"


class FakeWorkers:
    """Workers with these processors; ``fails`` has what becomes of a kind, else it is made."""

    def __init__(self, there: Mapping[str, str], fails: Mapping[str, PipelineError]) -> None:
        self._there, self._fails = there, fails
        self.orders: list[tuple[Order, frozenset[str]]] = []
        self.closed = False

    def processors(self) -> Mapping[str, str]:
        return self._there

    def send(self, order: Order, addresses: frozenset[str]) -> Sent:
        self.orders.append((order, addresses))
        return Sent(order, addresses, cast(Any, None))

    def wait(self, sent: Sent) -> Made:
        if sent.order.kind in self._fails:
            raise self._fails[sent.order.kind]
        return Made("farm", {})


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    """Surroundings with the default tables, a profile without workloads, and what is said."""
    shutil.copytree(Tree.here().root / "allocator/base", tmp_path / "allocator/base")
    (tmp_path / "layouts/mine").mkdir(parents=True)
    told: list[str] = []

    @contextmanager
    def stage(name: str) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(step=lambda _: None, done=lambda text: told.append(f"{name}: {text}"))

    return cast(
        Workshop,
        SimpleNamespace(
            tree=Tree(tmp_path),
            profile=SimpleNamespace(name="mine", workload=()),
            line="mine",
            options=Options(quick=True, cpu="all", scheduler="tcp://farm:8786", no_publish=True),
            tools=SimpleNamespace(versions={"clang": "22"}),
            store=SimpleNamespace(folder=tmp_path / "store"),
            console=SimpleNamespace(notice=told.append, stage=stage, reused=told.append),
            told=told,
        ),
    )


def told(shop: Workshop) -> list[str]:
    return list(cast(Any, shop).told)


def run(
    shop: Workshop,
    monkeypatch: pytest.MonkeyPatch,
    kinds: list[str],
    there: Mapping[str, str],
    fails: Mapping[str, PipelineError] | None = None,
) -> tuple[FakeWorkers, list[str]]:
    """Order ``kinds``; return the workers and what was taken in."""
    workers = FakeWorkers(there, fails or {})

    @contextmanager
    def workers_of(address: str) -> Iterator[FakeWorkers]:
        assert address == "tcp://farm:8786"
        yield workers
        workers.closed = True

    def take_in(_: Workshop, order: Order, made: Made) -> Any:
        return SimpleNamespace(receipt=SimpleNamespace(notes={"reason": order.kind, "host": made}))

    monkeypatch.setattr("pipeline.elsewhere.workers.workers_of", workers_of)
    monkeypatch.setattr(elsewhere, "take_in", take_in)
    monkeypatch.setattr(elsewhere, "_beside", lambda _shop, kind, _made: kind)
    for kind in kinds:
        shop.tree.geometry("mine", kind).write_text(DEEP)
    with ordered(shop, kinds) as collect:
        assert not workers.closed
        found = collect()
    return workers, cast(list[str], list(found))


def test_each_kind_is_ordered_of_the_workers_that_it_fits(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = {"a": "amd-zen3", "b": "amd-zen5", "c": "intel-icelake", "d": "amd-zen3"}
    workers, found = run(shop, monkeypatch, ["amd", "amd-zen3"], there)
    assert found == ["amd", "amd-zen3"]
    sent = {order.kind: sorted(addresses) for order, addresses in workers.orders}
    assert sent == {"amd": ["b"], "amd-zen3": ["a", "d"]}
    order = workers.orders[1][0]
    assert order.words == ("--profile", "mine", "--quick", "--cpu", "amd-zen3")
    assert order.tools == {"clang": "22"}
    assert "layouts/mine/geometry-amd-zen3.toml" in order.snapshot.files
    assert workers.closed


def test_a_kind_that_no_worker_has_or_can_make_is_named_and_the_rest_is_taken(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = {"a": "amd-zen3", "b": "intel-icelake", "c": "intel-haswell"}
    fails: dict[str, PipelineError] = {
        "intel-icelake": WorkloadError("the worker at b was lost"),
        "intel-haswell": GateError("throughput is NO-GO", hint="look at it"),
    }
    kinds = ["amd-zen1", "amd-zen3", "intel-haswell", "intel-icelake"]
    _, found = run(shop, monkeypatch, kinds, there, fails)
    assert found == ["amd-zen3"]
    assert told(shop) == [
        "the library for amd-zen1 is left out: no worker has such a processor; workers have: "
        "amd-zen3, intel-haswell, intel-icelake",
        "for amd-zen3: made on farm; amd-zen3",
        "the library for intel-haswell is left out: throughput is NO-GO; look at it",
        "the library for intel-icelake is left out: the worker at b was lost",
    ]


def test_without_workers_all_kinds_are_named(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, found = run(shop, monkeypatch, ["amd-zen3"], {})
    assert found == []
    assert told(shop) == [
        "the library for amd-zen3 is left out: no worker has such a processor; workers have: "
        "none that is known"
    ]


def test_a_kind_without_anything_of_its_own_is_not_ordered(shop: Workshop) -> None:
    shop.tree.geometry("mine", "amd-zen3").write_text(NOTHING)
    with ordered(shop, ["amd-zen3"]) as collect:
        assert collect() == ()
    assert told(shop) == ["amd-zen3 has nothing of its own: the library for all serves it, too"]
