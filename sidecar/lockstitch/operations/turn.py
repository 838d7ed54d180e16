"""`turn/*`: a turn is opened with the user's message, added to, ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lockstitch.errors import ConflictError, InvalidError, NotFoundError, RefusedError
from lockstitch.operations.call import Call
from lockstitch.operations.incoming import user_message_event
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.thread import change
from lockstitch.operations.views.turns import turn_value
from lockstitch.timeline.admission import Admission
from lockstitch.timeline.incoming import Incoming
from lockstitch.timeline.jobs import Appended
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import TurnStatus
from lockstitch_protocol.ids import new_id

if TYPE_CHECKING:
    from lockstitch_protocol import turn as wire

_NOT_KEPT = frozenset({"threadId", "input", "clientUserMessageId", "turnId"})


async def start(runtime: Runtime, call: Call, params: wire.TurnStartParams) -> dict[str, Any]:
    """Open a turn with the user's message."""
    content = parts_of_input(call)
    payload = {name: value for name, value in call.params.items() if name not in _NOT_KEPT and value is not None}
    done = await start_turn(
        runtime, call, params.thread_id, params.turn_id, content, params.client_user_message_id, payload
    )
    turn_id = done.turn_id

    def look(view: View) -> dict[str, Any]:
        thread = view.thread(params.thread_id)
        row = view.rows.turn(thread.thread_no, turn_id or "")
        if row is None:
            raise NotFoundError(
                f"Turn {turn_id} is gone: the thread was changed by somebody else.", kind="turnNotFound"
            )
        return {"turn": {**turn_value(row, None, (), "notLoaded"), "status": "inProgress"}}

    return await runtime.read(look)


async def start_turn(
    runtime: Runtime,
    call: Call,
    thread_id: str,
    turn_id: str | None,
    content: list[dict[str, Any]],
    client_id: str | None,
    payload: dict[str, Any],
) -> Appended:
    """Store `turn.started` and the user's message in one append."""
    turn_id = turn_id or new_id("turn")
    events = [
        Incoming("turn.started", payload, turn_id, opens_turn=True),
        user_message_event(turn_id, new_id("item"), content, client_id),
    ]

    def build(admission: Admission) -> None:
        for event in events:
            admission.add(event)

    return await change(runtime, call, thread_id, build, allow_archived=False)


async def interrupt(runtime: Runtime, call: Call, params: wire.TurnInterruptParams) -> dict[str, Any]:
    """End the open turn; it reads `interrupted` and stays so."""
    await cancel(runtime, call, params.thread_id, params.turn_id)
    return {}


async def cancel(runtime: Runtime, call: Call, thread_id: str, turn_id: str) -> None:
    """Append `turn.canceled`."""
    await change(runtime, call, thread_id, lambda admission: admission.add(Incoming("turn.canceled", {}, turn_id)))


async def steer(runtime: Runtime, call: Call, params: wire.TurnSteerParams) -> dict[str, Any]:
    """Add a user message to the open turn."""
    content = parts_of_input(call)
    done = await change(
        runtime,
        call,
        params.thread_id,
        _steering(params.expected_turn_id, content, params.client_user_message_id),
        allow_archived=False,
    )
    return {"turnId": done.turn_id}


def _steering(expected: str, content: list[dict[str, Any]], client_id: str | None) -> Callable[[Admission], None]:
    def build(admission: Admission) -> None:
        thread_id, open_turn = admission.thread_id, admission.open_turn_id
        row = admission.state.turn(expected)
        if row is None:
            raise NotFoundError(
                f"Thread {thread_id} has no turn {expected}.",
                kind="turnNotFound",
                threadId=thread_id,
                turnId=expected,
            )
        if open_turn is None and row.status != TurnStatus.recovered:
            raise RefusedError(
                f"Thread {thread_id} has no open turn to steer; start one with turn/start.",
                kind="noActiveTurn",
                threadId=thread_id,
            )
        if open_turn is not None and open_turn.lower() != expected.lower():
            raise ConflictError(
                f"Turn {expected} of thread {thread_id} is over; turn {open_turn} is open.",
                kind="turnNotActive",
                threadId=thread_id,
                turnId=expected,
                openTurnId=open_turn,
            )
        admission.add(user_message_event(expected, new_id("item"), content, client_id))

    return build


def parts_of_input(call: Call) -> list[dict[str, Any]]:
    """The message as it was sent, digits and all: the params were checked. A null is as good as absent."""
    parts: list[dict[str, Any]] = call.params["input"]
    return [{name: value for name, value in part.items() if value is not None} for part in parts]


def refuse_empty_input(content: list[Any]) -> None:
    """A message of nothing is a mistake of the caller. Raises InvalidError."""
    if not content:
        raise InvalidError.at("input", "must hold at least one part")
