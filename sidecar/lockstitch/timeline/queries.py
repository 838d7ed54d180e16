"""The lists of the projection, a page at a time.

Invariant: every filter is in the query, so that a page is short only at the end; pages go on by key, never by
offset.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar
from unicodedata import normalize

import msgspec

from lockstitch.timeline import unread
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import (
    CheckpointRow,
    ItemKind,
    ItemRow,
    ItemStatus,
    ThreadRow,
    TurnRow,
    WorkerRow,
    WorkerStatus,
    columns,
)
from lockstitch.timeline.soundness import check_thread
from lockstitch.timeline.stored import SELECT

R = TypeVar("R")


class Page(msgspec.Struct, Generic[R], frozen=True):
    """Rows, and whether more stand behind and before them."""

    rows: list[R]
    more: bool
    earlier: bool = False


class ThreadFilter(msgspec.Struct):
    """Which threads; every field that is None or empty lets all pass."""

    archived: bool | None = False
    providers: list[str] = []
    sources: list[str] = []
    workspaces: list[str] | None = None
    """Canonical keys."""
    term: str | None = None
    parent: str | None = None
    ancestor: str | None = None


_SORT = {"created_at": "created_at", "updated_at": "updated_at", "recency_at": "recency_at"}


def threads(
    view: View, filter_: ThreadFilter, sort: str, descending: bool, after: list[Any] | None, limit: int
) -> Page[ThreadRow]:
    """Threads sorted by a time, then by creation, then by id. `after` is (time, created_at, thread id)."""
    if filter_.ancestor is not None:
        view.require_all()
    where, values = conditions(filter_)
    if filter_.term and not filter_.term.isascii():
        view.connection.create_scalar_function("contains", _contains, 2, deterministic=True)
    column = _SORT[sort]
    keys = ("created_at", "thread_id") if column == "created_at" else (column, "created_at", "thread_id")
    direction = "DESC" if descending else "ASC"
    if after is not None:
        key = after[1:] if column == "created_at" else after
        where.append(f"({','.join(keys)}) {'<' if descending else '>'} ({','.join('?' * len(keys))})")
        values += key
    order = ",".join(f"{key} {direction}" for key in keys)
    sql = f"{_with(filter_)}{SELECT[ThreadRow]} WHERE {' AND '.join(where) or '1'} ORDER BY {order} LIMIT ?"
    found = view.connection.execute(sql, (*_before(filter_), *values, limit + 1))
    rows = [check_thread(ThreadRow(*values)) for values in found]
    last = getattr(rows[-1], column) if len(rows) > limit else None
    begin = None if after is None else after[0]
    unread.require_page(view.connection, column, descending, filter_.archived, begin, last, limit + 1)
    return Page(rows[:limit], len(rows) > limit)


def _with(filter_: ThreadFilter) -> str:
    if filter_.ancestor is None:
        return ""
    return (
        "WITH RECURSIVE child(id) AS (SELECT thread_id FROM thread WHERE parent_thread=? UNION "
        "SELECT thread.thread_id FROM thread JOIN child ON thread.parent_thread=child.id) "
    )


def _before(filter_: ThreadFilter) -> list[Any]:
    return [] if filter_.ancestor is None else [filter_.ancestor]


def conditions(filter_: ThreadFilter) -> tuple[list[str], list[Any]]:
    """The filter as conditions of a query on `thread`, and their values; an ancestor needs `threads`' own."""
    where: list[str] = []
    values: list[Any] = []
    if filter_.archived is not None:
        where.append("archived=?")
        values.append(int(filter_.archived))
    for column, wanted in (("provider", filter_.providers), ("source", filter_.sources)):
        if wanted:
            where.append(f"{column} IN ({','.join('?' * len(wanted))})")
            values += wanted
    if filter_.workspaces is not None:
        where.append(f"workspace_key IN ({','.join('?' * len(filter_.workspaces))})")
        values += filter_.workspaces
    if filter_.term:
        if filter_.term.isascii():
            where.append(r"(coalesce(name,'') LIKE ? ESCAPE '\' OR preview LIKE ? ESCAPE '\')")
            values += [_like(filter_.term)] * 2
        else:  # LIKE knows the case of ASCII letters alone
            where.append("(contains(name, ?) OR contains(preview, ?))")
            values += [_folded(filter_.term)] * 2
    if filter_.parent is not None:
        where.append("parent_thread=?")
        values.append(filter_.parent)
    if filter_.ancestor is not None:
        where.append("thread_id IN child")
    return where, values


def _folded(text: str) -> str:
    return normalize("NFKC", text).casefold()


def _contains(text: str | None, term: str) -> bool:
    return text is not None and term in _folded(text)


def _like(term: str) -> str:
    for sign in "\\%_":
        term = term.replace(sign, "\\" + sign)
    return f"%{term}%"


