"""Sessions on the wire: threads and turns by the names of `agentSession/*`."""

from __future__ import annotations

from typing import Any

from lockstitch.codec import Raw, decode, present
from lockstitch.errors import NotFoundError
from lockstitch.operations.views.threads import read_extra
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ThreadRow, TurnRow, TurnStatus
from lockstitch.timeline.times import text_of

_TURN_STATUS = {
    TurnStatus.in_progress: "running",
    TurnStatus.completed: "completed",
    TurnStatus.failed: "failed",
    TurnStatus.canceled: "canceled",
    TurnStatus.recovered: "canceled",
}


def session_turn_value(thread: ThreadRow, row: TurnRow) -> dict[str, Any]:
    """An AgentTurn."""
    status = _TURN_STATUS[TurnStatus(row.status)]
    if status == "running" and thread.pending:
        status = "waitingAction"
    value = {
        "turnId": row.turn_id,
        "sessionId": thread.thread_id,
        "threadId": thread.thread_id,
        "status": status,
        "startedAt": text_of(row.started_at),
    }
    if row.completed_at is not None:
        value["completedAt"] = text_of(row.completed_at)
    return value


def session_value(view: View, thread: ThreadRow) -> dict[str, Any]:
    """An AgentSession."""
    extra = _extra(view, thread)
    value = {"sessionId": thread.thread_id, "threadId": thread.thread_id, "appId": extra.get("appId") or "agent-chat"}
    if extra.get("workspaceId") is not None:
        value["workspaceId"] = extra["workspaceId"]
    last = _last_turn(view, thread)
    value["status"] = "idle" if last is None else session_turn_value(thread, last)["status"]
    value["createdAt"], value["updatedAt"] = text_of(thread.created_at), text_of(thread.updated_at)
    return value


def overview_value(view: View, thread: ThreadRow) -> dict[str, Any]:
    """An AgentSessionOverview."""
    last = _last_turn(view, thread)
    status = None if last is None else session_turn_value(thread, last)["status"]
    value = {
        "sessionId": thread.thread_id,
        "threadId": thread.thread_id,
        "title": thread.name or thread.preview or None,
        "model": thread.model,
        "createdAt": text_of(thread.created_at),
        "updatedAt": text_of(thread.updated_at),
        "archivedAt": None if thread.archived_at is None else text_of(thread.archived_at),
        "workspaceId": _extra(view, thread).get("workspaceId"),
        "workingDir": thread.cwd or None,
        "messagesCount": thread.messages,
        "threadStatus": status or "idle",
        "latestTurnStatus": status,
        "activeTurnId": last.turn_id if last is not None and thread.open_turn_no == last.turn_no else None,
        "queuedTurnCount": 0,
    }
    return present(value)


def _last_turn(view: View, thread: ThreadRow) -> TurnRow | None:
    found = view.rows.last_visible_turns(thread.thread_no, 1)
    return found[0] if found else None


def _extra(view: View, thread: ThreadRow) -> dict[str, Any]:
    if thread.extra_at is None:
        return {}
    try:
        with view.rollout(thread) as rollout:
            found: Raw | None = read_extra(rollout.lines, thread)
    except NotFoundError:
        return {}
    return {} if found is None else decode(bytes(found))
