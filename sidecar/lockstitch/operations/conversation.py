"""What an act on files does to the conversation: turns that leave it with a rewind, and come back with its undo.

Invariant: decided in the writer, with the thread's state in hand, in the same append as the files' checkpoints.
"""

from __future__ import annotations

from typing import Any

from lockstitch.errors import NotFoundError
from lockstitch.operations.acts import Conversation
from lockstitch.operations.thread import turn_is_open
from lockstitch.timeline.admission import Admission
from lockstitch.timeline.incoming import Incoming
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ThreadRow, TurnRow


def refuse_hiding(view: View, thread: ThreadRow, turn: TurnRow) -> None:
    """Refuse what `hiding` would refuse, for a plan. Raises ConflictError, NotFoundError."""
    if thread.open_turn_no is not None:
        opened = view.rows.turn_by_number(thread.thread_no, thread.open_turn_no)
        raise turn_is_open(thread.thread_id, None if opened is None else opened.turn_id)
    if turn.hidden:
        raise _is_hidden(thread.thread_id, turn.turn_id)


def hiding(turn_id: str, *, keep: bool, act_id: str) -> Conversation:
    """Take the turns after that one out of the conversation; itself too, unless it is to be kept."""

    def add(admission: Admission) -> dict[str, Any]:
        state = admission.state
        if state.open_turn() is not None:
            raise turn_is_open(state.thread.thread_id, admission.open_turn_id)
        turn = state.turn(turn_id)
        if turn is None or turn.hidden:
            raise _is_hidden(state.thread.thread_id, turn_id)
        rows = state.last_visible_turns(state.thread.turn_count)
        leaving = [row for row in rows if row.turn_no > turn.turn_no or (row.turn_no == turn.turn_no and not keep)]
        return _hide(admission, leaving, act_id)

    return add


def undoing(facts: dict[str, Any], act_id: str) -> Conversation | None:
    """Take back what the act that `facts` tells of did to the conversation; None if it did nothing."""
    hidden: list[str] = facts.get("hiddenTurnIds") or []
    shown: list[str] = facts.get("shownTurnIds") or []
    if not hidden and not shown:
        return None

    def add(admission: Admission) -> dict[str, Any]:
        state = admission.state
        rows = [row for row in (state.turn(turn_id) for turn_id in [*hidden, *shown]) if row is not None]
        newest = state.last_visible_turns(max(1, len(rows)))
        if hidden:
            first = min((row.turn_no for row in rows), default=0)
            if any(row.turn_no > first for row in newest) or not all(row.hidden for row in rows):
                return {}  # the conversation has gone on since: its turns stay as they are
            told = {name: facts[name] for name in ("preview", "previewTurnId") if name in facts}
            payload = {"turnIds": hidden, "rewindId": act_id, **told}
            admission.add(Incoming("thread.rolledForward", payload, own=True))
            return {"shownTurnIds": hidden}
        if state.open_turn() is not None or {row.turn_no for row in newest} != {row.turn_no for row in rows}:
            return {}
        return _hide(admission, newest, act_id)

    return add


def _hide(admission: Admission, leaving: list[TurnRow], act_id: str) -> dict[str, Any]:
    if not leaving:
        return {}
    thread = admission.state.thread
    admission.add(Incoming("thread.rolledBack", {"numTurns": len(leaving), "rewindId": act_id}, own=True))
    facts: dict[str, Any] = {"hiddenTurnIds": [row.turn_id for row in reversed(leaving)]}
    for row in leaving:
        if row.turn_no == thread.preview_turn:
            facts.update(preview=thread.preview, previewTurnId=row.turn_id)
    return facts


def _is_hidden(thread_id: str, turn_id: str) -> NotFoundError:
    return NotFoundError(
        f"Thread {thread_id} has no turn {turn_id} in its conversation; it was rolled back.",
        kind="turnNotFound",
        threadId=thread_id,
        turnId=turn_id,
    )
