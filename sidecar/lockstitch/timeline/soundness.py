"""Whether rows can be what the reducer wrote, and what it means when they cannot: the projection is made anew.

A database whose pages are whole may still hold rows that rotted before they were written, or that another program
changed. What such rows make a reader or the writer stumble over is their fault and not the log's.

Invariant: nothing here is about the rollout's contents; a check costs no read of a file.
"""

from __future__ import annotations

import struct
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import apsw

from lockstitch.codec import ParseError, decode
from lockstitch.data_root import thread_id_of
from lockstitch.rollout.line import MAX_LINE_BYTES, parse_line
from lockstitch.rollout.tail import ReadAt, lines_backwards
from lockstitch.timeline.database import DamagedDatabaseError
from lockstitch.timeline.payloads import read_thread_started, read_turn_started
from lockstitch.timeline.rows import ThreadRow, TurnRow, TurnStatus
from lockstitch.timeline.state import Cold

_YEAR_10000 = 253_402_300_800_000_000
_HEAD = 160
"""So many bytes of a line hold its type: only a sequence and a time stand before it."""


class RottenRowsError(DamagedDatabaseError):
    """Rows cannot be decoded, or contradict each other or the log."""


STUMBLES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    apsw.ConstraintError,
    apsw.MismatchError,
    apsw.SQLError,
    struct.error,
)
"""What code that trusts its rows raises on rotten ones."""


@contextmanager
def rotten_rows() -> Generator[None]:
    """Name what rotten rows lead to: RottenRowsError, caused by it."""
    try:
        yield
    except STUMBLES as error:
        raise _unusable(error) from error


def _unusable(error: Exception) -> RottenRowsError:
    return RottenRowsError(f"rows cannot be used: {type(error).__name__}")


def check_thread(row: ThreadRow) -> ThreadRow:
    """The row, if it can be one of ours. Raises RottenRowsError."""
    try:  # as rotten_rows does it, for each row of a list
        if _is_possible(row):
            return row
    except STUMBLES as error:
        raise _unusable(error) from error
    contradictory = ValueError("contradictory")
    raise _unusable(contradictory) from contradictory


def _is_possible(row: ThreadRow) -> bool:
    thread_id = thread_id_of(row.path.rpartition("/")[2])
    return (
        thread_id is not None
        and thread_id.lower() == row.thread_id.lower()
        and row.path.startswith("archived_sessions/") == bool(row.archived)
        and 0 <= row.last_sequence <= row.size
        and 0 <= row.turn_count <= row.last_turn_no
        and (row.open_turn_no is None or 1 <= row.open_turn_no <= row.last_turn_no)
        and min(row.created_at, row.updated_at, row.recency_at) > -_YEAR_10000
        and max(row.created_at, row.updated_at, row.recency_at) < _YEAR_10000
        and (row.archived_at is None or abs(row.archived_at) < _YEAR_10000)
        and (row.damage is None or all(_is_damage(entry) for entry in decode(row.damage.encode())))
    )


def _is_damage(entry: Any) -> bool:
    return isinstance(entry["fromOffset"], int) and isinstance(entry["toOffset"], int)


def turns_agree(row: ThreadRow, cold: Cold) -> bool:
    """Whether the thread's row and its turns' rows say the same of what is open."""
    number = row.last_turn_no if row.open_turn_no is None else row.open_turn_no
    if number == 0:
        return True
    turn = cold.turn_by_number(row.thread_no, number)
    return turn is not None and (turn.status == TurnStatus.in_progress) == (row.open_turn_no is not None)


def newest_of(read: ReadAt, end: int, types: tuple[bytes, ...]) -> bytes | None:
    """The newest line before `end` whose type begins with one of these; it costs the way back to there."""
    for start, stop, _ in lines_backwards(read, end):
        _, found, rest = read(start, min(stop - start, _HEAD)).partition(b',"type":"')
        if found and rest.startswith(types):
            return read(start, stop - start)
    return None


def is_open_in_log(read: ReadAt, end: int, turn: TurnRow) -> bool:
    """Whether the log, too, says that this turn is open, and by which boot."""
    data = newest_of(read, end, (b"turn.",))
    if data is None:
        return False
    try:
        line = parse_line(data)
        boot_id = read_turn_started(bytes(line.payload)).bootId
    except ParseError:
        return False  # damaged: the log can say nothing of the kind any more
    same = (line.turnId or "").lower() == turn.turn_id.lower() and boot_id == turn.boot_id
    return same and line.type in ("turn.started", "turn.resumed")


def format_in_log(read: ReadAt, size: int) -> int | None:
    """The format that a rollout's first line names; None if that line is damaged."""
    try:
        line = parse_line(read(0, min(size, MAX_LINE_BYTES)).partition(b"\n")[0])
        return read_thread_started(bytes(line.payload)).format
    except ParseError:
        return None


def archived_in_log(read: ReadAt, end: int) -> bool:
    """Whether the log says that the thread is archived."""
    line = newest_of(read, end, (b"thread.archived", b"thread.unarchived"))
    return line is not None and line[:_HEAD].partition(b',"type":"')[2].startswith(b"thread.archived")
