"""The threads that the writer has at hand: their states, their open rollouts, their streamed text.

Invariant: a hot thread is used only if the database and the file are as we left them; otherwise it is read again.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from lockstitch.data_root import RolloutPlace, places_of, session_place
from lockstitch.errors import NotFoundError, StorageError
from lockstitch.rollout.tail import ReadAt, read_tail, reader, sum_before
from lockstitch.timeline.rows import ThreadRow
from lockstitch.timeline.soundness import format_in_log, is_open_in_log, turns_agree
from lockstitch.timeline.stored import forget_thread, store

if TYPE_CHECKING:
    from lockstitch.rollout.recorder import Recorder
    from lockstitch.timeline.batch import Batch
    from lockstitch.timeline.segments import Segment, Segments
    from lockstitch.timeline.state import ThreadState
    from lockstitch.timeline.writer import Writer

FORMAT = 1
"""The newest rollout format that this program writes."""

_MOST_OPEN = 64
_FRESH_SECONDS = 0.005
_TRIM_EVERY = 64
"""A look at all threads at hand costs some microseconds; not every group pays for it."""
_MOST_IDS = 1 << 18
"""So many ids are kept in memory over all threads, at some 70 bytes each."""


class HotThreads:
    """Batches by thread id (compared without case)."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._batches: OrderedDict[str, Batch] = OrderedDict()
        self._segments: dict[str, Segments] = {}
        self._durable_folders: set[Path] = set()
        self._until_trim = 0
        self._fresh_at = -1.0
        self.version = -1
        """`PRAGMA data_version` when the batches were last known to be current."""

    def find(self, thread_id: str) -> Batch | None:
        return self._batches.get(thread_id.lower())

    def is_fresh(self) -> bool:
        """Whether nobody else has written to the database since."""
        try:
            return self.version == self._writer.database.pragma("data_version")
        except (RuntimeError, apsw.Error):
            return False

    def was_fresh(self) -> bool:
        """The same, up to a few milliseconds ago: text that streams need not ask the database for each word."""
        now = time.monotonic()
        if now - self._fresh_at > _FRESH_SECONDS:
            if not self.is_fresh():
                return False
            self._fresh_at = now
        return True

    def recheck(self) -> None:
        """Somebody else has written: drop what is no longer as the database says. Within the transaction."""
        rows = self._writer.rows
        for key, batch in list(self._batches.items()):
            stored = rows.thread(key)
            if stored is None or stored != batch.state.thread:
                self.drop(key)

    def load(self, thread_id: str) -> Batch:
        """The thread's batch, brought up to its file. Within the transaction; raises NotFoundError, StorageError."""
        key = thread_id.lower()
        batch = self._batches.get(key)
        if batch is not None:
            if batch.is_in_place():
                self._batches.move_to_end(key)
                return batch
            self.drop(key)
        row = self._writer.rows.thread(thread_id)
        if row is None:
            raise NotFoundError(
                f"There is no thread {thread_id} in this data root; thread/list shows those that are.",
                kind="threadNotFound",
                threadId=thread_id,
            )
        return self._keep(key, self._open(row))

    def create(self, thread_id: str, created_at: str) -> Batch:
        """A new thread with an empty rollout, not yet in its place. Raises StorageError."""
        from lockstitch.rollout.recorder import Recorder
        from lockstitch.timeline.batch import Batch
        from lockstitch.timeline.state import ThreadState

        place = session_place(created_at, thread_id)
        root = self._writer.place.root
        recorder = Recorder.create(root.staged_rollout(self._writer.place.boot_id, thread_id))
        row = ThreadRow(self._writer.rows.next_thread_number(), thread_id, place)
        state = ThreadState(row, self._writer.rows, fresh=True)
        key = thread_id.lower()
        # The number is taken in this transaction at once: the next new thread of the group asks for the next one.
        store(self._writer.database.connection, state)
        return self._keep(key, Batch(state, recorder, self._of(key), created_in=root, durable=self._durable_folders))

    def _keep(self, key: str, batch: Batch) -> Batch:
        self._batches[key] = batch
        return batch

    def trim(self) -> None:
        """Close what was not used lately or takes no more events. Between groups: a group's own threads stay open."""
        self._until_trim -= 1
        if self._until_trim > 0 and len(self._batches) <= _MOST_OPEN:
            return
        self._until_trim = _TRIM_EVERY
        used = ids = 0
        for key, batch in [*reversed(self._batches.items())]:
            used += 1
            if used > _MOST_OPEN or batch.state.thread.archived:
                self.drop(key)
                continue
            ids += batch.state.ids_known
            if ids > _MOST_IDS:
                batch.state.forget_ids()
        if len(self._segments) > 2 * _MOST_OPEN:
            self._segments = {key: each for key, each in self._segments.items() if each or key in self._batches}

    def _open(self, row: ThreadRow) -> Batch:
        from lockstitch.timeline.batch import Batch

        writer = self._writer
        recorder, place = self._find_rollout(row)
        try:
            state = self._current_state(row, recorder, place)
        except BaseException:
            recorder.close()
            raise
        if state.thread.format > FORMAT:
            recorder.close()
            raise StorageError(
                f"Thread {row.thread_id} was written by a newer version in format {state.thread.format}; "
                "update this program to change it.",
                kind="storageReadOnly",
                path=str(recorder.path),
                errno=0,
                reason="newerFormat",
            )
        store(writer.database.connection, state)
        state.stored()
        return Batch(state, recorder, self._of(row.thread_id.lower()))

    def _current_state(self, row: ThreadRow, recorder: Recorder, place: RolloutPlace) -> ThreadState:
        from lockstitch.timeline.index import index_tail, index_whole
        from lockstitch.timeline.rebuild import indexing
        from lockstitch.timeline.state import ThreadState

        writer = self._writer
        connection, rows = writer.database.connection, writer.rows
        around = indexing(writer.place, writer.database)
        if row.path != place.path:
            row.path, row.archived = place.path, int(place.archived)
            rows.set_place(row.thread_no, place.path, place.archived)
        size = recorder.size
        known = size >= row.size and sum_before(reader(recorder.fd), row.size) == row.last_sum.encode()
        if known and read_tail(recorder.fd, row.size).last_sequence not in (row.last_sequence, None):
            known = False  # the row is damaged: never give a sequence twice
        if known and self._agrees(row, recorder):
            state = ThreadState.load(row, rows)
            if size != row.size:
                return index_tail(around, state, recorder)
            if row.stamp != recorder.stamp:
                row.stamp = 0  # not ours: the next to read the thread looks it through
            return state
        tail = read_tail(recorder.fd, size)
        if tail.clean and (tail.last_sequence, tail.last_sum) == (row.last_sequence, row.last_sum.encode()):
            row.size = size  # what the row says of the size is not so: nothing is missing from the file
        forget_thread(connection, row.thread_no)
        return index_whole(around, rows, row.thread_no, place, recorder, (row.size, row.last_sum.encode()))

    def _agrees(self, row: ThreadRow, recorder: Recorder) -> bool:
        """Whether the rows say of the open turn what the log says. Only what a dead boot left open is looked up there:
        recovery is about to end it."""
        rows, read = self._writer.rows, reader(recorder.fd)
        if not turns_agree(row, rows) or self._is_wrong_format(row, read, recorder.size):
            return False
        turn = None if row.open_turn_no is None else rows.turn_by_number(row.thread_no, row.open_turn_no)
        if turn is None or self._writer.place.boots.is_alive(turn.boot_id):
            return True
        return is_open_in_log(read, row.size, turn)

    def _is_wrong_format(self, row: ThreadRow, read: ReadAt, size: int) -> bool:
        """Whether the row, against the file, says that a newer program wrote it."""
        return row.format > FORMAT and format_in_log(read, size) not in (None, row.format)

    def vouch(self, thread_id: str, size: int) -> None:
        """Its first `size` bytes were read and are sound. Within the transaction."""
        batch = self.load(thread_id)
        thread = batch.state.thread
        if not thread.stamp and thread.size >= size:
            # What stands behind them was written by one of us since.
            thread.stamp = batch.recorder.stamp
            store(self._writer.database.connection, batch.state)
            batch.state.stored()

    def mend(self, thread_id: str) -> None:
        """Index a thread again from its first byte: a line of it is not as it was written. Within the transaction."""
        from lockstitch.timeline.index import index_whole
        from lockstitch.timeline.rebuild import indexing

        self.drop(thread_id)
        writer = self._writer
        row = writer.rows.thread(thread_id)
        if row is None:
            return
        recorder, place = self._find_rollout(row)
        try:
            forget_thread(writer.database.connection, row.thread_no)
            around, known = indexing(writer.place, writer.database), (row.size, row.last_sum.encode())
            state = index_whole(around, writer.rows, row.thread_no, place, recorder, known)
            store(writer.database.connection, state)
        finally:
            recorder.close()

    def _find_rollout(self, row: ThreadRow) -> tuple[Recorder, RolloutPlace]:
        from lockstitch.rollout.recorder import Recorder

        root = self._writer.place.root
        for path in places_of(row.path):
            try:
                recorder = Recorder.open(root.resolve(path))
            except FileNotFoundError:
                continue
            return recorder, RolloutPlace(row.thread_id, path, path.startswith("archived_sessions/"))
        forget_thread(self._writer.database.connection, row.thread_no)
        raise NotFoundError(
            f"The rollout of thread {row.thread_id} is gone from the data root.",
            kind="threadNotFound",
            threadId=row.thread_id,
        )

    # -- streamed text ----------------------------------------------------------------------------------------
    def _of(self, key: str) -> Segments:
        from lockstitch.timeline.segments import Segments

        return self._segments.setdefault(key, Segments())

    def due(self) -> float | None:
        """When streamed text must be written next, on the monotonic clock."""
        return min((due for due in (s.due() for s in self._segments.values()) if due is not None), default=None)

    def overdue(self, now: float | None = None) -> list[str]:
        now = time.monotonic() if now is None else now
        return [key for key, segments in self._segments.items() if (due := segments.due()) is not None and due <= now]

    def streaming(self) -> list[str]:
        """Every thread with streamed text that no line holds yet."""
        return [key for key, segments in self._segments.items() if segments]

    def postpone(self, keys: list[str]) -> None:
        for key in keys:
            self._of(key).postpone()

    # -- letting go -------------------------------------------------------------------------------------------
    def failed(self, key: str, segments: list[Segment]) -> None:
        """A write failed: what is in memory is ahead of the file, and what was streamed still has to be written."""
        self._of(key).give_back(segments)
        self._of(key).postpone()
        self.drop(key)

    def drop(self, thread_id: str) -> None:
        batch = self._batches.pop(thread_id.lower(), None)
        if batch is not None:
            self._until_trim = 0  # it may have been archived, and be at hand again to say so
            batch.recorder.close()

    def forget_streams(self, thread_id: str) -> None:
        """The thread is gone, and what it was streaming with it."""
        self._segments.pop(thread_id.lower(), None)

    def forget(self) -> None:
        for key in list(self._batches):
            self.drop(key)
        self.version, self._fresh_at = -1, -1.0

    def close(self) -> None:
        self.forget()
