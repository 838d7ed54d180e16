"""The write lock, and the open database with the transaction under it.

Invariant: the database is open only while its path names it, and changed only while the lock is held.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Protocol

import apsw

from lockstitch.errors import StorageError
from lockstitch.platform import faults
from lockstitch.platform.locks import FileLock
from lockstitch.timeline.admission import Surroundings
from lockstitch.timeline.batch import Batch
from lockstitch.timeline.database import DamagedDatabaseError, Database, database_errors
from lockstitch.timeline.hot import HotThreads
from lockstitch.timeline.place import Place, damaged_database
from lockstitch.timeline.read_up import WriterRows
from lockstitch.timeline.rebuild import open_or_rebuild
from lockstitch.timeline.soundness import RottenRowsError, rotten_rows
from lockstitch.timeline.stored import StoredRows

log = logging.getLogger(__name__)


class WriteLock(Protocol):
    """What keeps others out while a group is written."""

    def acquire(self, timeout: float) -> bool: ...
    def release(self) -> None: ...
    def write_holder(self, text: str) -> None: ...
    def read_blocker(self) -> str | None: ...
    def close(self) -> None: ...


class Held:
    """What a writer holds while it changes anything. For the thread whose turn it is."""

    _hot: HotThreads

    def __init__(self, place: Place) -> None:
        self.place = place
        self._lock: WriteLock = FileLock(place.root.writer_lock, fair=True)
        self._database: Database | None = None
        self._damaged = False
        self._remade = False
        """The projection was made anew because of its rows. Once is enough: what goes on is a fault of ours."""
        self.waits_since: float | None = None
        """Since when, on the monotonic clock, the lock is waited for."""

    def _reconcile(self) -> None:
        """A database was opened: finish what a crash left half done. In a transaction."""
        raise NotImplementedError

    @property
    def database(self) -> Database:
        """The open projection; only within a group."""
        if self._database is None:
            raise RuntimeError("the database is open only within a group")
        return self._database

    @property
    def rows(self) -> StoredRows:
        return WriterRows(self)

    def surroundings(self, batch: Batch) -> Surroundings:
        place = self.place
        return Surroundings(
            place.boot_id,
            place.boots.is_alive,
            place.now,
            batch.read_line,
            place.diff_of(batch.state.thread.thread_id),
            place.artifact_of,
            place.spill_of(batch.state.thread.thread_id),
        )

    @property
    def hot(self) -> HotThreads:
        return self._hot

    def _enter(self) -> None:
        """Take the write lock and begin the transaction. Raises StorageError; then nothing is held."""
        self.waits_since = time.monotonic()
        try:
            if not self._lock.acquire(self.place.lock_seconds):
                raise self._busy()
        finally:
            self.waits_since = None
        try:
            with suppress(StorageError):  # it only serves messages
                self._lock.write_holder(str(self.place.pid))
            try:
                self._begin()
            except DamagedDatabaseError:
                self._damaged = True
                self._begin()
        except DamagedDatabaseError as error:
            self._let_go()
            raise damaged_database(self.place.root) from error
        except BaseException:
            self._let_go()
            raise

    def _busy(self) -> StorageError:
        holder = self._lock.read_blocker() or "unknown"
        return StorageError(
            f"Process {holder} has held the write lock of {self.place.root.path} for more than "
            f"{self.place.lock_seconds:.0f} s; end it or wait, then try again.",
            kind="storageBusy",
            path=str(self.place.root.writer_lock),
            errno=0,
            pid=int(holder) if holder.isdigit() else None,
        )

    def _begin(self) -> None:
        if self._damaged or self._database is None or not self._database.is_current():
            self._drop_database()
            self._database = open_or_rebuild(self.place, force=self._damaged)
            self._damaged = False
            self._begin_transaction()
            with database_errors(self.place.root.timeline), self.rotten_rows():
                self._reconcile()
            self._commit()
        self._begin_transaction()

    def _begin_transaction(self) -> None:
        with database_errors(self.place.root.timeline):
            faults.point("begin", self.place.root.timeline)
            self.database.connection.execute("BEGIN IMMEDIATE")
            if self._hot.version != (version := self.database.pragma("data_version")):
                self._hot.version = version
                self._hot.recheck()

    def _commit(self) -> None:
        with database_errors(self.place.root.timeline):
            faults.point("commit", self.place.root.timeline)
            self.database.connection.execute("COMMIT")
            faults.point("committed", self.place.root.timeline)

    def _leave(self) -> bool:
        """Commit and let go. A database that cannot commit loses nothing: the log has it, the tail is read again."""
        try:
            self._commit()
        except (DamagedDatabaseError, StorageError, OSError, apsw.Error) as error:
            log.warning("the database did not commit, its rollouts will be read again: %s", type(error).__name__)
            self._damaged = self._damaged or isinstance(error, DamagedDatabaseError)
            self._let_go()
            return False
        self._lock.release()
        self._hot.trim()
        return True

    def _abandon(self) -> None:
        """Roll back and let go: nothing of this group was written."""
        try:
            self.database.connection.execute("ROLLBACK")
        except (RuntimeError, apsw.Error):
            self._drop_database()
        finally:
            self._lock.release()

    def _let_go(self) -> None:
        """Close the database, which rolls back what was begun, and release the lock."""
        self._drop_database()
        self._lock.release()

    def _drop_database(self) -> None:
        self._hot.forget()
        database, self._database = self._database, None
        if database is not None:
            with suppress(apsw.Error):
                database.close()

    @contextmanager
    def rotten_rows(self) -> Generator[None]:
        """What rotten rows lead to is a damaged database, once in the life of a process."""
        if self._remade:
            try:
                yield
            except RottenRowsError as error:
                raise error.__cause__ or error from None
            return
        try:
            with rotten_rows():
                yield
        except RottenRowsError as error:
            log.warning("rows of the projection cannot be used, it is made anew: %s", error)
            self._remade = True
            raise

    def rebuild_if_damaged(self, *, surely: bool = False) -> None:
        """Look at the projection with fresh eyes and make it anew if it is damaged. Alone, within a group."""
        self._drop_database()
        self._damaged = surely
        self._begin()
        if surely:
            return
        with database_errors(self.place.root.timeline):
            if self.database.pragma("quick_check") != "ok":
                raise DamagedDatabaseError("quick_check failed")

    @contextmanager
    def without_transaction(self) -> Generator[None]:
        """For what SQLite does only by itself, and for putting another file in its place. Alone, within a group."""
        self._commit()
        try:
            yield
        finally:
            self._begin()

    def close_database(self) -> None:
        """Let go of the file; the end of `without_transaction` opens what is there then."""
        self._drop_database()
