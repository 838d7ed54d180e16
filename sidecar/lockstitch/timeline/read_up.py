"""Reading what the projection only names: a thread at once where the writer needs it, many beside it without the lock.

Invariant: rows that were made without the lock are stored only if the rollout is still as it was read, and nobody else
has read it meanwhile. What recovery would have to write to is read under the lock.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.data_root import DataRoot, RolloutPlace
from lockstitch.errors import LockstitchError
from lockstitch.platform import faults
from lockstitch.platform.files import stamp_of
from lockstitch.rollout.recorder import Recorder
from lockstitch.timeline import unread
from lockstitch.timeline.database import Connection
from lockstitch.timeline.index import Indexing, index_whole
from lockstitch.timeline.rebuild import index_one
from lockstitch.timeline.rows import ThreadRow
from lockstitch.timeline.soundness import STUMBLES
from lockstitch.timeline.state import ThreadState
from lockstitch.timeline.stored import StoredRows, changed_rows, store_rows

if TYPE_CHECKING:
    from lockstitch.timeline.held import Held

log = logging.getLogger(__name__)

MOST_BYTES = 64 << 20
"""The rows of a larger rollout are not held in memory all at once: it is read under the lock, in parts."""


class WriterRows(StoredRows):
    """The rows as the writer sees them: a thread that is asked for is read first."""

    def __init__(self, writer: Held) -> None:
        super().__init__(writer.database.connection)
        self._writer = writer

    def thread(self, thread_id: str) -> ThreadRow | None:
        row = super().thread(thread_id)
        if row is None and _read_now(self._writer, thread_id):
            return super().thread(thread_id)
        return row


def _read_now(writer: Held, thread_id: str) -> bool:
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


class Prepared(msgspec.Struct, array_like=True, gc=False):
    """The rows of a thread that was read, and the file as it then was."""

    number: int
    thread_id: str
    path: str
    size: int
    stamp: int
    rows: list[list[tuple[Any, ...]]]
    """By row type, in the order of ROW_TYPES."""


class _NotPlainError(Exception):
    """A thread of which something has to be looked up or written while it is read."""


def prepare(root: DataRoot, root_ids: frozenset[str], number: int, found: RolloutPlace) -> Prepared | None:
    """Read a rollout without the lock; None if that takes the writer."""

    def refuse(state: ThreadState) -> None:
        del state
        raise _NotPlainError

    around = Indexing(root.path, root.quarantine, refuse, writable=False, root_ids=root_ids, most_held=1 << 62)
    path = root.resolve(found.path)
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
    if around.shown:
        return None
    thread = state.thread
    return Prepared(number, found.thread_id, found.path, thread.size, thread.stamp, changed_rows(state))


def put_in(writer: Held, read: Iterable[tuple[str, Prepared | None]]) -> None:
    """Store what was read of these threads, and read what could not be. Within the transaction."""
    connection, root = writer.database.connection, writer.place.root
    for thread_id, made in read:
        found = unread.place_of(connection, thread_id)
        if found is None:
            continue  # somebody else was quicker
        number, place = found
        if (
            made is not None
            and (made.number, made.path) == (number, place.path)
            and not _has_rows(connection, number, thread_id)
            and (made.size, made.stamp) == _file(root, place)
        ):
            store_rows(connection, made.rows)
            unread.take(connection, number)
        else:
            _read_now(writer, thread_id)


def _file(root: DataRoot, place: RolloutPlace) -> tuple[int, int] | None:
    try:
        status = os.stat(root.resolve(place.path))
    except OSError:
        return None
    return status.st_size, stamp_of(status)


def _has_rows(connection: Connection, number: int, thread_id: str) -> bool:
    """Whether a program that knows nothing of unread threads has given the number away, or read the thread."""
    known = connection.execute("SELECT 1 FROM thread WHERE thread_no=? OR thread_id=?", (number, thread_id))
    return known.fetchone() is not None
