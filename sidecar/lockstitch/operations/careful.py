"""Reading a thread with care: its file looked at first, what a dead boot left seen to, and no damage passed over.

Invariant: a read shows what recovery will write and does not wait for somebody else's write lock to be free.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from lockstitch.errors import LockstitchError, NotFoundError, StorageError
from lockstitch.operations.call import NOT_NOW
from lockstitch.platform.files import stamp_of
from lockstitch.timeline.jobs import AppendJob
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ThreadRow
from lockstitch.timeline.soundness import turns_agree
from lockstitch.timeline.unread import UnreadError

if TYPE_CHECKING:
    from lockstitch.operations.runtime import Runtime

log = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")

PATIENCE = 0.25
"""For so many seconds a read or a start waits for a write lock that somebody else holds."""


class DamagedReadError(StorageError):
    """A read could not do without a line that is damaged."""


class _NeedsAttentionError(Exception):
    """A thread's file is not as its row says, or nobody serves its open turn or a worker any more."""


class _UnverifiedError(Exception):
    """Somebody else has written to a thread's file: its size and its end are as they were, the middle may not be."""


class CarefulReads:
    """Reads of single threads on a runtime."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._touched: set[str] = set()
        self._verified: dict[str, int] = {}
        """By thread id in lower case: the stamp of the file when it was looked through here."""
        self._from_file: set[str] = set()
        """Threads of a data root that can only be read, of whose damage no row tells."""

    async def read(self, thread_id: str, look: Callable[[View], T]) -> T:
        """Run `look` on the thread's data root; lines that it meets damaged are told of first."""
        runtime = self._runtime

        def careful(view: View) -> tuple[T, bool]:
            return look(self._healthy(view, thread_id)), view.saw_damage

        if thread_id.lower() in self._from_file:
            return await self._read_file(thread_id, look)
        try:
            value, damaged = await runtime.read(careful, unread_too=False)
        except UnreadError as error:
            if not await self.soon(runtime.read_unread(error.thread_ids)):
                return await self._read_file(thread_id, look)
            return await self.read(thread_id, look)
        except _NeedsAttentionError:
            if not await self.soon(self.attend(thread_id)):
                return await self._read_file(thread_id, look)
            self._touched.add(thread_id.lower())
            return await self._read_attended(thread_id, look)
        except _UnverifiedError:
            await self._verify(thread_id)
            return await self.read(thread_id, look)
        except DamagedReadError:
            if runtime.refusal is not None:
                raise
        else:
            if not damaged or runtime.refusal is not None:
                return value
        return await self._read_mended(thread_id, look)

    async def read_and_work(self, thread_id: str, look: Callable[[View], T], work: Callable[[T], R]) -> R:
        """`read`, and then `work` on what it gave, which may be slow: in one worker thread, if nothing has to be
        seen to first."""
        done = await self._runtime.slowly(lambda: self.try_work(thread_id, look, work))
        if done is not NOT_NOW:
            return done
        value = await self.read(thread_id, look)
        return await self._runtime.slowly(lambda: work(value))

    def try_work(self, thread_id: str, look: Callable[[View], T], work: Callable[[T], R]) -> R:
        """The same, in the calling thread; NOT_NOW if something has to be seen to first."""
        if thread_id.lower() in self._from_file:
            return NOT_NOW
        try:
            value, damaged = self._runtime.look(lambda view: (look(self._healthy(view, thread_id)), view.saw_damage))
        except Exception:
            return NOT_NOW  # whatever it is, `read` meets it too and sees to it
        return NOT_NOW if damaged else work(value)

    async def _read_mended(self, thread_id: str, look: Callable[[View], T]) -> T:
        if not await self.soon(self.mend(thread_id)):
            return await self._read_file(thread_id, look)
        return await self._runtime.read(look)

    async def _read_attended(self, thread_id: str, look: Callable[[View], T]) -> T:
        """Read a thread that was attended to. While the database takes no rows, from its file alone."""
        if thread_id.lower() not in self._runtime.writer.behind:
            return await self._runtime.read(look)
        return await self._read_file(thread_id, look)

    async def _read_file(self, thread_id: str, look: Callable[[View], T]) -> T:
        from lockstitch.timeline.frozen import look_at_file

        runtime = self._runtime
        return await runtime.slowly(lambda: look_at_file(runtime.root, runtime.root_id, runtime.boots, thread_id, look))

    def _healthy(self, view: View, thread_id: str) -> View:
        """The view, unless something has to be seen to first."""
        runtime, key = self._runtime, thread_id.lower()
        if runtime.refusal is None and not view.ephemeral and key in runtime.writer.behind:
            raise _NeedsAttentionError  # there may be no row of it yet
        row = view.thread(thread_id)
        if runtime.refusal is None and self._has_lost_worker(view, row):
            raise _NeedsAttentionError
        if view.ephemeral:
            return view
        self._check_stamp(view, row, key)
        if runtime.refusal is not None:
            return view
        if row.open_turn_no is not None:
            turn = view.rows.turn_by_number(row.thread_no, row.open_turn_no)
            if turn is not None and not runtime.boots.is_alive(turn.boot_id):
                raise _NeedsAttentionError
        if key not in self._touched:
            with view.rollout(row) as rollout:
                agrees = turns_agree(row, view.rows)
                if not agrees or rollout.size != row.size or rollout.sum_before(row.size) != row.last_sum.encode():
                    raise _NeedsAttentionError
            self._touched.add(key)
        return view

    def _has_lost_worker(self, view: View, row: ThreadRow) -> bool:
        runtime = self._runtime
        active = view.rows.active_workers(row.thread_no)
        if not active:
            return False
        from lockstitch.timeline.workers import lost_because

        return any(lost_because(worker, runtime.boots.is_alive, runtime.clock.now()) for worker in active)

    def _check_stamp(self, view: View, row: ThreadRow, key: str) -> None:
        try:
            found = os.stat(view.rollout_path(row))
        except OSError:
            return  # moved meanwhile; whoever opens it looks where it may be
        stamp = stamp_of(found)
        if stamp != row.stamp and found.st_size == row.size and self._verified.get(key) != stamp:
            raise _UnverifiedError

    async def _verify(self, thread_id: str) -> None:
        """Look a file through that somebody else has written to; tell of what is damaged."""
        from lockstitch.timeline.index import has_untold_damage

        runtime, key = self._runtime, thread_id.lower()
        row = await runtime.read(lambda view: view.thread(thread_id))

        def look_through() -> tuple[int, bool]:
            with View(runtime.root, runtime.root_id, None).rollout(row) as rollout:
                stamp = rollout.stamp
                return stamp, has_untold_damage(rollout.fd, row)

        with suppress(NotFoundError):
            stamp, damaged = await runtime.slowly(look_through)
            self._verified[key] = stamp
            if not damaged:
                self.in_background(self._vouch(thread_id, row.size))
            elif runtime.refusal is not None or not await self.soon(self.mend(thread_id)):
                self._from_file.add(key)

    async def _vouch(self, thread_id: str, size: int) -> None:
        """Let the next process know that the file was looked through."""
        if self._runtime.refusal is None:
            with suppress(LockstitchError):
                await self._runtime.exclusive(lambda writer: writer.hot.vouch(thread_id, size))

    async def mend(self, thread_id: str) -> None:
        """Tell of damage that a read met, and let the rows say what can still be read."""
        try:
            await self._runtime.exclusive(lambda writer: writer.hot.mend(thread_id))
        except StorageError as error:
            log.warning("damage of a thread could not be recorded now: %s", error.kind)
        self._from_file.discard(thread_id.lower())

    async def attend(self, thread_id: str) -> None:
        """Bring a thread's rows up to its file and end its turn if the boot that served it is dead."""
        from lockstitch.operations.recovery import interrupt_job

        runtime = self._runtime
        job = runtime.job(AppendJob, thread_id=thread_id, build=interrupt_job(runtime.boots), allow_archived=True)
        job.wait_for_reply = False
        try:
            await runtime.submit(job)
        except StorageError as error:
            # A read goes on with what the rows say: somebody else holds the lock, or the disk is full.
            log.warning("a thread could not be recovered now: %s", error.kind)

    async def soon(self, work: Coroutine[Any, Any, None]) -> bool:
        """Wait for work of the writer; False if it waits for a lock that somebody else holds. It then goes on."""
        return await self.soon_done(self.in_background(work))

    async def soon_done(self, task: asyncio.Task[None]) -> bool:
        """As `soon`, of work that was begun already."""
        while not task.done():
            await asyncio.wait({task}, timeout=PATIENCE)
            since = self._runtime.writer.waits_since
            if not task.done() and since is not None and time.monotonic() - since > PATIENCE:
                return False
        task.result()
        return True

    def in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Begin work that a request may not wait for; the end of the process does."""
        task = asyncio.get_running_loop().create_task(work)
        self._runtime.keep_running(task)
        task.add_done_callback(lambda task: task.cancelled() or task.exception())  # whoever waits still gets it
        return task
