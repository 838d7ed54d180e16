"""What the projection says of space: threads by size, contents by thread, workspaces, pages.

Invariant: short queries only; nothing is read from a rollout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ROW_TYPES, ThreadRow, columns
from lockstitch.timeline.stored import SELECT

_SHAS = (
    "SELECT before_sha FROM file_checkpoint WHERE before_sha IS NOT NULL{0} UNION "
    "SELECT after_sha FROM file_checkpoint WHERE after_sha IS NOT NULL{0} UNION "
    "SELECT sha256 FROM spilled_output WHERE 1{0}"
)


@dataclass(frozen=True, slots=True)
class Pages:
    """The database file, counted in pages."""

    size: int
    count: int
    free: int


def all_threads(view: View) -> list[ThreadRow]:
    """Every thread, the largest rollout first."""
    view.require_all()
    found = view.connection.execute(f"{SELECT[ThreadRow]} ORDER BY size DESC, thread_id")
    return [ThreadRow(*values) for values in found]


def contents_of(view: View, thread_no: int) -> list[str]:
    """The sha256 of every content that the thread refers to."""
    found = view.connection.execute(_SHAS.format(" AND thread_no=?1"), (thread_no,))
    return [sha256 for (sha256,) in found]


def all_contents(view: View) -> set[str]:
    """The sha256 of every content that some thread refers to."""
    view.require_all()
    return {sha256 for (sha256,) in view.connection.execute(_SHAS.format(""))}


def workspaces(view: View) -> list[str]:
    """Every directory that a thread is linked to."""
    view.require_all()
    found = view.connection.execute("SELECT DISTINCT cwd FROM thread WHERE linked=1 AND cwd<>'' ORDER BY cwd")
    return [cwd for (cwd,) in found]


def pages(view: View) -> Pages:
    """The pages of the database file."""
    size, count, free = (int(view.connection.pragma(name)) for name in ("page_size", "page_count", "freelist_count"))
    return Pages(size, count, free)


Rows = dict[str, list[tuple[Any, ...]]]
"""By table: the rows of one thread, without its number and what is about the file alone."""


def rows_of(connection: Any, thread_no: int) -> Rows:
    """Every row of a thread, to be compared."""
    found: Rows = {}
    for row_type in ROW_TYPES:
        names = [name for name in columns(row_type) if name not in ("thread_no", "stamp")]
        rows = connection.execute(f"SELECT {','.join(names)} FROM {row_type.table} WHERE thread_no=?", (thread_no,))
        found[row_type.table] = rows.fetchall()
    return found


def key_of(table: str, row: Sequence[Any]) -> str:
    """A row's name for a person: the columns that its table is sorted by."""
    return "/".join(str(value) for value in row[: 2 if table == "item" else 1])
