"""The search index: which words stand in which item. A SQLite file of its own, made again whenever it is not whole.

Invariant: it holds words and their places, never a text: what a hit shows is read from the rollout.
Invariant: it decides nothing about what may be seen. A hit only says where to look; threads, turns and items come
from the projection, and the words from the rollout, at the moment of the question.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from lockstitch.platform.files import open_private, storage_errors, unlink
from lockstitch.timeline.database import (
    BUSY_TIMEOUT_MS,
    Connection,
    DamagedDatabaseError,
    database_errors,
    file_identity,
)
from lockstitch.timeline.search_text import TOKENIZER, TOKENIZER_ARGUMENTS, Words

APPLICATION_ID = 0x4C53_5452
"""`PRAGMA application_id`: the letters LSTR."""

_MOST_IDLE = 2
_SEQUENCES = 32
"""A row of the index is numbered by thread and, in its lowest 32 bits, by the item's first sequence; 0 is the title."""

_TABLES = f"""
CREATE TABLE thread(
  thread_no INTEGER PRIMARY KEY, thread_id TEXT NOT NULL COLLATE NOCASE UNIQUE,
  size INTEGER NOT NULL, state TEXT NOT NULL) STRICT;
CREATE TABLE entry(entry_no INTEGER PRIMARY KEY, turn_no INTEGER NOT NULL) STRICT;
CREATE VIRTUAL TABLE words USING fts5(said, done, output, content='', contentless_delete=1,
  tokenize="{TOKENIZER} {" ".join(f"'{argument}'" for argument in TOKENIZER_ARGUMENTS)}");
INSERT INTO words(words, rank) VALUES('rank', 'bm25(4.0, 2.0, 1.0)');
"""
_CODE_VERSION = 1


class DamagedIndexError(Exception):
    """The file is not a whole index of ours: it is made again."""


@dataclass(frozen=True, slots=True)
class Position:
    """How much of a thread's rollout is in the index: `size` bytes, after a line whose sum is `state`.

    While somebody is at it, `size` is -1 and `state` says who.
    """

    thread_no: int
    size: int
    state: str


@dataclass(frozen=True, slots=True)
class Entry:
    """An item's words: what was said, what was done (commands, paths, tools), and what came out of it."""

    sequence: int
    turn_no: int
    said: str
    done: str
    output: str


@dataclass(frozen=True, slots=True)
class Portion:
    """Entries of one thread. Stored only if the thread's state is as `expects` says; None begins the thread anew."""

    thread_id: str
    expects: str | None
    entries: list[Entry]
    size: int
    leaves: str


@dataclass(frozen=True, slots=True)
class Hit:
    """Where to look. The lower the rank, the better."""

    entry_no: int
    thread_no: int
    sequence: int
    turn_no: int
    rank: float


class Asking:
    """One consistent look at the index."""

    def __init__(self, connection: Connection, tokenizer: Any) -> None:
        self._connection, self._tokenizer = connection, tokenizer

    def words(self, text: str) -> Words:
        """The words of a text as the index tells them apart; places are in bytes of UTF-8."""
        return self._tokenizer(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False)

    def positions(self) -> dict[str, Position]:
        """By thread id, in lower case."""
        with _index_errors():
            rows = self._connection.execute("SELECT thread_id, thread_no, size, state FROM thread")
            return {thread_id.lower(): Position(*found) for thread_id, *found in rows}

    def position(self, thread_id: str) -> Position | None:
        """How much of that thread is in the index; None: nothing."""
        with _index_errors():
            found = self._connection.execute(
                "SELECT thread_no, size, state FROM thread WHERE thread_id=?", (thread_id,)
            ).fetchone()
        return None if found is None else Position(*found)

    def hits(self, expression: str, thread_no: int | None) -> Iterator[Hit]:
        """The entries that the expression finds, the best first; of equal ones the later item first."""
        where, bounds = "", ()
        if thread_no is not None:
            where, bounds = " AND w.rowid BETWEEN ? AND ?", _range(thread_no)
        with _index_errors():  # what fails for whoever takes the hits fails outside of this
            rows = self._connection.execute(
                "SELECT w.rowid, e.turn_no, w.rank FROM words w JOIN entry e ON e.entry_no=w.rowid "
                f"WHERE words MATCH ?{where} ORDER BY w.rank, w.rowid DESC",
                (expression, *bounds),
            )
            for number, turn_no, rank in rows:
                yield Hit(number, number >> _SEQUENCES, number & ((1 << _SEQUENCES) - 1), turn_no, rank)


