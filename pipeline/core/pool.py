"""Threads that wait for children: an interrupt ends those, so that nobody has to wait for them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from pipeline.core.child import ended


@contextmanager
def pool(workers: int) -> Iterator[ThreadPoolExecutor]:
    """Return a pool of threads, which an interrupt of ours ends with the children they wait for.

    It may come in the block, or while we wait for the threads behind the block.
    """
    threads = ThreadPoolExecutor(max_workers=workers)
    try:
        try:
            yield threads
        except Exception:
            threads.shutdown()
            raise
        threads.shutdown()
    except KeyboardInterrupt:
        threads.shutdown(wait=False, cancel_futures=True)
        with ended():
            threads.shutdown()
        raise
