"""Reading the threads that the projection only names: those that a request needs at once, the others behind it.

Invariant: a request that needs threads which are not read goes first; the rest is read a little at a time, without the
write lock, by one process at a time. Whatever is cut off is gone on with by the next process.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import anyio

from lockstitch.data_root import RolloutPlace
from lockstitch.errors import LockstitchError
from lockstitch.platform.locks import FileLock
from lockstitch.timeline import unread
from lockstitch.timeline.read_up import prepare, put_in
from lockstitch.timeline.reader import View
from lockstitch.timeline.state import ThreadState

if TYPE_CHECKING:
    from lockstitch.operations.runtime import Runtime

log = logging.getLogger(__name__)

_AT_ONCE = 1 << 20
"""So many bytes of rollouts are read between two looks at whether somebody waits."""
_STORED_AT_ONCE = 2 << 20
"""So many are read before their rows are stored: the write lock is held for that long."""
_LOOK_SECONDS = 0.25

_Found = tuple[int, RolloutPlace, int]


class IndexBuild:
    """What a runtime does about threads that are not read yet. On the event loop."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._task: asyncio.Task[None] | None = None
        self._urgent = 0
        self._stopping = False
        self._calm = asyncio.Event()
        self._calm.set()
        runtime.at_drain.append(self._stop)

    def _stop(self) -> None:
        self._stopping = True

    async def read(self, thread_ids: list[str] | None) -> None:
        """Read these threads, or all, before anything else. Raises StorageError."""
        if thread_ids is None:
            await self.begin()
            return
        if thread_ids:
            await self._read_first(thread_ids)
        self.begin()

    async def _read_first(self, thread_ids: list[str]) -> None:
        self._urgent += 1
        self._calm.clear()
        try:
            await self._store(await self._runtime.slowly(lambda: self._places_of(thread_ids)))
        finally:
            self._urgent -= 1
            if not self._urgent:
                self._calm.set()

    def begin(self) -> asyncio.Task[None]:
        """Begin to read what is not read, or go on with it; done when all is."""
        if self._task is None or self._task.done():
            self._task = self._runtime.careful.in_background(self._run())
        return self._task

    def _places_of(self, thread_ids: list[str]) -> list[_Found]:
        def look(view: View) -> list[_Found]:
            found = [unread.place_of(view.connection, thread_id) for thread_id in thread_ids]
            return [(*one, 0) for one in found if one is not None]

        return self._runtime.reader.run(look)

    async def _run(self) -> None:
        runtime = self._runtime
        if not await runtime.slowly(lambda: runtime.reader.run(_is_any)):
            return
        lock = FileLock(runtime.root.index_lock)
        try:
            while not await runtime.slowly(lambda: lock.acquire(0)):
                await anyio.sleep(_LOOK_SECONDS)
                if self._stopping or not await runtime.slowly(lambda: runtime.reader.run(_is_any)):
                    return
            while found := await runtime.slowly(lambda: runtime.reader.run(_newest)):
                if not await self._store(found, urgent=False):
                    return
        except LockstitchError as error:
            log.warning("the rollouts are not all read yet: %s", error.message)
            raise
        finally:
            lock.close()
        await runtime.interrupt_dead_turns()

    async def _store(self, found: list[_Found], *, urgent: bool = True) -> bool:
        """Read these threads and store their rows; False if the process is ending."""
        runtime, read = self._runtime, list[tuple[str, ThreadState | None]]()
        place = runtime.writer.place
        for portion in _portions(found):
            if not urgent:
                await self._calm.wait()
            if self._stopping and not urgent:
                return False
            read += await runtime.slowly(
                lambda portion=portion: [(one.thread_id, prepare(place, number, one)) for number, one, _ in portion]
            )
        await runtime.exclusive(lambda writer: put_in(writer, read))
        return True


def _portions(found: list[_Found]) -> list[list[_Found]]:
    portions: list[list[_Found]] = [[]]
    size = 0
    for one in found:
        if size > _AT_ONCE:
            portions.append([])
            size = 0
        portions[-1].append(one)
        size += one[2]
    return portions


def _is_any(view: View) -> bool:
    return unread.is_any(view.connection)


def _newest(view: View) -> list[_Found]:
    return unread.newest(view.connection, _STORED_AT_ONCE)
