"""`agentSession/*`: threads, turns and items by that family's names. A session is a thread with the same id."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lockstitch.codec import decode, present
from lockstitch.operations import thread, thread_moves, turn
from lockstitch.operations.artifact import recent_artifacts
from lockstitch.operations.call import Call
from lockstitch.operations.pages import fitting
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.views.checkpoints import Recorded
from lockstitch.operations.views.items import item_values
from lockstitch.operations.views.sessions import (
    overview_value,
    session_turn_value,
    session_value,
)
from lockstitch.operations.views.threads import thread_value
from lockstitch.operations.workspaces import key_of_workspace
from lockstitch.timeline import queries
from lockstitch.timeline.cursors import cursor_of, key_of
from lockstitch.timeline.lines import Lines
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ItemRow, ThreadRow

if TYPE_CHECKING:
    from lockstitch_protocol import agent_session as wire


async def start(runtime: Runtime, call: Call, params: wire.AgentSessionStartParams) -> dict[str, Any]:
    """Create a session, which is a thread."""
    payload = await thread.start_payload(runtime, params)
    if params.title is not None:
        payload.setdefault("name", params.title)
    extra = payload.pop("extra", {})
    for name, value in (("appId", params.app_id), ("workspaceId", params.workspace_id)):
        if value is not None:
            extra[name] = value
    if extra:
        payload["extra"] = extra
    given_id = params.session_id or params.thread_id
    value = await thread.open_new(runtime, call, given_id, payload, ephemeral=params.ephemeral)
    thread_id: str = value["thread"]["id"]
    session = await runtime.read(lambda view: session_value(view, view.thread(thread_id)))
    return {**value, "session": session}


async def list_(runtime: Runtime, call: Call, params: wire.AgentSessionListParams) -> dict[str, Any]:
    """Sessions, the last updated first."""
    most = call.connection.max_message_bytes
    archived: bool | None = False
    if params.archived_only:
        archived = True
    elif params.include_archived:
        archived = None
    filter_ = queries.ThreadFilter(archived=archived)
    if params.cwd is not None and params.cwd != []:
        spelled = [params.cwd] if isinstance(params.cwd, str) else params.cwd
        filter_.workspaces = await runtime.slowly(lambda: [key_of_workspace(path) for path in spelled])
    after = key_of("sessions", params.cursor, int, int, str)

    def look(view: View) -> dict[str, Any]:
        found: list[dict[str, Any]] = []
        rows: list[ThreadRow] = []
        key = after
        while True:
            page = queries.threads(view, filter_, "updated_at", True, key, params.limit)
            for number, row in enumerate(page.rows):
                value = overview_value(view, row)
                if params.workspace_id is None or value.get("workspaceId") == params.workspace_id:
                    found.append(value)
                    rows.append(row)
                if len(found) == params.limit:
                    return _page(found, rows, page.more or number + 1 < len(page.rows), most)
            if not page.more:
                return _page(found, rows, False, most)
            last = page.rows[-1]
            key = [last.updated_at, last.created_at, last.thread_id]

    return await runtime.read(look)


def _page(found: list[dict[str, Any]], rows: list[ThreadRow], more: bool, most: int | None) -> dict[str, Any]:
    count = fitting(found, most, lambda n: {"threadId": rows[n].thread_id, "nextCursor": _cursor(rows[n])})
    more = more or count < len(found)
    return {"sessions": found[:count], "nextCursor": _cursor(rows[count - 1]) if more else None}


def _cursor(row: ThreadRow) -> str:
    return cursor_of("sessions", row.updated_at, row.created_at, row.thread_id)


async def read(runtime: Runtime, call: Call, params: wire.AgentSessionReadParams) -> dict[str, Any]:
    """A session with its turns and items."""
    del call

    def look(view: View) -> dict[str, Any]:
        row = view.thread(params.session_id)
        turns = queries.turns(view, row.thread_no, False, None, 1 << 40).rows
        items = queries.newest_items(view, row.thread_no, params.history_offset, params.history_limit)
        names = {found.turn_no: found.turn_id for found in turns}
        with view.rollout(row) as rollout:
            detail: dict[str, Any] = {"session_id": row.thread_id, "thread_id": row.thread_id}
            if row.cwd:
                detail["working_dir"] = row.cwd
            detail["items"] = _detailed(view, row, items, names, rollout.lines)
            detail["file_checkpoint_summary"] = thread_value(view, row)["fileCheckpointSummary"]
            detail["recentArtifacts"] = recent_artifacts(view, row, rollout.lines)
        return {
            "session": session_value(view, row),
            "turns": [session_turn_value(row, found) for found in turns],
            "detail": detail,
        }

    return await runtime.read_thread(params.session_id, look)


def _detailed(
    view: View, thread_row: ThreadRow, rows: list[ItemRow], names: dict[int, str], lines: Lines
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for row, value in zip(rows, item_values(lines, rows), strict=True):
        if value is None:
            continue
        turn_id = None if row.outside else names.get(row.turn_no)
        checkpoint = view.rows.checkpoint(thread_row.thread_no, row.item_id)
        if checkpoint is not None:
            line = lines.many([(checkpoint.line_at, checkpoint.line_length)])[0]
            if line is not None:
                found.append(file_artifact_value(Recorded.of_line(thread_row, view.root_id, line), turn_id))
            continue
        item = {**decode(bytes(value)), "thread_id": thread_row.thread_id}
        if turn_id is not None:
            item["turn_id"] = turn_id
        found.append(item)
    return found


def file_artifact_value(recorded: Recorded, turn_id: str | None) -> dict[str, Any]:
    """A checkpoint as an item of a session."""
    summary, record = recorded.summary(), recorded.record
    metadata = {
        "artifactId": recorded.artifact_id,
        "artifactVersionNo": summary.get("versionNo"),
        "artifactVersionId": summary.get("versionId"),
        "artifactVersion": {
            name: summary.get(source)
            for name, source in (("id", "versionId"), ("versionNo", "versionNo"), ("op", "op"), ("after", "after"))
            if summary.get(source) is not None
        },
        "artifactKind": record.get("kind"),
        "artifactStatus": summary.get("status"),
        "previewText": summary.get("previewText"),
        "artifactVersionDiff": recorded.shown_diff,
    }
    value = {
        "id": summary["checkpointId"],
        "type": "file_artifact",
        "thread_id": recorded.thread_id,
        "turn_id": turn_id,
        "path": summary["path"],
        "source": summary["source"],
        "status": summary.get("status", "ready"),
        "metadata": present(metadata),
        "updated_at": summary["updatedAt"],
    }
    return present(value)


async def update(runtime: Runtime, call: Call, params: wire.AgentSessionUpdateParams) -> dict[str, Any]:
    """Change a session's title or model, or archive it."""
    if params.archived is not None:
        runtime.ephemeral.refuse(params.session_id, "archived or taken out of the archive")
    payload: dict[str, Any] = {}
    for name, value in (
        ("name", params.title),
        ("modelProvider", params.provider_name),
        ("model", params.model_name),
    ):
        if value is not None:
            payload[name] = value
    if params.model_extra:
        payload["extra"] = await thread.merged_extra(runtime, params.session_id, params.model_extra)
    if payload:
        await thread.change(runtime, call, params.session_id, thread.updating(payload))
    if params.archived is not None:
        await thread_moves.move(runtime, call, params.session_id, params.archived)
    return await runtime.read(lambda view: {"session": overview_value(view, view.thread(params.session_id))})


