"""A quick look at the projection for whoever cannot wait for a whole start: what may be completed on a command line.

Invariant: nothing is written, made or mended; what cannot be seen at once is not there. What it says is a hint: no line
is checked by its sum, and rows may lag behind the rollouts.
Invariant: importing this costs next to nothing.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, BinaryIO
from urllib.parse import quote

import apsw

from lockstitch.data_root import DataRoot

_USER_MESSAGE = 1  # rows.ItemKind, which would bring in a lot; a test compares them
_MOST_BYTES = 64 << 10


class Glance:
    """An open projection, for the moment of one question. Raises apsw.Error where it is not as it should be."""

    def __init__(self, root: DataRoot, connection: Any) -> None:
        self._root, self._connection = root, connection

    def threads(self, *, archived: bool, most: int) -> list[tuple[str, str]]:
        """Ids and titles, the last used first."""
        statement = (
            "SELECT thread_id, coalesce(nullif(name, ''), preview) FROM thread WHERE archived=? "
            "ORDER BY updated_at DESC, created_at DESC, thread_id DESC LIMIT ?"
        )
        return list(self._connection.execute(statement, (int(archived), most)))

    def turns(self, thread_id: str) -> list[str]:
        """What the user said first in each turn that is not rolled back, the first turn first; empty if unknown."""
        found = self._connection.execute(
            "SELECT thread_no, path FROM thread WHERE thread_id=?", (thread_id,)
        ).fetchone()
        if found is None:
            return []
        # Of the columns without a function the row of the smallest sequence is taken: SQLite promises that for min().
        statement = (
            "SELECT turn.turn_no, item.line_at + item.item_at, item.item_length, min(item.sequence) FROM turn "
            "LEFT JOIN item ON item.thread_no=turn.thread_no AND item.turn_no=turn.turn_no AND item.kind=? "
            "WHERE turn.thread_no=? AND turn.hidden=0 GROUP BY turn.turn_no ORDER BY turn.turn_no"
        )
        rows = list(self._connection.execute(statement, (_USER_MESSAGE, found[0])))
        try:
            with open(self._root.resolve(found[1]), "rb") as file:
                return [_said(file, at, length) if length else "" for _, at, length, _ in rows]
        except OSError:
            return [""] * len(rows)

    def checkpoints(self, thread_id: str) -> list[tuple[str, str, str, str]]:
        """Id, path, what was done and by whom, the newest first."""
        statement = (
            "SELECT checkpoint_id, file_checkpoint.path, op, file_checkpoint.source FROM file_checkpoint "
            "JOIN thread USING (thread_no) WHERE thread_id=? AND op<>'confirmed' ORDER BY sequence DESC"
        )
        return list(self._connection.execute(statement, (thread_id,)))


@contextmanager
def glance(root: DataRoot) -> Generator[Glance | None]:
    """The projection as it is, or None if there is none that can be looked at."""
    try:
        connection = _opened(root)
    except apsw.Error:
        yield None
        return
    try:
        yield Glance(root, connection)
    finally:
        connection.close()


def _opened(root: DataRoot) -> Any:
    path = os.fspath(root.timeline)
    if not os.path.exists(f"{path}-wal"):  # nobody has it open: all is in the file, and no -wal and -shm need be made
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(f"file:{quote(path)}?immutable=1", flags=flags)
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)  # as timeline/database.py has it for every reader
    connection.set_busy_timeout(100)
    return connection


def _said(file: BinaryIO, at: int, length: int) -> str:
    from lockstitch.codec import ParseError, TooDeepError, decode

    if length > _MOST_BYTES:
        return ""
    file.seek(at)
    try:
        parts = decode(file.read(length))["content"]
        return " ".join(part["text"] for part in parts if part.get("type") == "text")
    except (ParseError, TooDeepError, LookupError, TypeError, AttributeError):  # damage, or rows that lag behind
        return ""