def turns(view: View, thread_no: int, descending: bool, after: int | None, limit: int) -> Page[TurnRow]:
    """The turns that are not rolled back, by number; `after` is a turn number."""
    sign, direction = ("<", "DESC") if descending else (">", "ASC")
    bound = after if after is not None else (1 << 62 if descending else 0)
    rows = view.rows.all(
        TurnRow,
        f"thread_no=? AND hidden=0 AND turn_no {sign} ? ORDER BY turn_no {direction} LIMIT ?",
        thread_no,
        bound,
        limit + 1,
    )
    return Page(rows[:limit], len(rows) > limit)


def items(
    view: View, thread_no: int, turn_no: int | None, descending: bool, after: list[int] | None, limit: int
) -> Page[ItemRow]:
    """The items of turns that clients know, in the order of turns; `after` is (turn number, sequence)."""
    where = ["i.thread_no=?", "i.kind<>?", "i.outside=0"]  # COMPAT: clients demand a turn of every item
    values: list[Any] = [thread_no, ItemKind.other]
    if turn_no is not None:
        where.append("i.turn_no=?")
        values.append(turn_no)
    if after is not None:
        where.append(f"(i.turn_no,i.sequence) {'<' if descending else '>'} (?,?)")
        values += after
    # Items of turns that were rolled back are skipped within the query.
    where.append(
        "NOT EXISTS(SELECT 1 FROM turn t WHERE t.thread_no=i.thread_no AND t.turn_no=i.turn_no AND t.hidden=1)"
    )
    direction = "DESC" if descending else "ASC"
    names = ",".join(f"i.{name}" for name in columns(ItemRow))
    sql = (
        f"SELECT {names} FROM item i WHERE {' AND '.join(where)} "
        f"ORDER BY i.turn_no {direction}, i.sequence {direction} LIMIT ?"
    )
    rows = [ItemRow(*found) for found in view.connection.execute(sql, (*values, limit + 1))]
    return Page(rows[:limit], len(rows) > limit)


def items_of_turns(view: View, thread_no: int, first: int, last: int) -> dict[int, list[ItemRow]]:
    """Every known item of the turns `first` to `last`, by turn number."""
    rows = view.rows.all(
        ItemRow,
        "thread_no=? AND turn_no BETWEEN ? AND ? AND outside=0 AND kind<>? ORDER BY turn_no, sequence",
        thread_no,
        first,
        last,
        ItemKind.other,
    )
    found: dict[int, list[ItemRow]] = {}
    for row in rows:
        found.setdefault(row.turn_no, []).append(row)
    return found


def newest_items(view: View, thread_no: int, skip: int, limit: int | None) -> list[ItemRow]:
    """All items of a thread by sequence, oldest first, counted from the newest."""
    rows = view.rows.all(
        ItemRow,
        "thread_no=? AND kind<>? AND (outside=1 OR turn_no NOT IN (SELECT turn_no FROM turn WHERE thread_no=?1"
        " AND hidden=1)) ORDER BY sequence DESC LIMIT ?",
        thread_no,
        ItemKind.other,
        -1 if limit is None else skip + limit,
    )
    return list(reversed(rows[skip:]))


def mark_before(view: View, thread_no: int, sequence: int) -> tuple[int, int]:
    """Where to begin reading for the event after `sequence`: (a sequence at or before it, its line's offset)."""
    found = view.connection.execute(
        "SELECT sequence, line_at FROM event_mark WHERE thread_no=? AND sequence<=? ORDER BY sequence DESC LIMIT 1",
        (thread_no, sequence + 1),
    ).fetchone()
    return (1, 0) if found is None else (found[0], found[1])


def mark_after(view: View, thread_no: int, sequence: int) -> int | None:
    """The offset of the first marked line behind the event `sequence`; None if there is none."""
    found = view.connection.execute(
        "SELECT line_at FROM event_mark WHERE thread_no=? AND sequence>? ORDER BY sequence LIMIT 1",
        (thread_no, sequence),
    ).fetchone()
    return None if found is None else found[0]


def checkpoints(
    view: View,
    thread_no: int,
    *,
    path: str | None = None,
    turn_no: int | None = None,
    after: int | None = None,
    limit: int,
) -> Page[CheckpointRow]:
    """Checkpoints, newest first; `after` is a sequence."""
    where, values = _checkpoint_conditions(thread_no, path, turn_no)
    if after is not None:
        where += " AND sequence<?"
        values.append(after)
    rows = view.rows.all(CheckpointRow, f"{where} ORDER BY sequence DESC LIMIT ?", *values, limit + 1)
    return Page(rows[:limit], len(rows) > limit)


def count_checkpoints(view: View, thread_no: int, path: str | None = None, turn_no: int | None = None) -> int:
    """How many checkpoints match."""
    where, values = _checkpoint_conditions(thread_no, path, turn_no)
    return int(view.connection.execute(f"SELECT count(*) FROM file_checkpoint WHERE {where}", values).fetchone()[0])


