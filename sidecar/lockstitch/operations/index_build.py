"""Reading the threads that the projection only names: those that a request needs at once, the others behind it.

Invariant: a request that needs threads which are not read goes first; the rest is read a little at a time, without the
write lock, by one process at a time. Whatever is cut off is gone on with by the next process.
"""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from lockstitch.data_root import RolloutPlace
from lockstitch.errors import LockstitchError
from lockstitch.operations.read_threads import ReadThreads
from lockstitch.platform.locks import FileLock
from lockstitch.platform.program import start_quietly
from lockstitch.timeline import index_worker, unread
from lockstitch.timeline.read_up import Prepared, prepare, put_in

if TYPE_CHECKING:
    from lockstitch.operations.runtime import Runtime

log = logging.getLogger(__name__)

_AT_ONCE = 512 << 10
"""So many bytes of rollouts are read before their rows are stored: the write lock is held for as long as that takes."""
_BYTES_OF_WORKER = 32 << 20
"""A process of its own for each so many bytes; fewer are read sooner than one is started."""
_MOST_WORKERS = 4
_LOOK_SECONDS = 0.25

_Found = tuple[int, RolloutPlace]


class IndexBuild:
    """What a runtime does about threads that are not read yet. On the event loop."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._task: asyncio.Task[None] | None = None
        self._urgent = 0
        self._stopping = False
        self._calm = asyncio.Event()
        self._calm.set()
        self._hurry = asyncio.Event()
        """Somebody waits for all."""
        self._threads = ReadThreads(_MOST_WORKERS + 2)  # nobody who waits for a thread waits for a worker
        runtime.at_drain.append(self._stop)

    def _stop(self) -> None:
        self._stopping = True
        self._calm.set()
        self._hurry.set()

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to be read, as far as is known."""
        return self._task is not None and self._task.done()

    def close(self) -> None:
        """Let the threads end."""
        self._threads.close()

    async def read(self, thread_ids: list[str] | None) -> None:
        """Read these threads, or all, before anything else. Raises StorageError."""
        if thread_ids is None:
            self._hurry.set()
            await self.begin()
            return
        if thread_ids:
            await self._read_first(thread_ids)
        self.begin()

    async def _read_first(self, thread_ids: list[str]) -> None:
        self._urgent += 1
        self._calm.clear()
        try:
            for portion in _portions(await self._runtime.slowly(lambda: self._places_of(thread_ids))):
                await self._store(portion, None)
        finally:
            self._urgent -= 1
            if not self._urgent:
                self._calm.set()

    def begin(self) -> asyncio.Task[None]:
        """Begin to read what is not read, or go on with it; done when all is."""
        if self._task is None or self._task.done():
            self._task = self._runtime.careful.in_background(self._run())
        return self._task

    def _places_of(self, thread_ids: list[str]) -> list[tuple[int, RolloutPlace, int]]:
        return self._runtime.reader.run(lambda view: unread.newest(view.connection, thread_ids))

    async def _run(self) -> None:
        runtime = self._runtime
        with suppress(TimeoutError):  # what a start is asked first has the processors to itself
            await asyncio.wait_for(self._hurry.wait(), _LOOK_SECONDS)
        if self._stopping or not await self._found():
            return
        lock = FileLock(runtime.root.index_lock)
        try:
            while not await runtime.slowly(lambda: lock.acquire(0)):
                await asyncio.sleep(_LOOK_SECONDS)
                if self._stopping or not await self._found():
                    return
            while (found := await self._found()) and not self._stopping:
                await self._read_all(found)
        except LockstitchError as error:
            log.warning("the rollouts are not all read yet: %s", error.message)
            raise
        finally:
            lock.close()
        await runtime.interrupt_dead_turns()

    async def _found(self) -> list[tuple[int, RolloutPlace, int]]:
        return await self._runtime.slowly(lambda: self._runtime.reader.run(lambda view: unread.newest(view.connection)))

    async def _read_all(self, found: list[tuple[int, RolloutPlace, int]]) -> None:
        """Read all of these, by as many processes as it is worth."""
        portions = _portions(found)
        worth = sum(size for _, _, size in found) // _BYTES_OF_WORKER
        count = min(_MOST_WORKERS, os.cpu_count() or 1, worth)
        readers = [self._read_portions(portions, with_worker=count > 0) for _ in range(max(1, count))]
        for outcome in await asyncio.gather(*readers, return_exceptions=True):
            if outcome is not None:
                raise outcome

    async def _read_portions(self, portions: Iterator[list[_Found]], *, with_worker: bool) -> None:
        runtime = self._runtime
        worker = Worker(str(runtime.root.path), runtime.writer.place.root_ids) if with_worker else None
        try:
            for portion in portions:
                await self._calm.wait()
                if self._stopping:
                    return
                await self._store(portion, worker)
        finally:
            if worker is not None:
                worker.close()

    async def _store(self, portion: list[_Found], worker: Worker | None) -> None:
        """Read these threads and store their rows."""
        place = self._runtime.writer.place

        def read() -> list[Prepared | None]:
            made = None if worker is None else worker.read(portion)
            return made or [prepare(place.root, place.root_ids, number, one) for number, one in portion]

        made = await self._threads.run(read)
        both = [(one.thread_id, rows) for (_, one), rows in zip(portion, made, strict=True)]
        await self._runtime.exclusive(lambda writer: put_in(writer, both))


def _portions(found: list[tuple[int, RolloutPlace, int]]) -> Iterator[list[_Found]]:
    portion: list[_Found] = []
    total = 0
    for number, place, size in found:
        portion.append((number, place))
        total += size
        if total >= _AT_ONCE:
            yield portion
            portion, total = [], 0
    if portion:
        yield portion


class Worker:
    """A process that reads rollouts, so that this one has its hands free. One that cannot be had is done without."""

    def __init__(self, root: str, root_ids: frozenset[str]) -> None:
        self._arguments = [index_worker.VERB, root, *sorted(root_ids)]
        self._process: subprocess.Popen[bytes] | None = None
        self._failed = False

    def read(self, portion: list[_Found]) -> list[Prepared | None] | None:
        """The rows of these threads; None if the process does not give them. Not on the event loop."""
        if self._failed:
            return None
        try:
            if self._process is None:
                self._process = start_quietly(self._arguments)
            return self._ask(self._process, portion)
        except (OSError, ValueError) as error:
            log.warning("a process that reads rollouts is of no use: %s", type(error).__name__)
            self._failed = True
            return None

    def _ask(self, process: subprocess.Popen[bytes], portion: list[_Found]) -> list[Prepared | None]:
        assert process.stdin is not None
        assert process.stdout is not None
        asked = index_worker.encode([(number, one.thread_id, one.path, one.archived) for number, one in portion])
        process.stdin.write(len(asked).to_bytes(4, "big") + asked)
        process.stdin.flush()
        answer = index_worker.read_message(process.stdout.fileno())
        made = None if answer is None else index_worker.decode_made(answer)
        if made is None or len(made) != len(portion):
            raise ValueError("no answer")
        return made

    def close(self) -> None:
        """End the process; it has nothing to lose."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
