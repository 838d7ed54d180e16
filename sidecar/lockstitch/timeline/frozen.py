"""Projections that are not on the disk: of a data root that can only be read, and of threads whose rows lag behind.

Invariant: nothing is written, no lock is taken. What recovery would write is shown as if it had been.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

import apsw

from lockstitch.data_root import DataRoot, RolloutPlace
from lockstitch.errors import LockstitchError, StorageError
from lockstitch.rollout.recorder import Recorder
from lockstitch.timeline.boots import Boots
from lockstitch.timeline.database import DamagedDatabaseError, Database, database_errors
from lockstitch.timeline.index import Indexing, index_whole
from lockstitch.timeline.reader import View
from lockstitch.timeline.rebuild import unique
from lockstitch.timeline.reducer import interrupt
from lockstitch.timeline.rows import ThreadRow
from lockstitch.timeline.state import ThreadState
from lockstitch.timeline.stored import StoredRows, forget_thread, store
from lockstitch.timeline.times import microseconds_of

log = logging.getLogger(__name__)

T = TypeVar("T")


class FrozenReader:
    """Reads of a data root that can only be read: one connection, one reader at a time. Safe for several threads."""

    def __init__(self, root: DataRoot, root_id: str, boots: Boots, elsewhere: Collection[str] = ()) -> None:
        self._root, self._root_id, self._boots, self._elsewhere = root, root_id, boots, elsewhere
        self._database: Database | None = None
        self._lock = threading.Lock()

    def run(self, read: Callable[[View], T]) -> T:
        """Call `read` on the projection, which is opened or made at the first call."""
        with self._lock:
            if self._database is None:
                self._database = open_frozen(self._root, self._boots, frozenset({self._root_id}))
            with database_errors(self._root.timeline):
                return read(View(self._root, self._root_id, self._database.connection, self._elsewhere))

    def close(self) -> None:
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None


def look_at_file(root: DataRoot, root_id: str, boots: Boots, thread_id: str, look: Callable[[View], T]) -> T:
    """Read one thread from its rollout alone: the projection takes no rows at the moment."""
    places = [place for place in unique(root.rollouts()) if place.thread_id.lower() == thread_id.lower()]
    database = index_in_memory(root, boots, places, frozenset({root_id}))
    try:
        return look(View(root, root_id, database.connection))
    finally:
        database.close()


def open_frozen(root: DataRoot, boots: Boots, root_ids: frozenset[str]) -> Database:
    """The projection's own file if it is whole and says all that the rollouts say; else one in memory."""
    try:
        found = Database.frozen(root.timeline)
    except (DamagedDatabaseError, StorageError, apsw.Error):
        return index_in_memory(root, boots, unique(root.rollouts()), root_ids)
    try:
        current = _is_current(root, found)
        dead = [row for row in _with_open_turn(found) if current and _is_dead(row, found, boots)]
        if current and not dead:
            return found
        if current:
            copied = Database.in_memory()
            with copied.connection.backup("main", found.connection, "main") as backup:
                backup.step()
            found.close()
            for row in dead:
                _interrupt(copied, row)
            return copied
    except (DamagedDatabaseError, apsw.Error) as error:
        log.info("the projection is made in memory: %s", type(error).__name__)
    found.close()
    return index_in_memory(root, boots, unique(root.rollouts()), root_ids)


def index_in_memory(root: DataRoot, boots: Boots, places: Iterable[RolloutPlace], root_ids: frozenset[str]) -> Database:
    """Index these rollouts as a start would, in memory. One that cannot be read hides no other."""
    database = Database.in_memory()
    connection = database.connection
    around = Indexing(
        root.path, root.quarantine, lambda state: store(connection, state), writable=False, root_ids=root_ids
    )
    connection.execute("BEGIN")
    for number, place in enumerate(places, 1):
        try:
            recorder = Recorder.open_to_read(root.resolve(place.path))
        except (FileNotFoundError, LockstitchError) as error:
            log.warning("a rollout could not be opened: %s (%s)", place.path, type(error).__name__)
            continue
        try:
            store(connection, index_whole(around, StoredRows(connection), number, place, recorder))
        except LockstitchError as error:
            log.warning("a rollout could not be indexed: %s (%s)", place.path, error.kind)
            forget_thread(connection, number)
        finally:
            recorder.close()
    for row in _with_open_turn(database):
        if _is_dead(row, database, boots):
            _interrupt(database, row)
    connection.execute("COMMIT")
    return database


def _is_current(root: DataRoot, database: Database) -> bool:
    """Whether nothing of the file waits in a -wal, and its rows know every rollout in its place and to its end."""
    wal = f"{root.timeline}-wal"
    if os.path.exists(wal) and os.path.getsize(wal):
        return False
    rows = database.connection.execute("SELECT path, size FROM thread")
    known: dict[str, int] = dict(rows.fetchall())
    for place in unique(root.rollouts()):
        try:
            if known.pop(place.path, -1) != os.stat(root.resolve(place.path)).st_size:
                return False
        except OSError:
            return False
    return not known


def _with_open_turn(database: Database) -> list[ThreadRow]:
    return StoredRows(database.connection).all(ThreadRow, "open_turn_no IS NOT NULL")


def _is_dead(row: ThreadRow, database: Database, boots: Boots) -> bool:
    turn = StoredRows(database.connection).turn_by_number(row.thread_no, row.open_turn_no or 0)
    return turn is not None and not boots.is_alive(turn.boot_id)


def _interrupt(database: Database, row: ThreadRow) -> None:
    state = ThreadState.load(row, StoredRows(database.connection))
    interrupt(state, microseconds_of(row.last_at))
    store(database.connection, state)
