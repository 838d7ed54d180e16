"""The commonest event of all, a whole item that is new and over, reduced without the general way.

Invariant: the rows are those that `reduce` would make of the same event.
"""

from __future__ import annotations

from lockstitch.timeline.reducer import MARK_EVERY, USER_MESSAGE
from lockstitch.timeline.rows import MESSAGES, ItemRow, ItemStatus, TurnRow
from lockstitch.timeline.state import ThreadState

_IN_PROGRESS = int(ItemStatus.in_progress)


def reduce_new_item(state: ThreadState, turn: TurnRow, row: ItemRow, key: str, at: str) -> bool:
    """What `reduce` does with an `item.completed` that needs no second look, in a third of its time.

    `row` is the item's, of this turn, and `key` its id in lower case; `at` is our own clock's. Ids that hosts gave to
    the event are the caller's business. False, and nothing done, if the item is not over or not new, the turn was not
    touched since it was stored, or the thread has no preview yet.
    """
    thread, kind, sequence = state.thread, row.kind, row.sequence
    if (
        row.status == _IN_PROGRESS
        or (kind == USER_MESSAGE and not thread.preview)
        or state.dirty_turns.get(turn.turn_no) is not turn
        or state.item_of_key(key) is not None
    ):
        return False
    state.add_item(key, row)
    moment = state.microseconds_of(at)
    if sequence % MARK_EVERY == 1:
        state.add_mark(sequence, row.line_at)
    thread.last_sequence, thread.last_at = sequence, at
    if moment > thread.updated_at:
        thread.updated_at = moment
    thread.items += 1
    turn.items += 1
    if kind in MESSAGES:
        thread.messages += 1
        turn.messages += 1
    turn.last_sequence = sequence
    return True
