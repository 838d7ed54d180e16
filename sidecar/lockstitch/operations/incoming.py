"""From the events of a request to events that are checked by themselves and whose contents are safe.

Invariant: everything slow or strange happens here, before the writer's queue: reading workspace files, hashing,
storing contents, diffs. Nothing of a refused request is in the log; contents stored for it are orphans for gc.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from lockstitch.codec import canonical, mapping
from lockstitch.errors import InvalidError
from lockstitch.operations.append_request import PlainEvent
from lockstitch.operations.call import Call
from lockstitch.timeline.incoming import Incoming
from lockstitch.timeline.items import item_of
from lockstitch.timeline.times import microseconds_of, text_of
from lockstitch_protocol.event_checks import PayloadError, check_payload
from lockstitch_protocol.event_types import EVENT_TYPES, may_client_send
from lockstitch_protocol.ids import is_id
from lockstitch_protocol.item_fields import ItemError, fill_defaults
from lockstitch_protocol.retired import RETIRED_EVENTS

if TYPE_CHECKING:
    from lockstitch_protocol.events import RuntimeEventInput

FILE_EVENTS = frozenset({"artifact.snapshot", "file.changed"})
_UNIQUE_ID = re.compile(
    r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}|(?<![0-9A-Z])[0-7][0-9A-HJKMNP-TV-Z]{25}(?![0-9A-Z])",
    re.IGNORECASE,
)
_MADE_ITEMS = frozenset({"message.created", "command.started", "command.exited"})
"""Events whose fields become those of an item and must be right for it."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d")
_ITEM_NAMES = frozenset({"itemId", "item_id"})
_ITEM_ID_IN_PAYLOAD = frozenset(
    {"message.delta", "reasoning.delta", "command.output", "command.exited", "patch.applied", "patch.failed"}
    | {"patch.declined"}
)


def digest_of(value: Any) -> str:
    """The first 32 hex digits of sha256 over canonical JSON."""
    return sha256(canonical(value)).hexdigest()[:32]


def request_digest(call: Call) -> str | None:
    """What makes a resent request recognisable; None where the id does not look globally unique."""
    request_id = call.request_id
    if not isinstance(request_id, str) or not _UNIQUE_ID.search(request_id):
        return None
    return digest_of({"id": request_id, "params": call.params})


def incoming_events(events: Sequence[RuntimeEventInput | PlainEvent | Incoming], turn_id: str | None) -> list[Incoming]:
    """Check each event by itself. Raises InvalidError, with the place in the request."""
    return [
        event if isinstance(event, Incoming) else _incoming(event, turn_id, f"runtimeEvents.{number}")
        for number, event in enumerate(events)
    ]


def _incoming(event: RuntimeEventInput | PlainEvent, turn_id: str | None, place: str) -> Incoming:
    type_, payload = event.type, event.payload
    whole: dict[str, Any] | None = None
    plain = event.item if isinstance(event, PlainEvent) else None
    known = EVENT_TYPES.get(type_)
    if known is None or not known.from_clients:
        _refuse_type(type_, place)
    item_id = event.item_id
    if plain is not None:
        item_id = plain.id
    elif known is not None:
        if item_id is not None or not _ITEM_NAMES.isdisjoint(payload):
            item_id = _item_id(type_, payload, item_id, place)
        if item_id is not None and type_ in _ITEM_ID_IN_PAYLOAD and payload.get("itemId") is None:
            payload = {**payload, "itemId": item_id}
        try:
            if type_.startswith("item.") and isinstance(payload.get("item"), dict):
                whole = fill_defaults(mapping(payload["item"]))
                item_id = whole["id"]
            else:
                check_payload(type_, payload)
                if type_ in _MADE_ITEMS:
                    item_of(type_, payload, "item", None)
        except (PayloadError, ItemError) as error:
            raise _misfit(error, type_, place) from None
    elif item_id is not None and not is_id(item_id):
        raise InvalidError.at(
            f"{place}.itemId", "must be a letter or digit, then at most 127 letters, digits or . _ : -"
        )
    if type_ == "turn.started":
        turn_id = turn_id or _turn_id(payload, place)
    at = None if event.at is None else _time(event.at, f"{place}.at")
    found = Incoming(type_, payload, turn_id, item_id, event.event_id, None, at)
    if type_ == "item.completed":
        found.whole = whole
    if plain is not None:
        found.payload, found.plain = {}, plain
    if event.event_id is not None:
        if known is not None and known.streamed:
            raise InvalidError.at(f"{place}.eventId", "streamed text takes no event id; its segment has one")
        found.digest = digest_of(
            {"type": type_, "payload": event.payload, "turnId": turn_id, "itemId": event.item_id, "at": event.at}
        )
    return found


def _misfit(error: PayloadError | ItemError, type_: str, place: str) -> InvalidError:
    """The refusal of a payload, with the place of what is wrong in the request."""
    path = f"item.{error.path}" if isinstance(error, ItemError) and type_.startswith("item.") else error.path
    return InvalidError.at(f"{place}.payload.{path}" if path else f"{place}.payload", error.message)


def _refuse_type(type_: str, place: str) -> None:
    replacement = RETIRED_EVENTS.get(type_)
    if replacement is not None:
        raise InvalidError(
            f"Events of type {type_} are retired; send {replacement}.",
            errors=[{"path": f"{place}.type", "message": f"retired; send {replacement}"}],
            replacement=replacement,
        )
    if not may_client_send(type_):
        raise InvalidError.at(f"{place}.type", "is written by the sidecar itself and not taken from hosts")


def _item_id(type_: str, payload: dict[str, Any], given: str | None, place: str) -> str | None:
    found = given
    if found is None:
        found = payload.get("itemId", payload.get("item_id"))
    if found is not None and not (isinstance(found, str) and is_id(found)):
        raise InvalidError.at(
            f"{place}.itemId", "must be a letter or digit, then at most 127 letters, digits or . _ : -"
        )
    item = mapping(payload.get("item"))
    if given is not None and type_.startswith("item.") and item.get("id") not in (None, given):
        raise InvalidError.at(f"{place}.itemId", "is not the id of payload.item")
    return found


def _turn_id(payload: dict[str, Any], place: str) -> str | None:
    found = payload.get("turnId")
    if found is not None and not (isinstance(found, str) and is_id(found)):
        raise InvalidError.at(
            f"{place}.payload.turnId", "must be a letter or digit, then at most 127 of them or . _ : -"
        )
    return found


def _time(text: str, place: str) -> str:
    try:
        if _MOMENT.match(text) is None:
            raise ValueError
        return text_of(microseconds_of(text.upper()))
    except (ValueError, OverflowError):
        raise InvalidError.at(place, "must be an RFC 3339 time such as 2026-12-01T02:40:11Z") from None


def refuse_empty(events: Sequence[Any]) -> None:
    """An append of nothing is a mistake of the caller. Raises InvalidError."""
    if not events:
        raise InvalidError.at("runtimeEvents", "must hold at least one event")


def user_message_event(
    turn_id: str | None, item_id: str, content: list[dict[str, Any]], client_id: str | None
) -> Incoming:
    """A user's message as an event."""
    item: dict[str, Any] = {"type": "userMessage", "id": item_id, "content": content}
    if client_id is not None:
        item["clientId"] = client_id
    return Incoming("item.completed", {"item": fill_defaults(item)}, turn_id, item_id)
