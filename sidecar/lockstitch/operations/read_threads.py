"""A few plain threads for what waits for a disk.

Plain ones, since the first reply that needs data would wait for the import of anything better, and since the way to a
thread and back is a good part of a small read.

Invariant: work that was begun goes on to its end, whoever still waits for it; work whose waiter has gone is not begun.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

_Work = tuple[Callable[[], Any], "asyncio.Future[Any]", asyncio.AbstractEventLoop]


class ReadThreads:
    """At most so many threads, started as they are needed. All but the threads' own work belongs to the event loop."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = 0
        self._busy = 0
        self._queue: SimpleQueue[_Work | None] = SimpleQueue()

    async def run(self, work: Callable[[], T]) -> T:
        """Run `work` in one of the threads: its result, or what it raises."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._busy += 1
        if self._busy > self._count < self._most:
            self._count += 1
            if self._count == 2:  # the first reply need not wait for this
                from lockstitch.platform.memory import few_arenas

                few_arenas()
            threading.Thread(target=self._serve, name="lockstitch-reader", daemon=True).start()
        self._queue.put((work, future, loop))
        return await future

    def close(self) -> None:
        """Let the threads end, each after what it does now."""
        for _ in range(self._count):
            self._queue.put(None)
        self._count = 0

    def _serve(self) -> None:
        while (found := self._queue.get()) is not None:
            work, future, loop = found
            result, error = None, None
            if not future.cancelled():
                try:
                    result = work()
                except BaseException as raised:
                    error = raised
            try:
                loop.call_soon_threadsafe(self._done, future, result, error)
            except RuntimeError:
                continue  # the loop is closed: nobody waits any more
            del found, work, future, result, error

    def _done(self, future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
        self._busy -= 1
        if future.done():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