async def delete(runtime: Runtime, call: Call, params: wire.AgentSessionParams) -> dict[str, Any]:
    """Remove a session, as thread/delete does."""
    await thread_moves.remove(runtime, call, params.session_id)
    return {"sessionId": params.session_id, "deleted": True}


async def resume(runtime: Runtime, call: Call, params: wire.AgentSessionThreadResumeParams) -> dict[str, Any]:
    """Open a session and watch it."""
    value = await thread.open_and_watch(runtime, call, params.session_id, params)

    def look(view: View) -> dict[str, Any]:
        row = view.thread(params.session_id)
        turns = [] if params.exclude_turns else queries.turns(view, row.thread_no, False, None, 1 << 40).rows
        return {"session": session_value(view, row), "turns": [session_turn_value(row, found) for found in turns]}

    return {**value, **await runtime.read(look), "resumed": True}


async def turn_start(runtime: Runtime, call: Call, params: wire.AgentSessionTurnStartParams) -> dict[str, Any]:
    """Open a turn with the user's message."""
    content = _content(call, params)
    turn.refuse_empty_input(content)
    not_kept = {"sessionId", "input", "turnId", "clientUserMessageId", "runtimeOptions", "queueIfBusy"}
    payload = {name: value for name, value in call.params.items() if name not in not_kept and value is not None}
    done = await turn.start_turn(
        runtime, call, params.session_id, params.turn_id, content, params.client_user_message_id, payload
    )
    return {"turn": await runtime.read(_turn(params.session_id, done.turn_id or ""))}


def _turn(session_id: str, turn_id: str) -> Callable[[View], dict[str, Any]]:
    def look(view: View) -> dict[str, Any]:
        row = view.thread(session_id)
        found = view.rows.turn(row.thread_no, turn_id)
        if found is None:
            return {"turnId": turn_id, "sessionId": row.thread_id, "threadId": row.thread_id, "status": "running"}
        return session_turn_value(row, found)

    return look


def _content(call: Call, params: wire.AgentSessionTurnStartParams) -> list[dict[str, Any]]:
    """The message as parts of a user message."""
    if isinstance(params.input, list):
        return turn.parts_of_input(call)
    content: list[dict[str, Any]] = []
    if params.input.text:
        content.append({"type": "text", "text": params.input.text})
    for attachment in params.input.attachments:
        uri = attachment.uri or ""
        if attachment.kind == "image":
            content.append({"type": "image", "url": uri})
        else:
            content.append({"type": "mention", "name": uri.rpartition("/")[2] or attachment.kind, "path": uri})
    return content


async def turn_cancel(runtime: Runtime, call: Call, params: wire.AgentSessionTurnCancelParams) -> dict[str, Any]:
    """End the open turn as interrupted."""
    await turn.cancel(runtime, call, params.session_id, params.turn_id)
    return {}
