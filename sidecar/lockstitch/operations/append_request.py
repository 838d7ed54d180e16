"""The request of an append in its plain form: decoded, checked against the types and taken apart in one go.

Invariant: takes nothing that the model `AppendParams` would not take, and reads the same out of it; what has another
form (a field by another name, a null, a mistake) is left to the model, which knows all forms and explains mistakes.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

import msgspec

from lockstitch.codec import MAX_DEPTH, NOTHING, ParseError, Raw, decode_part, encode, is_shallow
from lockstitch.operations.call import PlainForm
from lockstitch.operations.contents import SPILL_BYTES
from lockstitch.timeline.incoming import Incoming
from lockstitch.timeline.plain_items import PlainDelta, PlainItem, PlainTurnStart, may_nest, plain_item, plain_payload
from lockstitch_protocol.ids import are_ids

WHOLE_ITEMS = frozenset({"item.started", "item.updated", "item.completed"})
_ABOVE = 4
"""The levels above a payload: message, params, list of events, event."""
_SHORT = 2 * (MAX_DEPTH - _ABOVE)
"""No payload of so few bytes is nested too deep."""


class _SentEvent(msgspec.Struct, rename="camel", forbid_unknown_fields=True, gc=False):
    type: Annotated[str, msgspec.Meta(min_length=1)]
    payload: Raw = NOTHING
    event_id: str | None = None
    item_id: str | None = None
    at: str | None = None


class SentAppend(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The params as they were sent."""

    session_id: str
    runtime_events: list[_SentEvent]
    turn_id: str | None = None
    durability: Literal["sync", "buffered"] | None = None


class PlainEvent(msgspec.Struct, gc=False):
    """What `RuntimeEventInput` is, of an event whose payload is decoded."""

    type: str
    payload: dict[str, Any]
    event_id: str | None
    item_id: str | None
    at: str | None
    item: PlainItem | None
    """Of an item event, the item in its plain form, where it has that."""


class PlainAppend(msgspec.Struct):
    """What `AppendParams` is. An event that is checked already, since it has a plain form, is an Incoming."""

    session_id: str
    runtime_events: list[PlainEvent | Incoming]
    turn_id: str | None
    durability: Literal["sync", "buffered"] | None
    is_checked: bool
    """Each event is an Incoming, and none of them holds what is too large for a line."""


def plain_append(sent: SentAppend) -> PlainAppend | None:
    """The request, or None if only the model can say what it is."""
    events: list[PlainEvent | Incoming] = []
    turn_id = sent.turn_id
    ids: list[str] = []
    is_checked = True
    for event in sent.runtime_events:
        payload, type_, event_id, item_id = event.payload, event.type, event.event_id, event.item_id
        bare = event_id is None and event.at is None
        if event_id is not None:
            ids.append(event_id)
        item = None
        # What may have to leave its line for the artifact store is looked at as a decoded value.
        if type_ in WHOLE_ITEMS and item_id is None and len(payload) <= SPILL_BYTES:
            item = plain_item(payload)
        if item is not None:
            ids.append(item.id)
            if len(payload) > _SHORT and may_nest(item) and not is_shallow(payload, _ABOVE):
                return None
            if bare:
                events.append(Incoming(type_, _EMPTY, turn_id, item.id, None, None, None, item))
                continue
        elif len(payload) > _SHORT and not is_shallow(payload, _ABOVE):
            return None
        elif bare and item_id is None and (brief := plain_payload(type_, payload)) is not None:
            if type(brief) is PlainDelta:
                ids.append(brief.itemId)
                streamed = {"itemId": brief.itemId, "delta": brief.delta}
                events.append(Incoming(type_, streamed, turn_id, brief.itemId))
            elif type(brief) is PlainTurnStart:
                ids.append(brief.turnId)
                events.append(Incoming(type_, {"turnId": brief.turnId}, turn_id or brief.turnId))
            else:
                events.append(Incoming(type_, _EMPTY, turn_id, None, None, None, None, None, encode(brief)))
            continue
        is_checked = False
        value: Any = {}
        if payload:
            try:
                value = decode_part(payload)
            except ParseError:
                return None
            if type(value) is not dict:
                return None
        events.append(PlainEvent(type_, cast("dict[str, Any]", value), event_id, item_id, event.at, item))
    if not are_ids(ids):
        return None
    return PlainAppend(sent.session_id, events, turn_id, sent.durability, is_checked)


_EMPTY: dict[str, Any] = {}


def plain_form() -> PlainForm:
    """How such a request is read."""
    return PlainForm(SentAppend, plain_append)
