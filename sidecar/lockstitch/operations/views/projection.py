"""Everything that a thread's events come to, as one value: what exports record and what verifying compares.

Invariant: the same function reads a live thread and one that was reduced again. Paths of the machine, and what only
the process knows, are left out.
"""

from __future__ import annotations

from typing import Any

from lockstitch.codec import decode, encode
from lockstitch.exports.facts import Projected
from lockstitch.operations.views.checkpoints import summaries_of
from lockstitch.operations.views.items import item_values, placed
from lockstitch.operations.views.threads import thread_value
from lockstitch.operations.views.turns import turn_value
from lockstitch.timeline import queries
from lockstitch.timeline.lines import Lines
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ThreadRow

_NOT_OF_EVENTS = frozenset(
    {
        "path",
        "cwd",
        "preview",
        "status",
        "turns",
        "archived",
        "workspaceLinked",
        "createdAt",
        "updatedAt",
        "recencyAt",
        "partial",
        "damage",
        "fileCheckpointSummary",
    }
)


def plain_value(value: Any) -> Any:
    """A view's value as decoded JSON, with nothing left to splice."""
    return decode(encode(value))


def projected_value(view: View, thread: ThreadRow, lines: Lines) -> Projected:
    """What the thread's events come to."""
    turns = queries.turns(view, thread.thread_no, False, None, 1 << 40).rows
    items = queries.newest_items(view, thread.thread_no, 0, None)
    names = {row.turn_no: row.turn_id for row in turns}
    owners = [None if row.outside else names.get(row.turn_no) for row in items]
    checkpoints = queries.checkpoints(view, thread.thread_no, limit=1 << 40).rows
    known = plain_value(thread_value(view, thread))
    return Projected(
        {name: value for name, value in known.items() if name not in _NOT_OF_EVENTS},
        plain_value([turn_value(row, lines, (), "notLoaded") for row in turns]),
        plain_value(placed(item_values(lines, items), owners)),
        [
            {name: value for name, value in summary.items() if name != "snapshotPath"}
            for summary in plain_value(summaries_of(view, thread, checkpoints, lines))
        ],
    )
