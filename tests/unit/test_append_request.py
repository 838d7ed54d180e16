"""A request of an append in its plain form reads as the model reads it, or is left to the model."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from tests.unit.protocol_examples import ITEMS, PAYLOADS
from tests.unit.test_protocol_checks import ODD, mutations

from lockstitch import codec
from lockstitch.errors import InvalidError
from lockstitch.operations.incoming import incoming_events
from lockstitch.operations.table import PLAIN_FORMS
from lockstitch.rpc.plain import PlainRequests
from lockstitch.timeline.incoming import Incoming
from lockstitch.timeline.items import item_of
from lockstitch.timeline.plain_items import encode_plain
from lockstitch_protocol.events import AppendParams

METHOD = "agentSession/runtimeEvents/append"
PLAIN = PlainRequests(PLAIN_FORMS)

ITEM_EVENTS = [{"type": "item.completed", "payload": {"item": item}} for item in ITEMS]
OTHERS = [{"type": type_, "payload": payload} for type_, found in PAYLOADS.items() for payload in found]
FULL = {
    "type": "item.started",
    "payload": {"item": {"type": "agentMessage", "id": "item_1", "text": "x"}},
    "eventId": "evt_1",
    "itemId": "item_1",
    "at": "2026-12-01T02:40:11Z",
}
NO_ITEM_ID = {key: value for key, value in FULL.items() if key != "itemId"}


def message(*events: Any, **params: Any) -> bytes:
    return codec.encode({"id": 1, "method": METHOD, "params": {"sessionId": "s", "runtimeEvents": [*events], **params}})


def told(incoming: Incoming) -> tuple[Any, ...]:
    """Everything that is kept of an event: of an item its final form."""
    if incoming.plain is not None:
        item: Any = codec.decode(encode_plain(incoming.plain, over=incoming.type == "item.completed"))["item"]
        payload: Any = {}
    else:
        payload, item = dict(incoming.payload), None
        if incoming.settled is not None:
            assert not payload
            payload = codec.decode(incoming.settled)
        if incoming.type in ("item.started", "item.updated", "item.completed"):
            item = item_of(incoming.type, payload, "", None)
            del payload["item"]
    head = (incoming.type, incoming.turn_id, incoming.item_id, incoming.event_id, incoming.digest, incoming.at)
    return (*head, payload, item)


def outcome(params: Any) -> list[Any] | str:
    try:
        return [told(found) for found in incoming_events(params.runtime_events, params.turn_id)]
    except InvalidError as error:
        return str(error.facts)


def by_model(data: bytes) -> tuple[Any, ...] | None:
    """What the general way makes of a message; None if it refuses it."""
    try:
        value = codec.decode(data)
        if type(value) is not dict or type(value.get("id")) not in (int, str) or value.get("method") != METHOD:
            return None
        if value.get("jsonrpc", "2.0") != "2.0":
            return None
        params = AppendParams.model_validate(value.get("params"))
    except (codec.ParseError, codec.TooDeepError, ValidationError):
        return None
    return value["id"], params.session_id, params.turn_id, params.durability, outcome(params)


def taken(data: bytes) -> bool:
    """Whether the message has the plain form; what comes of it must be what the model makes of it."""
    found = PLAIN.open(data)
    if found is None:
        return False
    params = found.params
    read = (found.request_id, params.session_id, params.turn_id, params.durability, outcome(params))
    assert read == by_model(data), data
    return True


@pytest.mark.parametrize("event", ITEM_EVENTS, ids=lambda event: event["payload"]["item"]["id"])
def test_item_events(event: dict[str, Any]) -> None:
    assert taken(message(event))
    for changed in mutations(event):
        taken(message(changed))


@pytest.mark.parametrize("event", OTHERS, ids=lambda event: event["type"])
def test_other_events(event: dict[str, Any]) -> None:
    assert taken(message(event))
    for changed in mutations(event):
        taken(message(changed))


def test_every_field_of_an_event_and_of_the_request() -> None:
    assert taken(message(FULL, NO_ITEM_ID, turnId="turn_1", durability="sync"))
    for event in (FULL, NO_ITEM_ID):
        for name in (*event, "eventType", "event_type", "extra"):
            for odd in [*ODD, "evt 1", "x" * 200, "2026-12-01", "2026-12-01T02:40:11.5+02:00"]:
                taken(message({**event, name: odd}))
    for name in ("sessionId", "turnId", "durability", "runtimeEvents", "progressToken", "extra"):
        for odd in ODD:
            taken(message(FULL, **{name: odd}))


@pytest.mark.parametrize(
    "data",
    [
        message(FULL).replace(b'"id":1', b'"id":1.0'),
        message(FULL).replace(b'"id":1', b'"id":null'),
        message(FULL).replace(b'"id":1,', b""),
        message(FULL).replace(b'"id":1', b'"id":true'),
        message(FULL).replace(b'"id":1', b'"id":1,"jsonrpc":"1.0"'),
        message(FULL).replace(b'"id":1', b'"id":1,"method":"other"').replace(METHOD.encode(), b"agentSession/other"),
        message(FULL).replace(b'"text":"x"', b'"text":"\\ud800"'),
        message(FULL).replace(b'"text":"x"', b'"text":"\xff"'),
        message(NO_ITEM_ID).replace(b'"text":"x"', b'"text":"\xff"'),
        message(FULL).replace(b'"text":"x"', b'"more":-0'),
        message(FULL)[:-1],
        message(FULL) + b"x",
        b"[" + message(FULL) + b"]",
        message(FULL, FULL).replace(b'"params":{', b'"params":[{').replace(b"]}}", b"]}]}"),
    ],
)
def test_what_only_the_general_way_judges(data: bytes) -> None:
    assert not taken(data)


@pytest.mark.parametrize("levels", [250, 251, 252, 253, 300, 900, 2000, 100_000])
def test_depth_is_judged_by_the_general_way(levels: int) -> None:
    nested = b"[" * levels + b"]" * levels
    for type_, payload in (
        ("acme.event", b'{"x":%b}'),
        ("item.completed", b'{"item":{"type":"webSearch","id":"a","x":%b}}'),
    ):
        event = b'{"type":"%b","payload":%b}' % (type_.encode(), payload % nested)
        taken(message().replace(b'"runtimeEvents":[]', b'"runtimeEvents":[%b]' % event))


def test_whitespace_duplicate_keys_and_escapes() -> None:
    spaced = (
        b'{ "id" : "a\\u00e9" , "method" : "%b", "jsonrpc": "2.0", "params" : { "sessionId":"x", "sessionId" : "s",\n'
    )
    spaced += b' "runtimeEvents" : [ { "type" : "item.completed" , "payload" : { "item" : {"id":"b", "type":"plan",'
    spaced += b' "text":"a\\n\\u00e9", "text" : "z", "id":"c" } } } ] } }'
    assert taken(spaced % METHOD.encode())
