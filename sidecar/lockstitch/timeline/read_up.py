"""Reading what the projection only names: a thread at once where the writer needs it, many beside it without the lock.

Invariant: rows that were made without the lock are stored only if the rollout is still as it was read, and nobody else
has read it meanwhile. What recovery would have to write to is read under the lock.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lockstitch.data_root import RolloutPlace
from lockstitch.errors import LockstitchError
from lockstitch.platform import faults
from lockstitch.platform.files import stamp_of
from lockstitch.rollout.recorder import Recorder
from lockstitch.timeline import unread
from lockstitch.timeline.database import Connection
from lockstitch.timeline.index import Indexing, index_whole
from lockstitch.timeline.place import Place
from lockstitch.timeline.rebuild import index_one
from lockstitch.timeline.rows import ThreadRow
from lockstitch.timeline.soundness import STUMBLES
from lockstitch.timeline.state import ThreadState
from lockstitch.timeline.stored import StoredRows, store

if TYPE_CHECKING:
    from lockstitch.timeline.writer import Writer

log = logging.getLogger(__name__)

MOST_BYTES = 64 << 20
"""The rows of a larger rollout are not held in memory all at once: it is read under the lock, in parts."""


class WriterRows(StoredRows):
    """The rows as the writer sees them: a thread that is asked for is read first."""

    def __init__(self, writer: Writer) -> None:
        super().__init__(writer.database.connection)
        self._writer = writer

    def thread(self, thread_id: str) -> ThreadRow | None:
        row = super().thread(thread_id)
        if row is None and _read_now(self._writer, thread_id):
            return super().thread(thread_id)
        return row


def _read_now(writer: Writer, thread_id: str) -> bool:
    connection = writer.database.connection
    found = unread.place_of(connection, thread_id)
    if found is None:
        return False
    number, place = found
    unread.take(connection, number)
    if _has_rows(connection, number, thread_id):
        number = writer.rows.next_thread_number()
    if StoredRows(connection).thread(thread_id) is None:
        index_one(writer.place, writer.database, number, place)
    return True


class _NotPlainError(Exception):
    """A thread of which something has to be looked up or written while it is read."""


def prepare(place: Place, number: int, found: RolloutPlace) -> ThreadState | None:
    """Read a rollout without the lock; None if that takes the writer."""

    def refuse(state: ThreadState) -> None:
        del state
        raise _NotPlainError

    around = Indexing(
        place.root.path, place.root.quarantine, refuse, writable=False, root_ids=place.root_ids, most_held=1 << 62
    )
    path = place.root.resolve(found.path)
    try:
        recorder = Recorder.open_to_read(path)
    except (FileNotFoundError, LockstitchError):
        return None
    faults.point("build", path)
    try:
        if recorder.size > MOST_BYTES:
            return None
        state = index_whole(around, StoredRows(None), number, found, recorder)
    except (_NotPlainError, LockstitchError, *STUMBLES):
        return None
    finally:
        recorder.close()
    return None if around.shown else state


def put_in(writer: Writer, read: Iterable[tuple[str, ThreadState | None]]) -> None:
    """Store what was read of these threads, and read what could not be. Within the transaction."""
    connection, root = writer.database.connection, writer.place.root
    for thread_id, state in read:
        found = unread.place_of(connection, thread_id)
        if found is None:
            continue  # somebody else was quicker
        number, place = found
        if state is None or number != state.thread.thread_no or _has_rows(connection, number, thread_id):
            _read_now(writer, thread_id)
            continue
        try:
            status = os.stat(root.resolve(place.path))
        except OSError:
            status = None
        thread = state.thread
        if status is None or (thread.path, thread.size, thread.stamp) != (
            place.path,
            status.st_size,
            stamp_of(status),
        ):
            _read_now(writer, thread_id)
            continue
        store(connection, state)
        unread.take(connection, number)


def _has_rows(connection: Connection, number: int, thread_id: str) -> bool:
    """Whether a program that knows nothing of unread threads has given the number away, or read the thread."""
    known = connection.execute("SELECT 1 FROM thread WHERE thread_no=? OR thread_id=?", (number, thread_id))
    return known.fetchone() is not None
