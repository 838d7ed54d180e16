"""Rows to and from the database: the reducer's cold lookups, and what it changed, written back.

Invariant: column order is the order of the row structs, so that a row is `Row(*tuple)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from lockstitch.codec import encode
from lockstitch.timeline.database import Connection
from lockstitch.timeline.rows import (
    ROW_TYPES,
    CheckpointRow,
    ClientEventRow,
    ImportSourceRow,
    ItemRow,
    ItemStatus,
    MarkRow,
    SpilledRow,
    ThreadRow,
    TurnRow,
    WorkerRow,
    WorkerStatus,
    columns,
    values_of,
)
from lockstitch.timeline.soundness import check_thread
from lockstitch.timeline.state import ThreadState

R = TypeVar("R", ThreadRow, TurnRow, ItemRow, CheckpointRow, ClientEventRow, ImportSourceRow, WorkerRow)

SELECT: dict[type[Any], str] = {row: f"SELECT {','.join(columns(row))} FROM {row.table}" for row in ROW_TYPES}
_REPLACE: dict[type[Any], str] = {
    row: f"INSERT OR REPLACE INTO {row.table}({','.join(columns(row))}) VALUES({','.join('?' * len(columns(row)))})"
    for row in ROW_TYPES
}
_THREAD_COLUMNS = columns(ThreadRow)
_TABLES = tuple(row.table for row in ROW_TYPES)

_BY_PATH = "file_checkpoint_path"
"""Left to itself SQLite walks all of a thread's checkpoints backwards to find a path that is new."""


class StoredRows:
    """The rows of a database, one query each. Implements `state.Cold`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def one(self, row_type: type[R], where: str, *values: Any, index: str = "") -> R | None:
        by = f" INDEXED BY {index}" if index else ""
        found = self._connection.execute(f"{SELECT[row_type]}{by} WHERE {where}", values).fetchone()
        return None if found is None else row_type(*found)

    def all(self, row_type: type[R], where: str, *values: Any) -> list[R]:
        return [row_type(*found) for found in self._connection.execute(f"{SELECT[row_type]} WHERE {where}", values)]

    def thread(self, thread_id: str) -> ThreadRow | None:
        row = self.one(ThreadRow, "thread_id=?", thread_id)
        return None if row is None else check_thread(row)

    def turn(self, thread_no: int, turn_id: str) -> TurnRow | None:
        return self.one(TurnRow, "thread_no=? AND turn_id=?", thread_no, turn_id)

    def turn_by_number(self, thread_no: int, turn_no: int) -> TurnRow | None:
        return self.one(TurnRow, "thread_no=? AND turn_no=?", thread_no, turn_no)

    def last_visible_turns(self, thread_no: int, count: int) -> list[TurnRow]:
        return self.all(TurnRow, "thread_no=? AND hidden=0 ORDER BY turn_no DESC LIMIT ?", thread_no, count)

    def item(self, thread_no: int, item_id: str) -> ItemRow | None:
        return self.one(ItemRow, "thread_no=? AND item_id=?", thread_no, item_id)

    def open_items(self, thread_no: int, turn_no: int) -> list[ItemRow]:
        return self.all(
            ItemRow, "thread_no=? AND turn_no=? AND status=? AND outside=0", thread_no, turn_no, ItemStatus.in_progress
        )

    def latest_checkpoint(self, thread_no: int, path: str) -> CheckpointRow | None:
        return self.one(
            CheckpointRow,
            "thread_no=? AND path=? AND (version_no IS NOT NULL OR op='confirmed') ORDER BY sequence DESC LIMIT 1",
            thread_no,
            path,
            index=_BY_PATH,
        )

    def latest_version(self, thread_no: int, path: str) -> CheckpointRow | None:
        return self.one(
            CheckpointRow,
            "thread_no=? AND path=? AND version_no IS NOT NULL ORDER BY sequence DESC LIMIT 1",
            thread_no,
            path,
            index=_BY_PATH,
        )

    def checkpoint(self, thread_no: int, checkpoint_id: str) -> CheckpointRow | None:
        return self.one(CheckpointRow, "thread_no=? AND checkpoint_id=?", thread_no, checkpoint_id)

    def client_event(self, thread_no: int, event_id: str) -> ClientEventRow | None:
        return self.one(ClientEventRow, "thread_no=? AND event_id=?", thread_no, event_id)

    def client_events(self, thread_no: int, event_ids: Sequence[str]) -> list[ClientEventRow]:
        ids = encode(event_ids).decode()
        return self.all(ClientEventRow, "thread_no=? AND event_id IN (SELECT value FROM json_each(?))", thread_no, ids)

    def import_source(self, thread_no: int) -> ImportSourceRow | None:
        return self.one(ImportSourceRow, "thread_no=?", thread_no)

    def worker(self, thread_no: int, worker_id: str) -> WorkerRow | None:
        return self.one(WorkerRow, "thread_no=? AND worker_id=?", thread_no, worker_id)

    def active_workers(self, thread_no: int) -> list[WorkerRow]:
        return self.all(WorkerRow, f"thread_no=? AND status={WorkerStatus.active:d}", thread_no)

    def set_place(self, thread_no: int, path: str, archived: bool) -> None:
        """Say where a thread's rollout lies now."""
        self._connection.execute(
            "UPDATE thread SET path=?, archived=? WHERE thread_no=?", (path, int(archived), thread_no)
        )

    def contents_only_of(self, thread_no: int) -> list[str]:
        """The file contents and large outputs that this thread refers to and no other does.

        None while there are threads that are not read: storage/gc finds what then stays.
        """
        if self._connection.execute("SELECT 1 FROM unread LIMIT 1").fetchone() is not None:
            return []
        found = self._connection.execute(
            "SELECT sha FROM (SELECT before_sha AS sha FROM file_checkpoint WHERE thread_no=?1 UNION "
            "SELECT after_sha FROM file_checkpoint WHERE thread_no=?1 UNION "
            "SELECT sha256 FROM spilled_output WHERE thread_no=?1) WHERE sha IS NOT NULL AND NOT EXISTS("
            "SELECT 1 FROM file_checkpoint WHERE thread_no<>?1 AND (before_sha=sha OR after_sha=sha))"
            " AND NOT EXISTS(SELECT 1 FROM spilled_output WHERE thread_no<>?1 AND sha256=sha)",
            (thread_no,),
        )
        return [sha256 for (sha256,) in found]

    def next_thread_number(self) -> int:
        found = self._connection.execute(
            "SELECT max((SELECT coalesce(max(thread_no),0) FROM thread),"
            "(SELECT coalesce(max(thread_no),0) FROM unread))"
        )
        return int(found.fetchone()[0]) + 1


