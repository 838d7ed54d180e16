"""Events on their way out: the JSON of an AgentEvent, spliced from stored bytes.

Invariant: the payload is the very bytes of the rollout line.
"""

from __future__ import annotations

from lockstitch.codec import encode
from lockstitch.rollout.line import Draft, EncodedAppend, Line, parse_line

_AFTER_KEY = len('{"sequence":')


def event_json(
    thread_id: str,
    sequence: int | None,
    type_: str,
    event_id: str,
    at: str,
    payload: bytes,
    turn_id: str | None,
    item_id: str | None,
) -> bytes:
    """One AgentEvent. `sequence` is None for streamed text whose segment is not stored yet."""
    head: dict[str, object] = {"sessionId": thread_id, "threadId": thread_id}
    if sequence is not None:
        head["sequence"] = sequence
    head["timestamp"], head["type"], head["eventId"] = at, type_, event_id
    if turn_id is not None:
        head["turnId"] = turn_id
    if item_id is not None:
        head["itemId"] = item_id
    return b'%b,"payload":%b}' % (encode(head)[:-1], payload)


def events_of_append(thread_id: str, made: EncodedAppend) -> bytes:
    """The AgentEvents of an append's lines, as a JSON array, each as `event_json` would make it."""
    # The head of a line says the same in the same order, but for the name of `at`; no string stands before that.
    thread = b'},{%b,"sequence":' % encode({"sessionId": thread_id, "threadId": thread_id})[1:-1]
    parts: list[bytes] = []
    for head, payload in zip(made.heads, made.payloads, strict=True):
        at = head.index(b',"at":', _AFTER_KEY)
        parts += (thread, head[_AFTER_KEY:at], b',"timestamp":', head[at + 6 :], payload)
    parts[0] = b"[" + thread[2:]
    parts.append(b"}]")
    return b"".join(parts)


def event_of_draft(thread_id: str, sequence: int, draft: Draft) -> bytes:
    """The AgentEvent of an event that was just stored."""
    return event_json(
        thread_id, sequence, draft.type, draft.event_id, draft.at, draft.payload, draft.turn_id, draft.item_id
    )


def event_of_line(thread_id: str, line: Line) -> bytes:
    """The AgentEvent of a parsed line."""
    return event_json(
        thread_id, line.sequence, line.type, line.eventId, line.at, bytes(line.payload), line.turnId, line.itemId
    )


def event_of_bytes(thread_id: str, data: bytes) -> bytes:
    """The AgentEvent of a line's bytes (checked before). Raises codec.ParseError."""
    return event_of_line(thread_id, parse_line(data))
