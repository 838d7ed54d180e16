"""What the projection knows of imported sessions, and which threads hold parts of one conversation.

Invariant: reads only; nothing here decides what is imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from lockstitch.timeline.items import composed
from lockstitch.timeline.lines import DamagedLineError
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import CheckpointRow, ItemRow, ItemStatus, ThreadRow

_AT_ONCE = 256


def imported_threads(view: View) -> dict[tuple[str, str], str]:
    """(tool, session's id in lower case) → thread id."""
    view.require_all()
    query = "SELECT client, source_thread_id, thread_id FROM import_source JOIN thread USING(thread_no)"
    return {(client, source_id.lower()): thread_id for client, source_id, thread_id in view.connection.execute(query)}


def threads_with_turn(view: View, client: str, turn_id: str) -> list[ThreadRow]:
    """The threads that sessions of that tool became, one each, and that hold the turn; the first made first."""
    view.require_all()
    where = (
        "thread_no IN (SELECT import_source.thread_no FROM import_source CROSS JOIN turn USING(thread_no) "
        "WHERE client=? AND turn_id=?) ORDER BY thread_no"
    )
    return [row for row in view.rows.all(ThreadRow, where, client, turn_id) if _is_of_session(view, row)]


def threads_of_roots(view: View, client: str, roots: Sequence[str]) -> list[ThreadRow]:
    """All threads that sessions of that tool became and that belong to these conversations; the first made first."""
    view.require_all()
    marks = ",".join("?" * len(roots))
    where = (
        "thread_no IN (SELECT thread_no FROM import_source WHERE client=?) "
        f"AND (thread_id IN ({marks}) OR fork_root IN ({marks})) ORDER BY thread_no"
    )
    return [row for row in view.rows.all(ThreadRow, where, client, *roots, *roots) if _is_of_session(view, row)]


def _is_of_session(view: View, row: ThreadRow) -> bool:
    """Whether the thread is that of a session, and not a fork that somebody made of one here."""
    source = view.rows.import_source(row.thread_no)
    return source is not None and source.source_thread_id.lower() == row.thread_id.lower()


def turn_ids(view: View, thread_no: int) -> list[str]:
    """The ids of all turns of a thread, taken back or not."""
    return [
        turn_id for (turn_id,) in view.connection.execute("SELECT turn_id FROM turn WHERE thread_no=?", (thread_no,))
    ]


def whole_items(view: View, row: ThreadRow) -> Iterator[tuple[str, dict[str, object] | None]]:
    """Each item of a thread with its id; None where it is not whole, or its line is damaged."""
    last = (-1, -1)
    with view.rollout(row) as rollout:
        while found := view.rows.all(
            ItemRow, f"thread_no=? AND (turn_no, sequence) > (?, ?) ORDER BY turn_no, sequence LIMIT {_AT_ONCE}",
            row.thread_no, *last,
        ):  # fmt: skip
            for item in found:
                value = None
                if item.status != ItemStatus.in_progress:
                    with suppress(DamagedLineError):
                        value = composed(item, rollout.lines.line)
                yield item.item_id, value
            last = (found[-1].turn_no, found[-1].sequence)


def checkpoints(view: View, thread_no: int) -> list[CheckpointRow]:
    """All file checkpoints of a thread."""
    return view.rows.all(CheckpointRow, "thread_no=?", thread_no)
