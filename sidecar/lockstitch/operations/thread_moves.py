"""`thread/*` that move whole rollouts: fork, archive, unarchive, delete."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lockstitch.codec import encode
from lockstitch.errors import InvalidError, LockstitchError, NotFoundError
from lockstitch.operations.call import Call
from lockstitch.operations.pages import ENVELOPE
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.thread import opened, started_payload
from lockstitch.operations.thread_reads import turn_of
from lockstitch.operations.views.threads import opened_value, read_extra, thread_value
from lockstitch.operations.views.turns import turn_values
from lockstitch.operations.workspaces import workspace_fields
from lockstitch.rollout.line import Draft
from lockstitch.timeline import moves, queries
from lockstitch.timeline.jobs import ExclusiveJob
from lockstitch.timeline.reader import View
from lockstitch.timeline.reconcile import remove as remove_path
from lockstitch.timeline.rows import ThreadRow, TurnStatus
from lockstitch.timeline.writer import Writer
from lockstitch_protocol.ids import new_id, uuid7

if TYPE_CHECKING:
    from lockstitch_protocol import thread_params as wire


async def archive(runtime: Runtime, call: Call, params: wire.ThreadParams) -> dict[str, Any]:
    """Put a thread away."""
    await move(runtime, call, params.thread_id, True)
    return {}


async def unarchive(runtime: Runtime, call: Call, params: wire.ThreadParams) -> dict[str, Any]:
    """Take a thread out of the archive."""
    await move(runtime, call, params.thread_id, False)
    return await runtime.read_thread(
        params.thread_id, lambda view: {"thread": thread_value(view, view.thread(params.thread_id))}
    )


async def delete(runtime: Runtime, call: Call, params: wire.ThreadParams) -> dict[str, Any]:
    """Remove a thread and all that only it needs; one that is gone is no error."""
    await remove(runtime, call, params.thread_id)
    return {}


async def remove(runtime: Runtime, call: Call, thread_id: str) -> None:
    """Delete a thread for a request."""
    async with runtime.order.turn(thread_id):
        if thread_id in runtime.ephemeral:
            await runtime.ephemeral.delete(call, thread_id)
            return
        if runtime.refusal is None:
            await runtime.read(View.require_all)  # what only this thread needs is known when all are read
        job, future = _alone(runtime, call, thread_id, lambda writer: moves.delete(writer, thread_id))
    await runtime.settled(call, job, future)


async def move(runtime: Runtime, call: Call, thread_id: str, archived: bool) -> None:
    async with runtime.order.turn(thread_id):
        runtime.ephemeral.refuse(thread_id, "archived or taken out of the archive")
        job, future = _alone(runtime, call, thread_id, lambda writer: moves.set_archived(writer, thread_id, archived))
    await runtime.settled(call, job, future)


def _alone(
    runtime: Runtime, call: Call, thread_id: str, run: Callable[[Writer], Any]
) -> tuple[ExclusiveJob, asyncio.Future[Any]]:
    """Queue something that runs alone under the write lock."""
    wait = call.request_id is not None
    job: ExclusiveJob = runtime.job(ExclusiveJob, run=run, thread_id=thread_id, wait_for_reply=wait)
    return job, runtime.enqueue(job)


# -- fork ---------------------------------------------------------------------------------------------------------
class _Plan:
    """What a fork takes from its parent, decided on one view."""

    def __init__(self, view: View, params: wire.ThreadForkParams) -> None:
        row = view.thread(params.thread_id)
        self.parent, self.source = row, view.rollout_path(row)
        self.until: int | None = None
        self.open_turn: str | None = None
        last = self._last_turn(view, row, params)
        if last is not None:
            turn = view.rows.turn_by_number(row.thread_no, last)
            following = view.rows.turn_by_number(row.thread_no, last + 1)
            self.until = None if following is None else following.first_sequence
            if turn is not None and turn.status == TurnStatus.in_progress:
                self.open_turn = turn.turn_id
        elif row.open_turn_no is not None:
            turn = view.rows.turn_by_number(row.thread_no, row.open_turn_no)
            self.open_turn = None if turn is None else turn.turn_id
        with view.rollout(row) as rollout:
            self.extra = read_extra(rollout.lines, row)

    @staticmethod
    def _last_turn(view: View, row: ThreadRow, params: wire.ThreadForkParams) -> int | None:
        if params.last_turn_id is not None and params.before_turn_id is not None:
            raise InvalidError.at("beforeTurnId", "cannot be given together with lastTurnId")
        if params.last_turn_id is not None:
            turn = turn_of(view, row, params.last_turn_id)
        elif params.before_turn_id is not None:
            turn = turn_of(view, row, params.before_turn_id)
        else:
            return None
        if turn.hidden:
            raise NotFoundError(
                f"Turn {turn.turn_id} of thread {row.thread_id} was rolled back; fork from one that is listed.",
                kind="turnNotFound",
                threadId=row.thread_id,
                turnId=turn.turn_id,
            )
        return turn.turn_no if params.last_turn_id is not None else turn.turn_no - 1

    def payload(self, runtime: Runtime, params: wire.ThreadForkParams, workspace: dict[str, Any]) -> dict[str, Any]:
        """`thread.started` of the fork."""
        row = self.parent
        payload: dict[str, Any] = {}
        if params.cwd is not None:
            payload.update(workspace)
        elif row.cwd:
            payload.update(cwd=row.cwd, workspaceLinked=bool(row.linked))
            if row.linked:
                payload["workspaceRootId"] = runtime.root_id
            if row.workspace_key is not None:
                payload["workspaceKey"] = row.workspace_key
        name = params.name if params.name is not None else row.name
        for key, value in (
            ("model", row.model),
            ("modelProvider", row.provider),
            ("name", name),
            ("threadSource", row.thread_source),
            ("parentThreadId", row.parent_thread),
        ):
            if value:
                payload[key] = value
        git = {"sha": row.git_sha, "branch": row.git_branch, "originUrl": row.git_origin}
        if any(git.values()):
            payload["gitInfo"] = {key: value for key, value in git.items() if value is not None}
        payload["forkedFrom"] = {"threadId": row.thread_id, "rootId": row.fork_root or row.thread_id}
        payload.update(source=row.source or "appServer", cliVersion=runtime.version, bootId=runtime.boot_id)
        if self.extra is not None:
            payload["extra"] = self.extra
        return payload


async def fork(runtime: Runtime, call: Call, params: wire.ThreadForkParams) -> dict[str, Any]:
    """Copy a thread up to a turn, as a thread of its own."""
    workspace = await workspace_fields(runtime, params.cwd)
    async with runtime.order.turn(params.thread_id):
        runtime.ephemeral.refuse(params.thread_id, "forked")
        # What was streamed so far belongs into the fork, and the rows must know all of the file.
        await runtime.attend(params.thread_id)
        plan = await runtime.read_thread(params.thread_id, lambda view: _Plan(view, params))
        fork_id, now = uuid7(), runtime.now()
        payload = started_payload(fork_id, plan.payload(runtime, params, workspace))
        started = Draft("thread.started", encode(payload), new_id("evt"), now)
        staged = runtime.root.staged_rollout(runtime.boot_id, fork_id)
        closing = _closing(plan.open_turn, runtime.boot_id)
        try:
            await runtime.slowly(
                lambda: moves.write_fork(plan.source, plan.parent.size, plan.until, started, closing, staged)
            )
            await runtime.exclusive(lambda writer: moves.adopt(writer, staged, fork_id, now), fork_id)
        except LockstitchError:
            await runtime.slowly(lambda: remove_path(staged))
            raise
    begin = runtime.feed.subscribe(call.connection, fork_id, 0)
    await runtime.write_all_documents(fork_id)
    call.after_reply.append(begin)
    if params.exclude_turns:
        return await runtime.read_thread(fork_id, opened(fork_id))
    return await runtime.read_thread(fork_id, _opened_with_turns(fork_id, call.connection.max_message_bytes))


def _opened_with_turns(thread_id: str, most: int | None) -> Callable[[View], dict[str, Any]]:
    def look(view: View) -> dict[str, Any]:
        row = view.thread(thread_id)
        found = queries.turns(view, row.thread_no, False, None, 1 << 40)
        with view.rollout(row) as rollout:
            turns = turn_values(view, row, found.rows, "full", rollout.lines)
        value = opened_value(view, row, thread_value(view, row, turns))
        # The fork is made: a client that cannot take its turns in one message gets it without them, as with
        # excludeTurns, and not an error.
        if most is not None and len(encode(value)) + ENVELOPE > most:
            return opened(thread_id)(view)
        return value

    return look


def _closing(turn_id: str | None, boot_id: str) -> Callable[[str], Draft] | None:
    """A turn that is open in the parent is interrupted in the fork: nobody works on it there."""
    if turn_id is None:
        return None
    payload = encode({"reason": "forked", "bootId": boot_id})
    return lambda at: Draft("turn.interrupted", payload, new_id("evt"), at, turn_id)
