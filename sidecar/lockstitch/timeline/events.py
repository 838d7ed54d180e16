"""Events on their way out: the JSON of an AgentEvent, spliced from stored bytes.

Invariant: the payload is the very bytes of the rollout line.
"""

from __future__ import annotations

from collections.abc import Sequence

from lockstitch.codec import encode
from lockstitch.rollout.line import Draft, Line, encoded_if_plain, parse_line


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
    head: dict[str, object] = {"eventId": event_id}
    if sequence is not None:
        head["sequence"] = sequence
    head["sessionId"] = head["threadId"] = thread_id
    if turn_id is not None:
        head["turnId"] = turn_id
    if item_id is not None:
        head["itemId"] = item_id
    head["type"], head["timestamp"] = type_, at
    return b'%b,"payload":%b}' % (encode(head)[:-1], payload)


def events_of_drafts(thread_id: str, first_sequence: int, drafts: Sequence[Draft]) -> bytes:
    """The AgentEvents of events that were just stored one after the other, as a JSON array."""
    heads: list[str] = []
    quotes = 0
    for sequence, draft in enumerate(drafts, first_sequence):
        turn_id, item_id = draft.turn_id, draft.item_id
        turn = item = ""
        quotes += 24
        if turn_id is not None:
            turn = f'","turnId":"{turn_id}'
            quotes += 4
        if item_id is not None:
            item = f'","itemId":"{item_id}'
            quotes += 4
        heads.append(
            f',{{"eventId":"{draft.event_id}","sequence":{sequence},"sessionId":"{thread_id}","threadId":"{thread_id}'
            f'{turn}{item}","type":"{draft.type}","timestamp":"{draft.at}","payload":'
        )
    encoded = encoded_if_plain(heads, quotes)
    if encoded is None:
        events = [event_of_draft(thread_id, sequence, draft) for sequence, draft in enumerate(drafts, first_sequence)]
        return b"[%b]" % b",".join(events)
    parts = [part for head, draft in zip(encoded, drafts, strict=True) for part in (head, draft.payload, b"}")]
    return b"[%b]" % b"".join(parts)[1:]


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
