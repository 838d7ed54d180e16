"""What the search index asks the projection: which threads there are, and which items are not in it yet.

Invariant: pages go on by key; the caller decides how much of a page it takes.
"""

from __future__ import annotations

from dataclasses import dataclass

from lockstitch.timeline.parts import parts_of
from lockstitch.timeline.queries import ThreadFilter, conditions
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ItemKind, ItemRow


@dataclass(frozen=True, slots=True)
class Searched:
    """A thread that is searched, and how far its rollout goes."""

    thread_no: int
    thread_id: str
    size: int
    last_sum: str


def searched_threads(view: View, filter_: ThreadFilter, thread_no: int | None = None) -> list[Searched]:
    """The threads that pass the filter, the last used first; or that one, if it does."""
    if thread_no is None:
        view.require_all()
    where, values = conditions(filter_)
    if thread_no is not None:
        where.append("thread_no=?")
        values.append(thread_no)
    found = view.connection.execute(
        f"SELECT thread_no, thread_id, size, last_sum FROM thread WHERE {' AND '.join(where) or '1'} "
        "ORDER BY updated_at DESC, thread_no DESC",
        values,
    )
    return [Searched(*row) for row in found]


def items_since(
    view: View, thread_no: int, offset: int, after: tuple[int, int], limit: int
) -> tuple[list[ItemRow], tuple[int, int] | None]:
    """A page of the items that a line at or behind that offset made or changed, by turn, then by sequence.

    `after` is (turn number, sequence) of the last one before; that of the last one looked at is returned with the
    page, or None at the end.
    """
    rows = view.rows.all(
        ItemRow,
        "thread_no=? AND (turn_no,sequence)>(?,?) AND kind<>? AND (line_at>=? OR parts IS NOT NULL) "
        "ORDER BY turn_no, sequence LIMIT ?",
        thread_no,
        *after,
        ItemKind.other,
        offset,
        limit,
    )
    last = (rows[-1].turn_no, rows[-1].sequence) if len(rows) == limit else None
    return [row for row in rows if row.line_at >= offset or _grew(row, offset)], last


def _grew(row: ItemRow, offset: int) -> bool:
    parts = parts_of(row.parts)
    return bool(parts) and parts[-1][0] >= offset
