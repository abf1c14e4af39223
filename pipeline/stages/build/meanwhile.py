"""A stage beside others: where those link or train, they leave processors idle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from pipeline.core.console import HeldConsole
from pipeline.core.pool import pool
from pipeline.core.store import Store
from pipeline.stages.build.workshop import Workshop

Made = TypeVar("Made")


@contextmanager
def meanwhile(shop: Workshop, stage: Callable[[Workshop], Made]) -> Iterator[Future[Made]]:
    """Run ``stage`` in a thread while the block works, and wait for it at the block's end.

    What the stage says and raises comes there, too. An error of the block comes in its place.
    """
    console, store = HeldConsole(shop.console), Store(shop.store.folder)
    with pool(1) as threads:
        made = threads.submit(stage, replace(shop, console=console, store=store))
        yield made
    console.tell()
    shop.store.used.extend(store.used)
    made.result()
