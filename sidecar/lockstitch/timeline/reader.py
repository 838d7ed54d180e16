"""Reading the projection: a small pool of connections, used from worker threads.

Invariant: a connection is borrowed for one short query and never used by two threads at once; one whose file
was replaced by a rebuild is opened anew.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import apsw

from lockstitch.data_root import DataRoot
from lockstitch.errors import NotFoundError
from lockstitch.timeline import unread
from lockstitch.timeline.database import Connection, DamagedDatabaseError, Database, database_errors
from lockstitch.timeline.hot import places_of
from lockstitch.timeline.lines import OpenRollout
from lockstitch.timeline.rows import ThreadRow
from lockstitch.timeline.stored import StoredRows

T = TypeVar("T")

_MOST_IDLE = 4


class ElsewhereError(Exception):
    """The thread that is looked for is not in this projection but in that of the ephemeral threads."""


class _Rows(StoredRows):
    """The rows of a projection that says so when it is asked for a thread that is elsewhere, or not read yet."""

    def __init__(self, connection: Connection, elsewhere: Collection[str]) -> None:
        super().__init__(connection)
        self._elsewhere = elsewhere

    def thread(self, thread_id: str) -> ThreadRow | None:
        if thread_id.lower() in self._elsewhere:
            raise ElsewhereError
        row = super().thread(thread_id)
        if row is None and (found := unread.place_of(self._connection, thread_id)) is not None:
            raise unread.UnreadError([found[1].thread_id])
        return row


class View:
    """One consistent look at the projection and the rollouts."""

    ephemeral = False
    """Whether what is looked at lives in memory only."""

    def __init__(self, root: DataRoot, root_id: str, connection: Connection, elsewhere: Collection[str] = ()) -> None:
        """`elsewhere`: ids, in lower case, of threads that are not to be looked for here (ElsewhereError)."""
        self.root, self.root_id, self.connection = root, root_id, connection
        self.rows: StoredRows = _Rows(connection, elsewhere)
        self._opened: list[OpenRollout] = []
        self._damaged = False

    @property
    def saw_damage(self) -> bool:
        """Whether lines of a rollout were not as they were written."""
        return self._damaged or any(rollout.lines.damaged for rollout in self._opened)

    def note_damage(self) -> None:
        """Somebody who read a rollout by himself met damage that nothing tells of."""
        self._damaged = True

    def thread(self, thread_id: str) -> ThreadRow:
        """The thread's row. Raises NotFoundError."""
        row = self.rows.thread(thread_id)
        if row is None:
            raise NotFoundError(
                f"There is no thread {thread_id} in this data root; thread/list shows those that are.",
                kind="threadNotFound",
                threadId=thread_id,
            )
        return row

    def require_all(self) -> None:
        """Raise UnreadError unless every thread is read: what follows looks at all of them."""
        unread.require_all(self.connection)

    def rollout(self, thread: ThreadRow) -> OpenRollout:
        """The thread's rollout, open for reading. Raises NotFoundError."""
        places = [self.root.resolve(path) for path in places_of(thread.path)]
        return self._watched(OpenRollout(places, thread.thread_id))

    def _watched(self, opened: OpenRollout) -> OpenRollout:
        self._opened.append(opened)
        return opened

    def rollout_path(self, thread: ThreadRow) -> Path:
        return self.root.resolve(thread.path)


class Reader:
    """The pool. `run` may be called from any thread but the event loop's."""

    def __init__(self, root: DataRoot, root_id: str, elsewhere: Collection[str] = ()) -> None:
        self._root, self._root_id, self._elsewhere = root, root_id, elsewhere
        self._idle: queue.LifoQueue[Database] = queue.LifoQueue()
        self._closed = False
        self._lock = threading.Lock()
        self.before: Callable[[], None] = lambda: None
        """Called before each look, in its thread: makes visible what is to be seen."""

    def run(self, read: Callable[[View], T]) -> T:
        """Call `read` within one read transaction. Raises DamagedDatabaseError if the projection must be rebuilt."""
        self.before()
        with self._borrowed() as database, database_errors(self._root.timeline):
            connection = database.connection
            connection.execute("BEGIN")
            try:
                return read(View(self._root, self._root_id, connection, self._elsewhere))
            finally:
                connection.execute("COMMIT")

    @contextmanager
    def _borrowed(self) -> Generator[Database]:
        database = self._take()
        try:
            yield database
        except (apsw.Error, DamagedDatabaseError):
            database.close()
            raise
        except BaseException:
            self._give_back(database)
            raise
        self._give_back(database)

    def _take(self) -> Database:
        while True:
            try:
                database = self._idle.get_nowait()
            except queue.Empty:
                return self._open()
            if database.is_current():
                return database
            database.close()

    def _open(self) -> Database:
        for _ in range(100):
            found = Database(self._root.timeline, reader=True)
            if found.is_current():
                return found
            found.close()  # replaced while it was opened: the new one's -wal must not be read with the old one
        raise DamagedDatabaseError("the file is being replaced again and again")

    def _give_back(self, database: Database) -> None:
        with self._lock:
            if self._closed or self._idle.qsize() >= _MOST_IDLE:
                database.close()
            else:
                self._idle.put(database)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            while not self._idle.empty():
                self._idle.get_nowait().close()
