"""The event loop of a cluster, in a thread of its own.

Dask's own gives up when its thread has not begun after ten seconds, as on a machine that is busy.
"""

from __future__ import annotations

import asyncio
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tornado.ioloop import IOLoop


class Loop:
    """Runs until it is closed; needs the extra "cluster"."""

    def __init__(self) -> None:
        """Return when it runs, however long that takes; ImportError without the extra."""
        from tornado.ioloop import IOLoop

        self._current = IOLoop.current
        self._runs = Event()
        self._thread = Thread(target=self._run, name="event loop", daemon=True)
        self._thread.start()
        self._runs.wait()

    def _run(self) -> None:
        asyncio.run(self._until_closed())

    async def _until_closed(self) -> None:
        self.loop: IOLoop = self._current()
        self._closed = asyncio.Event()
        self._runs.set()
        await self._closed.wait()

    def close(self) -> None:
        """End it, and wait for that."""
        self.loop.add_callback(self._closed.set)
        self._thread.join()
