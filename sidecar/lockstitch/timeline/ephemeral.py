"""Threads that live in memory only: the same writer, reducer and rows, on a database and rollouts that are nowhere.

Invariant: nothing of such a thread is written to any disk, and nothing of it outlives the process.
Invariant: the database and the buffers are used by one thread at a time: whoever holds the guard.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, TypeVar

import apsw
from msgspec.structs import replace

from lockstitch.data_root import DataRoot, RolloutPlace, session_place
from lockstitch.errors import NotFoundError
from lockstitch.rollout.memory import MemoryRecorder
from lockstitch.timeline.batch import Batch
from lockstitch.timeline.database import Connection, Database
from lockstitch.timeline.hot import HotThreads
from lockstitch.timeline.jobs import AppendJob, Happening, Removed
from lockstitch.timeline.lines import OpenRollout
from lockstitch.timeline.place import Place
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ThreadRow
from lockstitch.timeline.segments import Segments
from lockstitch.timeline.state import ThreadState
from lockstitch.timeline.stored import forget_thread, store
from lockstitch.timeline.writer import Writer

T = TypeVar("T")

Buffers = dict[str, BytesIO]
"""The rollouts by thread id, in lower case."""


class Guard:
    """What the lock file is to the processes of a data root, for the threads of this one."""

    def __init__(self) -> None:
        self.mutex = threading.Lock()
        self._held = False

    def acquire(self, timeout: float) -> bool:
        """Wait as long as it takes: what holds it is a read, and reads end."""
        del timeout
        self._held = self.mutex.acquire()
        return True

    def release(self) -> None:
        """Harmless when the writer does not hold it."""
        if self._held:
            self._held = False
            self.mutex.release()

    def write_holder(self, text: str) -> None:
        """Nobody else is told."""

    def read_blocker(self) -> str | None:
        return None

    def close(self) -> None:
        self.release()


class MemoryWriter(Writer):
    """The writer of the ephemeral threads of one process."""

    def __init__(self, place: Place, deliver: Callable[[list[Callable[[], None]], list[Happening]], None]) -> None:
        super().__init__(replace(place, read_only=True), deliver)  # so that no repair touches a disk
        self._lock = self.guard = Guard()
        self._hot = self.threads = _MemoryThreads(self)

    def remove(self, thread_id: str) -> None:
        """Forget a thread. Alone, within a group."""
        row = self.rows.thread(thread_id)
        if row is not None:
            self._hot.drop(thread_id)
            self._hot.forget_streams(thread_id)
            forget_thread(self.database.connection, row.thread_no)
            del self.threads.buffers[thread_id.lower()]
            self.happened(Removed(row.thread_id))

    def close(self) -> None:
        with self.guard.mutex:
            self._hot.forget()
            database, self._database = self._database, None
            if database is not None:
                database.close()

    def _begin(self) -> None:
        if self._database is None:
            self._database = Database.in_memory()
        self._begin_transaction()

    def _drop_database(self) -> None:
        """Roll back: what the database and the buffers hold besides is all that there is."""
        self._hot.forget()
        with suppress(RuntimeError, apsw.Error):
            self.database.connection.execute("ROLLBACK")

    def _take_delta(self, job: AppendJob) -> bool:
        with self.guard.mutex:
            return super()._take_delta(job)


class MemoryReader:
    """Reads of the ephemeral threads, as `Reader` does those on the disk."""

    def __init__(self, writer: MemoryWriter, root_id: str) -> None:
        self._writer, self._root_id = writer, root_id

    def run(self, read: Callable[[View], T]) -> T:
        """Call `read` on what is in memory. From any thread but the event loop's."""
        writer = self._writer
        with writer.guard.mutex:
            return read(
                _MemoryView(writer.place.root, self._root_id, writer.database.connection, writer.threads.buffers)
            )


class _MemoryThreads(HotThreads):
    """Batches on buffers. One that is dropped is made again from its row and its buffer."""

    def __init__(self, writer: Writer) -> None:
        super().__init__(writer)
        self.buffers: Buffers = {}

    def create(self, thread_id: str, created_at: str) -> Batch:
        rows = self._writer.rows
        place = session_place(created_at, thread_id)
        state = ThreadState(ThreadRow(rows.next_thread_number(), thread_id, place), rows, fresh=True)
        store(self._writer.database.connection, state)
        key = thread_id.lower()
        recorder = MemoryRecorder(Path(place), BytesIO())
        return self._keep(key, _MemoryBatch(state, recorder, self._of(key), self.buffers, self._writer.place.root))

    def _find_rollout(self, row: ThreadRow) -> tuple[MemoryRecorder, RolloutPlace]:
        recorder = MemoryRecorder(Path(row.path), self.buffers[row.thread_id.lower()])
        return recorder, RolloutPlace(row.thread_id, row.path, archived=False)


class _MemoryBatch(Batch):
    """The batch of a new thread: its buffer is found once its first append is in it."""

    def __init__(
        self, state: ThreadState, recorder: MemoryRecorder, segments: Segments, buffers: Buffers, root: DataRoot
    ) -> None:
        super().__init__(state, recorder, segments, created_in=root)
        self._buffers, self._buffer = buffers, recorder.buffer

    def _put_in_place(self, root: DataRoot) -> None:
        self._buffers[self.state.thread.thread_id.lower()] = self._buffer

    def remove_staged(self) -> None:
        self.recorder.close()


class _MemoryView(View):
    """A look at the ephemeral threads."""

    ephemeral = True

    def __init__(self, root: DataRoot, root_id: str, connection: Connection, buffers: Buffers) -> None:
        super().__init__(root, root_id, connection)
        self._buffers = buffers

    def rollout(self, thread: ThreadRow) -> OpenRollout:
        buffer = self._buffers.get(thread.thread_id.lower())
        if buffer is None:
            raise NotFoundError(
                f"The ephemeral thread {thread.thread_id} is gone.",
                kind="threadNotFound",
                threadId=thread.thread_id,
            )
        return self._watched(_MemoryRollout(buffer))


class _MemoryRollout(OpenRollout):
    """A buffer, read as an open rollout is."""

    def __init__(self, buffer: BytesIO) -> None:
        self._buffer = buffer
        self._read_from(buffer)

    @property
    def fd(self) -> BinaryIO:
        return self._buffer

    @property
    def size(self) -> int:
        return self._buffer.seek(0, 2)

    def close(self) -> None:
        """The buffer stays."""
