"""The workers of a Dask scheduler: who has which processor, and what becomes of an order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.core.errors import PipelineError, WorkloadError
from pipeline.elsewhere.order import Made, Order, kind_here, make
from pipeline.tune.engine import RESOURCE, Cluster

if TYPE_CHECKING:
    from distributed import Client, Future

LOOK_EVERY_S = 2.0


@dataclass(frozen=True)
class Sent:
    """An order on its way: to one of the workers at these addresses."""

    order: Order
    addresses: frozenset[str]
    future: Future


class Workers:
    """Those that have one of the resource "measuring", as `pipeline tune` wants them."""

    def __init__(
        self,
        client: Client,
        function: Callable[[Order], Made] = make,
        ask: Callable[..., str] = kind_here,
    ) -> None:
        """Give orders to ``function``; ``ask`` says, on a worker, which processor it has."""
        self._client = client
        self._function = function
        self._ask = ask
        self._sent: list[Sent] = []

    def processors(self) -> dict[str, str]:
        """Return the name of each worker's processor by its address."""
        there = sorted(self._there())
        if not there:
            return {}
        found = self._client.run(self._ask, workers=there, on_error="return")
        return {address: name for address, name in found.items() if isinstance(name, str)}

    def send(self, order: Order, addresses: frozenset[str]) -> Sent:
        """Let one of these workers make it; where that one is lost another of them does."""
        future = self._client.submit(
            self._function,
            order,
            pure=False,
            workers=sorted(addresses),
            resources={RESOURCE: 1},
        )
        self._sent.append(Sent(order, addresses, future))
        return self._sent[-1]

    def wait(self, sent: Sent) -> Made:
        """Return what came of an order; PipelineError, whatever it is that went wrong."""
        from distributed import KilledWorker

        try:
            while not sent.future.done():
                self._require_there(sent)
                with suppress(TimeoutError):
                    sent.future.exception(timeout=LOOK_EVERY_S)
            made: Made = sent.future.result()
        except PipelineError:
            raise
        except KilledWorker as error:
            raise WorkloadError("it was lost with several workers: see their logs") from error
        except CancelledError as error:
            raise WorkloadError("the connection to the scheduler was lost") from error
        except Exception as error:
            kind = type(error).__name__
            raise WorkloadError(f"the worker could not make it: {kind}: {error}") from error
        return made

    def cancel(self) -> None:
        """Let the workers end what nobody waits for any more."""
        self._client.cancel([sent.future for sent in self._sent])

    def _require_there(self, sent: Sent) -> None:
        if not sent.addresses & self._there():
            gone = ", ".join(sorted(sent.addresses))
            raise WorkloadError(f"the worker at {gone} was lost, and there is no other of its kind")

    def _there(self) -> set[str]:
        workers = self._client.scheduler_info()["workers"]
        return {address for address, one in workers.items() if one["resources"].get(RESOURCE)}


@contextmanager
def workers_of(address: str) -> Iterator[Workers]:
    """Connect to a scheduler; in the end nothing that was sent there goes on."""
    cluster = Cluster(address)
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # we say what went wrong
    try:
        workers = Workers(cluster.client)
        try:
            yield workers
        finally:
            workers.cancel()
    finally:
        cluster.close()