def store(connection: Connection, state: ThreadState) -> None:
    """Write what the reducer changed, inside the caller's transaction."""
    _store_thread(connection, state)
    if state.dirty_turns:
        _write(connection, TurnRow, state.dirty_turns.values())
    if state.dirty_items:
        _write(connection, ItemRow, state.dirty_items.values())
    if state.new_rows:
        for row_type in (CheckpointRow, MarkRow, ClientEventRow, ImportSourceRow, WorkerRow, SpilledRow):
            rows = [row for row in state.new_rows if type(row) is row_type]
            if rows:
                _write(connection, row_type, rows)


def changed_rows(state: ThreadState) -> list[list[tuple[Any, ...]]]:
    """What the reducer made of a thread of which nothing is stored: values by row type, in the order of ROW_TYPES."""
    rows: dict[type[Any], list[tuple[Any, ...]]] = {row_type: [] for row_type in ROW_TYPES}
    rows[ThreadRow] = [values_of(state.thread)]
    rows[TurnRow] = list(map(values_of, state.dirty_turns.values()))
    rows[ItemRow] = list(map(values_of, state.dirty_items.values()))
    for row in state.new_rows:
        rows[type(row)].append(values_of(row))
    return list(rows.values())


def store_rows(connection: Connection, rows: Iterable[list[tuple[Any, ...]]]) -> None:
    """Write what `changed_rows` gave, inside the caller's transaction."""
    for row_type, values in zip(ROW_TYPES, rows, strict=True):
        if values:
            connection.executemany(_REPLACE[row_type], values)


def _store_thread(connection: Connection, state: ThreadState) -> None:
    """Only the columns that changed: each index whose columns stay is then left alone."""
    values, before = values_of(state.thread), state.stored_values
    if before is None:
        connection.execute(_REPLACE[ThreadRow], values)
    elif before != values:
        changed = [number for number, value in enumerate(values) if value != before[number]]
        names = ",".join(f"{_THREAD_COLUMNS[number]}=?" for number in changed)
        bindings = [*(values[number] for number in changed), state.thread.thread_no]
        connection.execute(f"UPDATE thread SET {names} WHERE thread_no=?", bindings)
    state.stored_values = values


def _write(connection: Connection, row_type: type[Any], rows: Iterable[Any]) -> None:
    connection.executemany(_REPLACE[row_type], map(values_of, rows))


def copy_of(row: ThreadRow) -> ThreadRow:
    """A thread's row that later events do not change."""
    return ThreadRow(*values_of(row))


def forget_thread(connection: Connection, thread_no: int) -> None:
    """Remove every row of a thread, inside the caller's transaction."""
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table} WHERE thread_no=?", (thread_no,))