@contextmanager
def _index_errors() -> Generator[None]:
    """Name what SQLite says of the index: DamagedIndexError, StorageError."""
    try:
        with database_errors(Path("the search index")):
            yield
    except (DamagedDatabaseError, apsw.SQLError) as error:
        raise DamagedIndexError(str(error)) from error


class SearchIndex:
    """The index of a data root, or (`path` None) one in memory. Used from worker threads."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._idle: queue.LifoQueue[_Open] = queue.LifoQueue()
        self._writing = threading.Lock()
        self._closed = False
        self._memory = _Open(None) if path is None else None

    @property
    def exists(self) -> bool:
        """Whether somebody made it already."""
        return self._path is None or self._path.exists()

    @contextmanager
    def asking(self) -> Generator[Asking]:
        """Look at the index, which is made if there is none. Raises DamagedIndexError, StorageError.

        What goes wrong with anything else in the meantime passes through as it is.
        """
        with self._borrowed() as opened:
            with _index_errors():
                opened.connection.execute("BEGIN")
            try:
                yield Asking(opened.connection, opened.tokenizer)
            finally:
                with suppress(apsw.Error):
                    opened.connection.execute("COMMIT")

    def store(self, portions: Iterable[Portion]) -> None:
        """Put entries in, in one transaction. Raises DamagedIndexError, StorageError."""
        with self._changing() as connection:
            for portion in portions:
                _store(connection, portion)

    def forget(self, thread_ids: Iterable[str]) -> None:
        """Take threads out."""
        with self._changing() as connection:
            for thread_id in thread_ids:
                found = connection.execute("SELECT thread_no FROM thread WHERE thread_id=?", (thread_id,)).fetchone()
                if found is not None:
                    _clear(connection, found[0])
                    connection.execute("DELETE FROM thread WHERE thread_no=?", found)

    def purge(self, *, first: bool) -> bool:
        """Write the words of entries that were taken out over, a step at a time; False when none are left."""
        with self._changing() as connection:
            before = connection.total_changes()
            connection.execute("INSERT INTO words(words, rank) VALUES('merge', ?)", (-500 if first else 500,))
            return connection.total_changes() - before >= 2

    def discard(self) -> None:
        """Remove the file, whatever it is. Only one process at a time may do this: under the write lock."""
        self._drop_idle()
        if self._path is None:
            self._memory = _Open(None)
            return
        for suffix in ("", "-wal", "-shm"):
            with storage_errors(self._path), suppress(FileNotFoundError):
                unlink(f"{self._path}{suffix}")

    def is_whole(self) -> bool:
        """Whether what lies there now can be read, at first sight."""
        try:
            with self.asking() as asking:
                asking.positions()
                next(asking.hits('"a"', None), None)
        except DamagedIndexError:
            return False
        return True

    def close(self) -> None:
        self._closed = True
        self._drop_idle()

    # -- connections ------------------------------------------------------------------------------------------
    @contextmanager
    def _changing(self) -> Generator[Connection]:
        with self._writing, self._borrowed() as opened, _index_errors():
            opened.connection.execute("BEGIN IMMEDIATE")
            try:
                yield opened.connection
            except BaseException:
                with suppress(apsw.Error):
                    opened.connection.execute("ROLLBACK")
                raise
            opened.connection.execute("COMMIT")

    @contextmanager
    def _borrowed(self) -> Generator[_Open]:
        with _index_errors():
            opened = self._take()
        try:
            with opened.lock:
                yield opened
        except BaseException:
            if opened is not self._memory:
                opened.close()
            raise
        self._give_back(opened)

    def _take(self) -> _Open:
        if self._memory is not None:
            return self._memory
        while True:
            try:
                found = self._idle.get_nowait()
            except queue.Empty:
                return _Open(self._path)
            if found.is_current():
                return found
            found.close()

    def _give_back(self, opened: _Open) -> None:
        if opened is self._memory:
            return
        if self._closed or self._idle.qsize() >= _MOST_IDLE:
            opened.close()
        else:
            self._idle.put(opened)

    def _drop_idle(self) -> None:
        while True:
            try:
                self._idle.get_nowait().close()
            except queue.Empty:
                return


class _Open:
    """One connection, with the tokenizer that the index uses."""

    def __init__(self, path: Path | None) -> None:
        self.lock = threading.RLock()
        self._path = path
        self._identity = None
        if path is None:
            self.connection: Connection = apsw.Connection(":memory:")
        else:
            with storage_errors(path):
                os.close(open_private(path, os.O_RDWR | os.O_CREAT))
            self._identity = file_identity(path)
            self.connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            self._prepare()
            self.tokenizer = self.connection.fts5_tokenizer(TOKENIZER, list(TOKENIZER_ARGUMENTS))
        except BaseException:
            self.connection.close()
            raise

    def _prepare(self) -> None:
        connection = self.connection
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        if self._path is not None:
            # The file may be replaced while it is open; closing must not touch the -wal of the new one.
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "journal_size_limit=4194304"):
                connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.execute("PRAGMA temp_store=MEMORY").fetchall()
        if connection.pragma("application_id") != APPLICATION_ID:
            connection.execute("BEGIN IMMEDIATE")
            if connection.pragma("application_id") != APPLICATION_ID:
                if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
                    raise DamagedDatabaseError("not an index of ours")
                connection.execute(_TABLES)
                connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version={_CODE_VERSION}")
            connection.execute("COMMIT")
        if connection.pragma("user_version") != _CODE_VERSION:
            raise DamagedDatabaseError("an index of another make")

    def is_current(self) -> bool:
        return self._path is None or file_identity(self._path) == self._identity

    def close(self) -> None:
        with suppress(apsw.Error):
            self.connection.close()


def _range(thread_no: int) -> tuple[int, int]:
    return thread_no << _SEQUENCES, ((thread_no + 1) << _SEQUENCES) - 1


def _store(connection: Connection, portion: Portion) -> None:
    found = connection.execute("SELECT thread_no, state FROM thread WHERE thread_id=?", (portion.thread_id,)).fetchone()
    if portion.expects is None:
        if found is None:
            connection.execute("INSERT INTO thread(thread_id, size, state) VALUES(?, -1, '')", (portion.thread_id,))
            found = (connection.last_insert_rowid(), "")
        else:
            _clear(connection, found[0])
    elif found is None or found[1] != portion.expects:
        return  # another process has begun the thread anew meanwhile, and will finish it
    number = found[0]
    for entry in portion.entries:
        entry_no = number << _SEQUENCES | entry.sequence
        connection.execute("INSERT OR REPLACE INTO entry VALUES(?,?)", (entry_no, entry.turn_no))
        connection.execute(
            "INSERT OR REPLACE INTO words(rowid, said, done, output) VALUES(?,?,?,?)",
            (entry_no, entry.said, entry.done, entry.output),
        )
    connection.execute("UPDATE thread SET size=?, state=? WHERE thread_no=?", (portion.size, portion.leaves, number))


def _clear(connection: Connection, thread_no: int) -> None:
    bounds = _range(thread_no)
    connection.execute(
        "DELETE FROM words WHERE rowid IN (SELECT entry_no FROM entry WHERE entry_no BETWEEN ? AND ?)", bounds
    )
    connection.execute("DELETE FROM entry WHERE entry_no BETWEEN ? AND ?", bounds)
