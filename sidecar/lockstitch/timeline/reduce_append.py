"""The events of an append that was just made into lines, reduced one after the other.

Invariant: the rows are those that `reduce` makes of the same events read from the file; only the commonest event, a
whole item that no row has yet, goes a shorter way to them: that halves what an event of a large append costs here.
"""

from __future__ import annotations

from collections.abc import Sequence

from lockstitch.rollout.line import Draft, EncodedAppend
from lockstitch.timeline.new_items import reduce_new_item
from lockstitch.timeline.payloads import ItemDraft, known_item
from lockstitch.timeline.reducer import COMPLETED, ITEM_STATUS, Fact, reduce, remember
from lockstitch.timeline.rows import ItemRow, TurnRow
from lockstitch.timeline.state import ThreadState


def reduce_append(
    state: ThreadState,
    drafts: Sequence[Draft],
    made: EncodedAppend,
    *,
    req: str | None,
    now: str,
) -> int:
    """Apply the events of one append; returns where its last line ends.

    `now`: the very string that is the time of those drafts whose time is our own.
    """
    thread, last = state.thread, len(drafts) - 1
    thread_no, sequence, at = thread.thread_no, thread.last_sequence, thread.size
    turn_id: str | None = None
    turn: TurnRow | None = None
    for number, draft, head, length in zip(range(last + 1), drafts, made.heads, made.lengths, strict=True):
        sequence += 1
        item = draft if type(draft) is ItemDraft else None
        ours = draft.at is now or (item is not None and item.own)
        if item is not None and item.new_key is not None and ours and (req is None or number < last):
            if draft.turn_id is not turn_id:
                turn_id, turn = draft.turn_id, None if draft.turn_id is None else state.turn(draft.turn_id)
                if turn is not None:
                    state.touch_turn(turn)
            if turn is not None:
                status = COMPLETED if item.status is None else ITEM_STATUS.get(item.status, COMPLETED)
                row = ItemRow(
                    thread_no, turn.turn_no, sequence, str(item.item_id), item.kind, status, 0,
                    at, length - 1, len(head) + len(draft.payload) - 1 - item.item_length, item.item_length,
                )  # fmt: skip
                if reduce_new_item(state, turn, row, item.new_key, draft.at):
                    if draft.digest is not None:
                        remember(state, draft.event_id, draft.digest, sequence, at, length - 1)
                    at += length
                    continue
        turn_id = None  # what comes now may change which turn has that id
        reduce(
            state,
            Fact(
                sequence,
                draft.at,
                draft.type,
                draft.event_id,
                draft.turn_id,
                draft.item_id,
                draft.payload,
                at,
                length - 1,
                len(head),
                draft.digest,
                req if number == last else None,
                None if item is None else known_item(item),
                not ours,
            ),
        )
        at += length
    return at
