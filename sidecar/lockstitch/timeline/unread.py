"""Rollouts that the projection knows by name only: what their first and last lines say, until they are read.

A projection that is begun anew lists every rollout here before it is put in place, so that it is whole from its first
moment: what it holds no rows of, it names. The times of a rollout are taken from its ends, to sort by; everything
that is answered of a thread is answered once it has been read, and it is read at once when a request needs it.

Invariant: a bounded number of bytes of each file is read. What its ends do not prove is null, and then the thread is
read before any page that it might be on is answered.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from lockstitch.codec import ParseError
from lockstitch.data_root import DataRoot, RolloutPlace
from lockstitch.platform.files import open_private
from lockstitch.rollout.line import LOOK_BACK, Line, is_sound, parse_line, previous_sum_at
from lockstitch.rollout.tail import ReadAt, reader
from lockstitch.timeline.database import Connection
from lockstitch.timeline.payloads import read_thread_started
from lockstitch.timeline.reducer import SILENT, moment_of
from lockstitch_protocol.ids import is_thread_id

_HEAD_BYTES = 4096
_TAIL_BYTES = 16 << 10
_MOST_BYTES = 128 << 10
"""So much of a file is read at either end, if its line there is longer."""

_MORE = 16
"""A page whose filter few threads pass may need so many times more of them."""

_COLUMNS = "thread_no, thread_id, path, archived, size, created_at, updated_at"
_EARLIEST, _LATEST = -(1 << 62), 1 << 62
_BOUNDS = {
    # Of a thread that was read: (at the earliest, at the latest). A turn begins between its thread's start and end.
    "created_at": ("created_at", "created_at"),
    "updated_at": ("updated_at", "updated_at"),
    "recency_at": ("created_at", "updated_at"),
}


class UnreadError(Exception):
    """What is asked for needs threads that are not read yet: these, or all."""

    def __init__(self, thread_ids: list[str] | None, at_first: int = 1) -> None:
        """`at_first`: so many of them, from the first on, are surely needed; the others if these are not enough."""
        super().__init__("threads that are not read yet")
        self.thread_ids, self.at_first = thread_ids, at_first


class Ends(msgspec.Struct, frozen=True, gc=False):
    """What the ends of a rollout prove, in microseconds since the epoch; None: nothing."""

    size: int
    created_at: int | None = None
    updated_at: int | None = None


def ends_of(root: DataRoot, place: RolloutPlace) -> Ends:
    """Read both ends of a rollout; of one that cannot be opened nothing is known."""
    try:
        fd = open_private(root.resolved(place.path), os.O_RDONLY)
    except OSError:
        return Ends(0)
    try:
        size, read = os.fstat(fd).st_size, reader(fd)
        created = _created(read, size)
        return Ends(size, created, None if created is None else _updated(read, size, created))
    except (OSError, ParseError, ValueError):
        return Ends(0)
    finally:
        os.close(fd)


def _created(read: ReadAt, size: int) -> int | None:
    """When the thread was started, by its first line."""
    data, end = b"", -1
    for most in (_HEAD_BYTES, _MOST_BYTES):
        data = read(0, min(size, most))
        end = data.find(b"\n")
        if end >= 0:
            break
    data = data[: max(end, 0)]
    if not data or not is_sound(data, b""):
        return None
    line = parse_line(data)
    if line.type != "thread.started" or line.sequence != 1:
        return None
    payload = bytes(line.payload)
    read_thread_started(payload)  # one that cannot be read says nothing of the thread
    return moment_of(line.at, payload)


def _updated(read: ReadAt, size: int, created: int) -> int | None:
    """When the thread was used last, by its last line that is not recovery's."""
    for most in (_TAIL_BYTES, _MOST_BYTES):
        found = _last_line(read, size, most)
        if found is not None:
            if found.more:
                return None  # the end of an append is missing
            return max(created, moment_of(found.at, bytes(found.payload)))
        if most >= size:
            break
    return None


def _last_line(read: ReadAt, size: int, most: int) -> Line | None:
    """The last line that tells of use, if all from there on is sound and lies within so many bytes of the end."""
    start = max(0, size - most)
    block = read(start, size - start)
    stop = len(block) - 1
    if stop < 0 or block[stop] != 0x0A:
        return None
    while stop > 0:
        begin = block.rfind(b"\n", 0, stop) + 1
        if (begin < LOOK_BACK and start) or not is_sound(block[begin:stop], previous_sum_at(block[:begin])):
            return None
        line = parse_line(block[begin:stop])
        if line.type not in SILENT:
            return line
        stop = begin - 1
    return None


