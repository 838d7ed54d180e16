"""What opening the projection does first: its threads compared with the names of the rollouts, moves finished.

A database may be older than the log (a power cut, a copy put back) and a move may have been cut short: the
folders decide, and what is missing is made good.

Invariant: idempotent, under the write lock, in a transaction of its own; no contents are read but of rollouts that
the projection does not know. A thread that cannot be seen to hides no other.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from lockstitch.codec import encode
from lockstitch.data_root import RolloutPlace, thread_id_of
from lockstitch.errors import LockstitchError
from lockstitch.platform.files import TEMPORARY_PREFIX, unlink
from lockstitch.rollout.line import Draft
from lockstitch.rollout.tail import reader
from lockstitch.timeline import unread
from lockstitch.timeline.jobs import Committed
from lockstitch.timeline.rebuild import STAGED, index_one, is_small, unique
from lockstitch.timeline.rows import ThreadRow
from lockstitch.timeline.soundness import archived_in_log
from lockstitch.timeline.stored import forget_thread, store
from lockstitch_protocol.ids import new_id

if TYPE_CHECKING:
    from lockstitch.timeline.writer import Writer

log = logging.getLogger(__name__)

DELETED = "gone_"
"""Names in the trash that begin so are rollouts of deleted threads; others begin with the boot that writes them."""


def reconcile(writer: Writer) -> None:
    """Bring the thread table up to the folders. Raises DamagedDatabaseError, StorageError."""
    place, rows, connection = writer.place, writer.rows, writer.database.connection
    _finish_deletions(writer)
    known = {
        thread_id.lower(): (number, path, archived)
        for number, thread_id, path, archived in connection.execute(
            "SELECT thread_no, thread_id, path, archived FROM thread"
        )
    }
    unread.take_known(connection)
    named = unread.places(connection)
    unknown: list[RolloutPlace] = []
    for found in unique(place.root.rollouts()):
        key = found.thread_id.lower()
        row, name = known.pop(key, None), named.pop(key, None)
        if row is None and name is None:
            unknown.append(found)
        elif row is not None and row[1:] != (found.path, found.archived):
            rows.set_place(row[0], found.path, found.archived)
        elif name is not None and name[1:] != (found.path, found.archived):
            unread.set_place(connection, name[0], found.path, found.archived)
    for number, _, _ in named.values():
        unread.take(connection, number)
    if is_small(place.root, unknown):
        for found in unknown:
            index_one(place, writer.database, rows.next_thread_number(), found)
    else:
        unread.add(connection, place.root, rows.next_thread_number(), unknown)
    for key, (number, path, _) in known.items():
        if not place.root.resolve(path).exists() or (thread_id_of(Path(path).name) or "").lower() != key:
            forget_thread(connection, number)
    _remove_what_was_staged(writer)
    untold = "SELECT thread_id, archived FROM thread WHERE archived<>(archived_at IS NOT NULL)"
    for thread_id, archived in connection.execute(untold).fetchall():
        try:
            _tell_move(writer, thread_id, bool(archived))
        except LockstitchError as error:
            log.warning("that a thread was moved could not be recorded yet: %s", error.kind)


def index_unknown(writer: Writer, thread_id: str) -> None:
    """Index a rollout that the thread table does not know, if there is one. Within the transaction."""
    for found in unique(writer.place.root.rollouts()):
        if found.thread_id.lower() == thread_id.lower():
            index_one(writer.place, writer.database, writer.rows.next_thread_number(), found)


def _tell_move(writer: Writer, thread_id: str, archived: bool) -> None:
    """Record a move that a crash cut short; rows that only say so, against the log, are made anew instead."""
    batch = writer.hot.load(thread_id)
    if archived_in_log(reader(batch.recorder.fd), batch.state.thread.size) == archived:
        writer.hot.mend(thread_id)
    else:
        tell_archived(writer, thread_id, archived)


def tell_archived(writer: Writer, thread_id: str, archived: bool) -> None:
    """Append the event that says in which folder the rollout is. Raises StorageError."""
    batch = writer.hot.load(thread_id)
    type_ = "thread.archived" if archived else "thread.unarchived"
    draft = Draft(type_, encode({}), new_id("evt"), writer.place.now())
    first = batch.state.thread.last_sequence + 1
    batch.append([draft])
    try:
        batch.write()
    except BaseException:
        writer.hot.drop(thread_id)
        raise
    store(writer.database.connection, batch.state)
    batch.state.stored()
    batch.written()
    writer.happened(Committed(batch.state.thread.thread_id, first, [draft]))


def _finish_deletions(writer: Writer) -> None:
    """A rollout in the trash is a thread that was deleted: what only it needs goes first, it goes last."""
    root, rows = writer.place.root, writer.rows
    for name in _names(root.trash):
        if not name.startswith(DELETED):
            continue
        thread_id = thread_id_of(name.partition("-")[2])
        row = None if thread_id is None else rows.thread(thread_id)
        if row is not None and not root.resolve(row.path).exists():
            forget(writer, row)
        remove(root.trash / name)


def forget(writer: Writer, row: ThreadRow) -> None:
    """Drop the rows of a thread whose rollout is gone, and remove what only it needed."""
    doomed = writer.place.owned(row, writer.rows.contents_only_of(row.thread_no))
    forget_thread(writer.database.connection, row.thread_no)
    for path in doomed:
        remove(path)


def remove(path: Path) -> None:
    """Remove a file or a directory; what cannot be removed is left for the next time."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            unlink(path)


def _remove_what_was_staged(writer: Writer) -> None:
    """Files that a process was writing beside their place when it died."""
    root, boots = writer.place.root, writer.place.boots
    for name in _names(root.trash):
        if not name.startswith(DELETED) and not boots.is_alive(name.partition("-")[0]):
            remove(root.trash / name)
    for name in _names(root.sqlite):
        _, staged, boot = name.partition(STAGED)
        if staged and not boots.is_alive(boot.partition("-")[0]):
            remove(root.sqlite / name)
    for name in _names(root.path):
        if name.startswith((".root_", TEMPORARY_PREFIX)):
            remove(root.path / name)
    if boots.is_alone():  # else whoever is alone next: a store's files say not whose they are
        for name in _names(root.artifacts):
            if name.startswith(TEMPORARY_PREFIX):
                remove(root.artifacts / name)
    boots.remove_staged()


def _names(directory: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return os.listdir(directory)
    return []
