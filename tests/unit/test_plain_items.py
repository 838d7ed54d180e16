"""Items in their plain form come out as the checks of decoded items make them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.protocol_examples import ITEMS
from tests.unit.test_protocol_checks import ODD, mutations

from lockstitch.codec import decode, encode
from lockstitch.timeline.items import item_of
from lockstitch.timeline.plain_items import encode_plain, plain_item
from lockstitch_protocol.ids import is_id
from lockstitch_protocol.items import ITEM_FIELDS, ItemError, fill_defaults

ITEM_TYPES = ("item.started", "item.updated", "item.completed")


def by_checks(event_type: str, item: dict[str, Any]) -> dict[str, Any] | None:
    """The item as the checks leave it; None if they refuse it."""
    try:
        fill_defaults(item)
        return item_of(event_type, {"item": item}, item["id"], None)
    except ItemError:
        return None


def differing(items: list[dict[str, Any]]) -> list[Any]:
    """Those that the plain form takes and makes something else of."""
    found: list[Any] = []
    for item in items:
        for event_type in ITEM_TYPES:
            plain = plain_item(encode({"item": item}))
            if plain is not None and is_id(plain.id):
                made = decode(encode_plain(plain, over=event_type == "item.completed"))["item"]
                expected = by_checks(event_type, item)
                if expected is None or made != decode(encode(expected)):
                    found.append((event_type, item, made, expected))
    return found


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["id"])
def test_examples_and_what_is_odd_about_them(item: dict[str, Any]) -> None:
    assert differing([item, *mutations(item)]) == []


@pytest.mark.parametrize("kind", ITEM_FIELDS)
def test_every_type_field_by_field(kind: str) -> None:
    whole = {key: value for item in ITEMS if item["type"] == kind for key, value in item.items()}
    fields = ITEM_FIELDS[kind]
    known = {"type": kind, "id": "x"} | {name: whole[name] for name, *_ in fields if name in whole}
    for name in ("interrupted", "outputRef"):
        known.pop(name, None)
    assert plain_item(encode({"item": known})) is not None, "an item of which every field is known goes the long way"
    odd = [{**whole, name: value} for name, *_ in fields for value in ODD]
    assert differing([known, *odd]) == []


@pytest.mark.parametrize(
    "payload",
    [
        b'{"item":{"type":"agentMessage","id":"a","text":"x","extra":1}}',
        b'{"item":{"type":"agentMessage","id":"a","text":"x"},"extra":1}',
        b'{"item":{"type":"agentMessage","id":"a","text":1}}',
        b'{"item":{"type":"agentMessage","id":"a","text":"\\ud800"}}',
        b'{"item":{"type":"acme.thing","id":"a"}}',
        b'{"item":null}',
        b"{}",
        b"[]",
    ],
)
def test_what_has_another_form_goes_the_long_way(payload: bytes) -> None:
    assert plain_item(payload) is None


def test_numbers_keep_their_digits() -> None:
    item = plain_item(
        b'{"item":{"type":"mcpToolCall","id":"a","server":"s","tool":"t","arguments":{"a":1.0,"b":1E400}}}'
    )
    assert item is not None
    assert b'"arguments":{"a":1.0,"b":1E400}' in encode_plain(item, over=True)
