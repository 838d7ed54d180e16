"""`thread/*`: opening, reading, listing and changing threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lockstitch.codec import decode, encode, present
from lockstitch.errors import ConflictError, InvalidError, NotFoundError, RefusedError
from lockstitch.operations.call import Call
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.thread_reads import refuse_too_large, turns_page
from lockstitch.operations.views.threads import opened_value, read_extra, thread_value
from lockstitch.operations.views.turns import turn_values
from lockstitch.operations.workspaces import workspace_fields
from lockstitch.rollout.line import Draft
from lockstitch.timeline import queries
from lockstitch.timeline.admission import Admission
from lockstitch.timeline.hot import FORMAT
from lockstitch.timeline.incoming import Incoming
from lockstitch.timeline.jobs import Appended, AppendJob, CreateJob
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import ThreadRow
from lockstitch_protocol.ids import new_id, uuid7

if TYPE_CHECKING:
    from lockstitch_protocol import thread_params as wire
    from lockstitch_protocol.agent_session import AgentSessionThreadResumeParams

_STARTED_FIELDS = ("approvalPolicy", "approvalsReviewer", "sandbox")


# -- opening ------------------------------------------------------------------------------------------------------
async def start(runtime: Runtime, call: Call, params: wire.ThreadStartParams) -> dict[str, Any]:
    """Create a thread; the connection watches it from its first event."""
    payload = await start_payload(runtime, params)
    return await open_new(runtime, call, params.thread_id, payload, ephemeral=params.ephemeral)


async def start_payload(runtime: Runtime, params: wire.ThreadStartParams) -> dict[str, Any]:
    """The payload of `thread.started`. Raises InvalidError for a cwd that is not absolute."""
    payload = await workspace_fields(runtime, params.cwd)
    extra = dict(params.model_extra or {})
    for name, value in (
        ("model", params.model),
        ("modelProvider", params.model_provider),
        ("name", params.name),
        ("runtimeWorkspaceRoots", params.runtime_workspace_roots),
        ("serviceName", params.service_name),
    ):
        if value is not None:
            payload[name] = value
    if params.git_info is not None:
        payload["gitInfo"] = params.git_info.model_dump(by_alias=True, exclude_none=True)
    if isinstance(params.thread_source, str):
        payload["threadSource"] = params.thread_source
    elif params.thread_source is not None:
        extra["threadSource"] = params.thread_source
    for name in _STARTED_FIELDS:
        if extra.get(name) is not None:
            payload[name] = extra.pop(name)
    parent = extra.get("parentThreadId")
    if isinstance(parent, str):
        payload["parentThreadId"] = extra.pop("parentThreadId")
    payload.update(source="appServer", cliVersion=runtime.version, bootId=runtime.boot_id)
    if extra:
        payload["extra"] = extra
    return payload


def started_payload(thread_id: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Line 1 names its thread too, so that a rollout that was renamed still says whose it is."""
    return {"format": FORMAT, "threadId": thread_id, **payload}


async def open_new(
    runtime: Runtime, call: Call, given_id: str | None, payload: dict[str, Any], *, ephemeral: bool
) -> dict[str, Any]:
    """Store a new thread, or keep it in memory; watch it, and describe it."""
    thread_id, now = given_id or uuid7(), runtime.now()
    draft = Draft("thread.started", encode(started_payload(thread_id, payload)), new_id("evt"), now)
    job: CreateJob = runtime.job(CreateJob, thread_id=thread_id, created_at=now, drafts=[draft], ephemeral=ephemeral)
    async with runtime.order.turn(thread_id):
        if ephemeral:
            await runtime.ephemeral.reserve(thread_id, given=given_id is not None)
        future = runtime.enqueue(job)
    begin = runtime.feed.subscribe(call.connection, thread_id, 0, being_made=True)
    try:
        await runtime.settled(call, job, future)
    except BaseException:
        runtime.feed.unsubscribe_new(call.connection, thread_id)
        if ephemeral:
            runtime.ephemeral.forget(thread_id)
        raise
    value = await runtime.read_thread(thread_id, opened(thread_id))
    call.after_reply.append(begin)
    return value


def opened(thread_id: str) -> Callable[[View], dict[str, Any]]:
    """The reply of methods that open a thread, without turns."""

    def look(view: View) -> dict[str, Any]:
        row = view.thread(thread_id)
        return opened_value(view, row, thread_value(view, row))

    return look


async def resume(runtime: Runtime, call: Call, params: wire.ThreadResumeParams) -> dict[str, Any]:
    """Open a thread and watch it, from `afterSequence` or from now."""
    return await open_and_watch(runtime, call, params.thread_id, params)


async def open_and_watch(
    runtime: Runtime, call: Call, thread_id: str, params: wire.ThreadResumeParams | AgentSessionThreadResumeParams
) -> dict[str, Any]:
    """Open a thread for whoever asks in what words."""
    async with runtime.order.turn(thread_id):
        look = _resumed(thread_id, params, call.connection.max_message_bytes)
        value, last = await runtime.read_thread(thread_id, look)
    after = last if params.after_sequence is None else min(params.after_sequence, last)
    call.after_reply.append(runtime.feed.subscribe(call.connection, value["thread"]["id"], after))
    return value