# -- the table ------------------------------------------------------------------------------------------------
def add(connection: Connection, root: DataRoot, first_number: int, places: Iterable[RolloutPlace]) -> None:
    """List rollouts as not read, numbered from there on. Within the caller's transaction."""
    rows = list[tuple[Any, ...]]()
    for number, place in enumerate(places, first_number):
        ends = ends_of(root, place)
        rows.append(
            (number, place.thread_id, place.path, int(place.archived), ends.size, ends.created_at, ends.updated_at)
        )
    connection.executemany(f"INSERT INTO unread({_COLUMNS}) VALUES(?,?,?,?,?,?,?)", rows)


def places(connection: Connection) -> dict[str, tuple[int, str, bool]]:
    """By thread id in lower case: number, path and archived of everything that is not read."""
    found = connection.execute("SELECT thread_id, thread_no, path, archived FROM unread")
    return {thread_id.lower(): (number, path, bool(archived)) for thread_id, number, path, archived in found}


def set_place(connection: Connection, number: int, path: str, archived: bool) -> None:
    """Say where an unread rollout lies now."""
    connection.execute("UPDATE unread SET path=?, archived=? WHERE thread_no=?", (path, int(archived), number))


def place_of(connection: Connection, thread_id: str) -> tuple[int, RolloutPlace] | None:
    """The number and place of a thread that is not read; None of any other."""
    if not is_thread_id(thread_id):
        return None
    found = connection.execute(
        "SELECT thread_no, thread_id, path, archived FROM unread WHERE thread_id=?", (thread_id,)
    ).fetchone()
    return None if found is None else (found[0], RolloutPlace(found[1], found[2], bool(found[3])))


def take(connection: Connection, number: int) -> None:
    """The thread is read, or turned out to be gone."""
    connection.execute("DELETE FROM unread WHERE thread_no=?", (number,))


def take_known(connection: Connection) -> None:
    """Forget what has rows: a program that knows nothing of this table has read it."""
    connection.execute("DELETE FROM unread WHERE thread_id IN (SELECT thread_id FROM thread)")


def is_any(connection: Connection) -> bool:
    """Whether anything is not read yet."""
    return connection.execute("SELECT 1 FROM unread LIMIT 1").fetchone() is not None


def lag(connection: Connection) -> int:
    """How many bytes of rollouts are not read yet."""
    return int(connection.execute("SELECT coalesce(sum(size),0) FROM unread").fetchone()[0])


def newest(connection: Connection, of: Sequence[str] | None = None) -> list[tuple[int, RolloutPlace, int]]:
    """What is not read (of these ids, or at all), with its size; what was used last comes first."""
    where = "" if of is None else f"WHERE thread_id IN ({','.join('?' * len(of))})"
    rows = connection.execute(
        f"SELECT thread_no, thread_id, path, archived, size FROM unread {where} ORDER BY archived, updated_at DESC",
        of or (),
    )
    return [
        (number, RolloutPlace(thread_id, path, bool(archived)), size)
        for number, thread_id, path, archived, size in rows
    ]


# -- pages ----------------------------------------------------------------------------------------------------
def require_all(connection: Connection) -> None:
    """Raise UnreadError unless every thread is read."""
    if is_any(connection):
        raise UnreadError(None)


def require_page(
    connection: Connection,
    column: str,
    descending: bool,
    archived: bool | None,
    after: int | None,
    last: int | None,
    limit: int,
) -> None:
    """Raise UnreadError if a thread that is not read may stand on a page of threads sorted by that time.

    The page goes from `after` to `last`; None: from the first, to the last thread of all.
    """
    earliest, latest = _BOUNDS[column]
    low, high = f"coalesce({earliest},{_EARLIEST})", f"coalesce({latest},{_LATEST})"
    near, far, order = (high, low, "DESC") if descending else (low, high, "ASC")
    where, values = ["1"], list[int]()
    if archived is not None:
        where.append("archived=?")
        values.append(int(archived))
    if after is not None:
        where.append(f"{far}{'<=' if descending else '>='}?")
        values.append(after)
    if last is not None:
        where.append(f"{near}{'>=' if descending else '<='}?")
        values.append(last)
    found = connection.execute(
        f"SELECT thread_id FROM unread WHERE {' AND '.join(where)} ORDER BY {near} {order} LIMIT ?",
        (*values, limit * _MORE),
    ).fetchall()
    if found:
        raise UnreadError([thread_id for (thread_id,) in found], limit)
