"""A stage beside others: where those link or train, they leave processors idle."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from pipeline.core import interrupts
from pipeline.core.console import HeldConsole
from pipeline.core.pool import pool
from pipeline.core.process import echoing
from pipeline.core.store import Store
from pipeline.stages.build.workshop import StageDue, Workshop

Made = TypeVar("Made")


class _Aside:
    """What runs beside the block: if it fails while the block works, it stops the block."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self._lock = threading.Lock()
        self._over = False

    def run(self, stage: Callable[[Workshop], Made], shop: Workshop) -> Made:
        try:
            with echoing(shop.console.child):
                return stage(shop)
        except StageDue:  # no failure, and the block tells of its own stages first
            raise
        except Exception as error:
            self._stop_the_block(error)
            raise

    def _stop_the_block(self, error: Exception) -> None:
        with self._lock:
            if not self._over:
                self.error = error
                interrupts.interrupt()

    def block_is_over(self) -> None:
        with self._lock:
            self._over = True


@contextmanager
def meanwhile(shop: Workshop, stage: Callable[[Workshop], Made]) -> Iterator[Future[Made]]:
    """Run ``stage`` in a thread while the block works, and wait for it at the block's end.

    What the stage says comes there, too. If it fails the block is interrupted, for the rest of it
    would be in vain. An error of the block itself comes in place of the stage's.
    """
    console, store, aside = HeldConsole(shop.console), Store(shop.store.folder), _Aside()
    try:
        with pool(1) as threads:
            made = threads.submit(aside.run, stage, replace(shop, console=console, store=store))
            try:
                yield made
            finally:
                aside.block_is_over()
    except KeyboardInterrupt:
        if aside.error is not None:
            raise aside.error from None
        raise
    finally:
        console.tell()
    shop.store.used.extend(store.used)
    made.result()