def _resumed(
    thread_id: str, params: wire.ThreadResumeParams | AgentSessionThreadResumeParams, most: int | None
) -> Callable[[View], tuple[dict[str, Any], int]]:
    def look(view: View) -> tuple[dict[str, Any], int]:
        row = view.thread(thread_id)
        refuse_archived(row)
        asked = params.initial_turns_page
        turns: list[Any] = []
        page = None
        with view.rollout(row) as rollout:
            if asked is not None:
                found = queries.turns(view, row.thread_no, asked.sort_direction == "desc", None, asked.limit)
                values = turn_values(view, row, found.rows, asked.items_view, rollout.lines)
                thread_size = 0 if most is None else len(encode(opened_value(view, row, thread_value(view, row, []))))
                page = turns_page(found, values, asked.sort_direction, most and most - thread_size)
            elif not params.exclude_turns:
                found = queries.turns(view, row.thread_no, False, None, 1 << 40)
                turns = turn_values(view, row, found.rows, "full", rollout.lines)
        value = opened_value(view, row, thread_value(view, row, turns))
        if page is not None:
            value["initialTurnsPage"] = page
        if turns:
            refuse_too_large(value, row.thread_id, most)
        return value, row.last_sequence

    return look


def refuse_archived(row: ThreadRow) -> None:
    """Raises RefusedError for an archived thread."""
    if row.archived:
        raise RefusedError(
            f"Thread {row.thread_id} is archived; thread/unarchive it first.",
            kind="threadArchived",
            threadId=row.thread_id,
        )


async def unsubscribe(runtime: Runtime, call: Call, params: wire.ThreadParams) -> dict[str, Any]:
    """Stop watching."""
    await runtime.read(lambda view: view.thread(params.thread_id))
    runtime.feed.unsubscribe(call.connection, params.thread_id)
    return {}


# -- changing -----------------------------------------------------------------------------------------------------
async def change(
    runtime: Runtime, call: Call, thread_id: str, build: Callable[[Admission], None], *, allow_archived: bool = True
) -> Appended:
    """Append the sidecar's own events to a thread."""
    async with runtime.order.turn(thread_id):
        job: AppendJob = runtime.job(AppendJob, thread_id=thread_id, build=build, allow_archived=allow_archived)
        future = runtime.enqueue(job)
    return await runtime.settled(call, job, future)


async def name_set(runtime: Runtime, call: Call, params: wire.ThreadNameSetParams) -> dict[str, Any]:
    """Name a thread."""
    await change(runtime, call, params.thread_id, updating({"name": params.name}))
    return await _thread_result(runtime, params.thread_id)


def updating(payload: dict[str, Any]) -> Callable[[Admission], None]:
    """An admission of one `thread.updated`."""
    return lambda admission: admission.add(Incoming("thread.updated", payload, own=True))


async def metadata_update(runtime: Runtime, call: Call, params: wire.ThreadMetadataUpdateParams) -> dict[str, Any]:
    """Change what is known about a thread, or link it to a workspace."""
    payload: dict[str, Any] = {}
    if params.git_info is not None:
        payload["gitInfo"] = params.git_info.model_dump(by_alias=True, exclude_none=True)
    if params.workspace is not None:
        fields = await workspace_fields(runtime, params.workspace, must_exist=True)
        payload["workspace"] = {"cwd": fields["cwd"], "key": fields["workspaceKey"], "rootId": runtime.root_id}
    if params.extra is not None:
        payload["extra"] = await merged_extra(runtime, params.thread_id, params.extra)
    if payload:
        await change(runtime, call, params.thread_id, updating(payload))
    return await _thread_result(runtime, params.thread_id)


async def merged_extra(runtime: Runtime, thread_id: str, given: dict[str, Any]) -> dict[str, Any]:
    """The thread's `extra` with what is given put in; a null removes a key."""

    def look(view: View) -> dict[str, Any]:
        row = view.thread(thread_id)
        with view.rollout(row) as rollout:
            stored = read_extra(rollout.lines, row)
        return {} if stored is None else decode(bytes(stored))

    extra = await runtime.read_thread(thread_id, look)
    extra.update(given)
    return present(extra)


async def _thread_result(runtime: Runtime, thread_id: str) -> dict[str, Any]:
    return await runtime.read_thread(thread_id, lambda view: {"thread": thread_value(view, view.thread(thread_id))})


async def rollback(runtime: Runtime, call: Call, params: wire.ThreadRollbackParams) -> dict[str, Any]:
    """Take the last turns out of what is read; they stay in the log."""

    def build(admission: Admission) -> None:
        state = admission.state
        if state.open_turn() is not None:
            raise turn_is_open(state.thread.thread_id, admission.open_turn_id)
        count = params.num_turns
        if (count is None) == (params.to_turn_id is None):
            raise InvalidError.at("numTurns", "exactly one of numTurns and toTurnId is required")
        if params.to_turn_id is not None:
            turn = state.turn(params.to_turn_id)
            if turn is None or turn.hidden:
                raise NotFoundError(
                    f"Thread {state.thread.thread_id} has no turn {params.to_turn_id}.",
                    kind="turnNotFound",
                    threadId=state.thread.thread_id,
                    turnId=params.to_turn_id,
                )
            count = sum(row.turn_no > turn.turn_no for row in state.last_visible_turns(state.thread.turn_count))
        assert count is not None
        if count > state.thread.turn_count:
            raise InvalidError.at("numTurns", f"the thread has only {state.thread.turn_count} turns")
        if count:
            admission.add(Incoming("thread.rolledBack", {"numTurns": count}, own=True))

    await change(runtime, call, params.thread_id, build, allow_archived=False)
    return await _thread_result(runtime, params.thread_id)


def turn_is_open(thread_id: str, turn_id: str | None) -> Exception:
    """The error of what cannot be done while a turn is open."""
    return ConflictError(
        f"Turn {turn_id} of thread {thread_id} is still open; complete or interrupt it first.",
        kind="turnActive",
        threadId=thread_id,
        turnId=turn_id,
    )
