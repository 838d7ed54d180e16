"""One connection to the projection's SQLite file: opening, pragmas, schema, and whether it is still the file.

Invariant: only apsw opens the file in this process (closing any other handle would drop SQLite's locks), and
no read transaction outlives one short query.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from lockstitch.errors import StorageError
from lockstitch.platform import faults
from lockstitch.platform.files import open_private, storage_error, storage_errors
from lockstitch.timeline.schema import APPLICATION_ID, MIGRATIONS, WHOLE

Connection = Any
"""An apsw connection; the library's own stubs name types that no checker can resolve."""

BUSY_TIMEOUT_MS = 10_000
WAL_PAGES = 1000
"""From so many pages on the -wal is written back."""
SQLITE_VERSION: str = apsw.sqlite_lib_version()

_DAMAGED = (apsw.CorruptError, apsw.NotADBError)


class DamagedDatabaseError(Exception):
    """The projection's file is missing, empty, of another kind or corrupt: it is rebuilt from the rollouts."""


class Database:
    """An open projection. Not shared between threads."""

    _wal_pages = 0

    def __init__(self, path: Path, *, reader: bool = False, bulk: bool = False, staged: bool = False) -> None:
        """Open an existing file. `bulk` is for a new file that nobody else sees: no sync; `staged` goes on with one.

        A `reader` leaves the -wal alone when it closes: the file may have been replaced under it, and the -wal is
        then that of another. Raises DamagedDatabaseError, StorageError.
        """
        self.path = path
        if bulk:  # made here, since SQLite would leave its mode to the umask; the -wal and -shm get the same
            with storage_errors(path):
                os.close(open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
        self.identity = file_identity(path)
        flags = apsw.SQLITE_OPEN_READWRITE
        try:
            if os.path.isdir(path):
                raise DamagedDatabaseError("a directory stands in its place")
            if not bulk and os.path.getsize(path) == 0:
                raise DamagedDatabaseError("the file is empty")
            self.connection: Connection = apsw.Connection(str(path), flags=flags)
        except (FileNotFoundError, *_DAMAGED) as error:
            raise DamagedDatabaseError(str(error)) from error
        except apsw.CantOpenError as error:
            if not path.exists():
                raise DamagedDatabaseError("the file is missing") from error
            raise _storage_error(error, path) from error
        try:
            if reader:
                self.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            if staged:
                self._go_on()
            else:
                self._configure(bulk, reader)
        except BaseException:
            self.connection.close()
            raise

    @classmethod
    def in_memory(cls) -> Database:
        """A projection that is nowhere on the disk, empty."""
        made = cls.__new__(cls)
        made.path, made.identity = Path(":memory:"), None
        made.connection = apsw.Connection(":memory:")
        made.connection.execute(WHOLE)
        return made

    @classmethod
    def frozen(cls, path: Path) -> Database:
        """A file that nobody can write, opened without locks. Raises DamagedDatabaseError."""
        made = cls.__new__(cls)
        made.path, made.identity = path, file_identity(path)
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        with database_errors(path):
            made.connection = apsw.Connection(f"file:{quote(os.fspath(path))}?immutable=1", flags=flags)
            if made.pragma("application_id") != APPLICATION_ID or made.pragma("user_version") != len(MIGRATIONS):
                made.close()
                raise DamagedDatabaseError("not a projection of this version")
        return made

    def _configure(self, bulk: bool, reader: bool) -> None:
        connection = self.connection
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        with database_errors(self.path):
            if bulk:
                self._set(journal_mode="DELETE", synchronous="OFF", locking_mode="EXCLUSIVE")
                self._set(application_id=APPLICATION_ID)
                connection.execute("BEGIN")
                connection.execute(WHOLE)
                connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}")
                return
            if self.pragma("application_id") != APPLICATION_ID:
                raise DamagedDatabaseError("not a projection of ours")
            self._set(foreign_keys="ON", temp_store="MEMORY", cache_size=-1024 if reader else -16384)
            self._set(journal_mode="WAL", synchronous="NORMAL")
            self._set(journal_size_limit=4 << 20)
            connection.set_wal_hook(self._note_wal)  # in place of SQLite's own, which would checkpoint in the commit

    def _note_wal(self, connection: Connection, name: str, pages: int) -> int:
        del connection, name
        self._wal_pages = pages
        return apsw.SQLITE_OK

    @property
    def wants_checkpoint(self) -> bool:
        """Whether the -wal holds much."""
        return self._wal_pages >= WAL_PAGES

    def checkpoint(self) -> None:
        """Move what the -wal holds into the file, if that is much. When nobody waits for it: it syncs both files."""
        if self.wants_checkpoint:
            self._wal_pages = 0
            with suppress(apsw.Error):  # a commit says what is wrong with the file, and the -wal holds everything
                self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _go_on(self) -> None:
        """A build that was cut off: what it committed is there, unless the power went too."""
        with database_errors(self.path):
            known = self.pragma("application_id"), self.pragma("user_version"), self.pragma("quick_check")
            if known != (APPLICATION_ID, len(MIGRATIONS), "ok"):
                raise DamagedDatabaseError("not a build of this version")
            self._set(journal_mode="DELETE", synchronous="OFF", locking_mode="EXCLUSIVE")
            self.connection.execute("BEGIN")

    def _set(self, **pragmas: str | int) -> None:
        # One statement each, read to its end: apsw stops at the first row, and most pragmas answer with one.
        for name, value in pragmas.items():
            self.connection.execute(f"PRAGMA {name}={value}").fetchall()

    def pragma(self, name: str) -> Any:
        return self.connection.pragma(name)

    def is_current(self) -> bool:
        """Whether the path still names the file that is open: a rebuild may have put another one there."""
        return self.identity is not None and file_identity(self.path) == self.identity

    def migrate(self) -> None:
        """Run the migrations that are missing, each in one transaction with its number. Under the write lock."""
        done = int(self.pragma("user_version"))
        for number, statements in enumerate(MIGRATIONS[done:], done + 1):
            with database_errors(self.path), self.connection:
                faults.point("migrate", self.path)
                self.connection.execute(statements)
                faults.point("migrated", self.path)
                self.connection.execute(f"PRAGMA user_version={number}")

    def finish_bulk(self) -> None:
        """Commit what a bulk load wrote and make the file one that everybody can open."""
        with database_errors(self.path):
            self.connection.execute("COMMIT")
            # Everybody opens it in WAL mode; set here, no first opener has to keep the others out to do it.
            self._set(locking_mode="NORMAL", journal_mode="WAL")
        self.close()

    def close(self) -> None:
        self.connection.close()


def file_identity(path: Path) -> tuple[int, int] | None:
    """Which file the path names, or None."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def database_errors(path: Path) -> Generator[None]:
    """Name what SQLite said: DamagedDatabaseError, or StorageError with `path`."""
    try:
        yield
    except _DAMAGED as error:
        raise DamagedDatabaseError(str(error)) from error
    except apsw.SQLError as error:
        if "no such table" in str(error) or "no such column" in str(error):
            raise DamagedDatabaseError(str(error)) from error
        raise
    except (apsw.FullError, apsw.ReadOnlyError, apsw.IOError, apsw.BusyError, apsw.CantOpenError) as error:
        raise _storage_error(error, path) from error
    except OSError as error:
        raise storage_error(error, error.filename or path) from error


def _storage_error(error: apsw.Error, path: Path) -> StorageError:
    kinds: dict[Any, str] = {
        apsw.FullError: "storageFull",
        apsw.ReadOnlyError: "storageReadOnly",
        apsw.BusyError: "storageBusy",
    }
    kind = kinds.get(type(error), "storageFailed")
    return StorageError(f"The database {path} cannot be used: {error}.", kind=kind, path=str(path), errno=0)