def _checkpoint_conditions(thread_no: int, path: str | None, turn_no: int | None) -> tuple[str, list[Any]]:
    where, values = "thread_no=? AND op<>'confirmed'", [thread_no]
    extra: list[Any] = []
    if path is not None and "\ufffd" in path and "//" not in path:
        # As it prints: every name that prints like that. A key goes on with `//`, and `0` comes after `/`.
        where += " AND (path=? OR path>=? AND path<?)"
        extra += [path, f"{path}//", f"{path}/0"]
    elif path is not None:
        where += " AND path=?"
        extra.append(path)
    if turn_no is not None:
        where += " AND turn_no=?"
        extra.append(turn_no)
    return where, [*values, *extra]


def versions(view: View, thread_no: int, path: str) -> list[CheckpointRow]:
    """Every version of a path, oldest first."""
    return view.rows.all(
        CheckpointRow, "thread_no=? AND path=? AND version_no IS NOT NULL ORDER BY sequence", thread_no, path
    )


class ArtifactPlace(msgspec.Struct, frozen=True):
    """A file version (`checkpoint`) or a spilled output (`item`), by the sequence of its event."""

    sequence: int
    checkpoint: CheckpointRow | None
    item: ItemRow | None


def artifacts(
    view: View, thread_no: int, *, turn_no: int | None = None, after: int = 0, limit: int, newest: bool = False
) -> Page[ArtifactPlace]:
    """File versions and spilled outputs by sequence."""
    turn, values = ("", [thread_no, after]) if turn_no is None else (" AND turn_no=?", [thread_no, after, turn_no])
    direction = "DESC" if newest else "ASC"
    tail = f"{turn} ORDER BY sequence {direction} LIMIT ?"
    found = [
        ArtifactPlace(row.sequence, row, None)
        for row in view.rows.all(
            CheckpointRow, f"thread_no=? AND sequence>? AND op<>'confirmed'{tail}", *values, limit + 1
        )
    ]
    found += [
        ArtifactPlace(row.sequence, None, row)
        for row in view.rows.all(
            ItemRow, f"thread_no=? AND sequence>? AND spilled IS NOT NULL{tail}", *values, limit + 1
        )
    ]
    found.sort(key=lambda place: place.sequence, reverse=newest)
    return Page(found[:limit], len(found) > limit)


def item_counts(view: View, thread_no: int, turn_no: int) -> dict[ItemKind, int]:
    """How many items of each kind a turn has."""
    found = view.connection.execute(
        "SELECT kind, count(*) FROM item WHERE thread_no=? AND turn_no=? AND outside=0 GROUP BY kind",
        (thread_no, turn_no),
    )
    return {ItemKind(kind): count for kind, count in found}


def items_closed_by_end(view: View, thread_no: int, turn_no: int) -> list[ItemRow]:
    """Items of a turn that no event of their own ended."""
    return view.rows.all(
        ItemRow,
        "thread_no=? AND turn_no=? AND status IN (?,?) AND outside=0 ORDER BY sequence",
        thread_no,
        turn_no,
        ItemStatus.interrupted,
        ItemStatus.streamed,
    )


def cut_off_items(view: View, thread_no: int, turn_no: int) -> list[ItemRow]:
    """Items of a turn that were cut off before their end."""
    return view.rows.all(
        ItemRow,
        "thread_no=? AND turn_no=? AND status=? AND outside=0 ORDER BY sequence",
        thread_no,
        turn_no,
        ItemStatus.interrupted,
    )


def workers(
    view: View, thread_no: int | None, status: WorkerStatus | None, after: list[Any] | None, limit: int
) -> list[WorkerRow]:
    """Workers, those that were started last first; `after` is (started_at, thread number, worker id).

    An active one may turn out to be interrupted, hence those come with either status.
    """
    if thread_no is None:
        view.require_all()
    where, values = ["1"], list[Any]()
    if thread_no is not None:
        where.append("thread_no=?")
        values.append(thread_no)
    if status is not None:
        where.append("status IN (?,?)")
        values += (status, WorkerStatus.active if status == WorkerStatus.interrupted else status)
    if after is not None:
        where.append("(started_at, thread_no, worker_id) < (?,?,?)")
        values += after
    order = "ORDER BY started_at DESC, thread_no DESC, worker_id DESC LIMIT ?"
    return view.rows.all(WorkerRow, f"{' AND '.join(where)} {order}", *values, limit)


def workers_of_turn(view: View, thread_no: int, turn_no: int) -> list[WorkerRow]:
    """The workers that were started in a turn, in that order."""
    return view.rows.all(WorkerRow, "thread_no=? AND turn_no=? ORDER BY started_at, worker_id", thread_no, turn_no)


def thread_id_of(view: View, thread_no: int) -> str:
    """The id of a thread that is there."""
    return view.connection.execute("SELECT thread_id FROM thread WHERE thread_no=?", (thread_no,)).fetchone()[0]
