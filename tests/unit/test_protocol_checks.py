"""The fast checks of items and payloads agree with the models that describe them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError
from tests.unit.protocol_examples import ITEMS, PAYLOADS

from lockstitch.codec import decode, encode
from lockstitch_protocol.checks import FieldError
from lockstitch_protocol.event_checks import PAYLOAD_CHECKS
from lockstitch_protocol.events import EVENT_TYPES, PayloadError, check_payload
from lockstitch_protocol.items import ITEM_FIELDS, HostItem, ItemError, fill_defaults
from lockstitch_protocol.snapshot import CONTENT_KEYS, read_snapshot, without_content

HOST_ITEM: TypeAdapter[Any] = TypeAdapter(HostItem)
ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    2**70,
    decode(b"1.5"),
    "",
    "inProgress",
    "é",
    "a b",
    [],
    [None],
    [1],
    ["x"],
    {},
    {"a": 1},
]


def without_nulls(value: Any) -> Any:
    """The value with the fields that have none left out, as `fill_defaults` leaves them out."""
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        dumped: dict[str, Any] = {}
        for name, field in fields.items():
            inner = getattr(value, name)
            if inner is not None or name == "arguments":
                dumped[field.alias or name] = without_nulls(inner)
        return dumped | (value.model_extra or {})
    return [without_nulls(inner) for inner in value] if isinstance(value, list) else value


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*path, index))


def mutations(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The value with each of its parts replaced by odd ones, and left out."""
    for path in places(value):
        for odd in [*ODD, ...]:
            changed = copy.deepcopy(value)
            inner: Any = changed
            for step in path[:-1]:
                inner = inner[step]
            if odd is ...:
                del inner[path[-1]]
            else:
                inner[path[-1]] = copy.deepcopy(odd)
            yield changed


def accepts(check: Any, value: Any) -> bool:
    try:
        check(value)
    except (FieldError, ValidationError):
        return False
    return True


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["id"])
def test_fill_defaults_gives_what_the_model_gives(item: dict[str, Any]) -> None:
    before = copy.deepcopy(item)
    assert fill_defaults(item) == without_nulls(HOST_ITEM.validate_python(item))
    assert item == before, "the host's item was changed"


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["id"])
def test_items_are_refused_alike(item: dict[str, Any]) -> None:
    differing = [
        changed
        for changed in mutations(item)
        if accepts(fill_defaults, changed) != accepts(HOST_ITEM.validate_python, changed)
    ]
    assert differing == []


@pytest.mark.parametrize("kind", ITEM_FIELDS)
def test_every_item_type_is_refused_alike_field_by_field(kind: str) -> None:
    """From examples only the fields that they have are tried; this tries all fields of the table."""
    whole = {key: value for item in ITEMS if item["type"] == kind for key, value in item.items()}
    differing: list[Any] = []
    for name, *_ in ITEM_FIELDS[kind]:
        for odd in ODD:
            changed = {**whole, name: odd}
            if accepts(fill_defaults, changed) != accepts(HOST_ITEM.validate_python, changed):
                differing.append((name, odd))
    assert differing == []


@pytest.mark.parametrize("event_type", PAYLOADS)
def test_payloads_are_refused_alike(event_type: str) -> None:
    model = EVENT_TYPES[event_type].payload
    differing: list[Any] = []
    for payload in PAYLOADS[event_type]:
        check_payload(event_type, payload)
        model.model_validate(payload)
        for changed in mutations(payload):
            if accepts(lambda value: check_payload(event_type, value), changed) != accepts(
                model.model_validate, changed
            ):
                differing.append(changed)
    assert differing == []


def test_every_type_with_known_fields_has_a_check() -> None:
    own = {name for name, event in EVENT_TYPES.items() if not event.from_clients}
    assert PAYLOAD_CHECKS.keys() == EVENT_TYPES.keys() - own


@pytest.mark.parametrize(
    ("item", "path"),
    [
        ({"id": "x"}, "type"),
        ({"id": "x", "type": ""}, "type"),
        ({"type": "plan"}, "id"),
        ({"type": "acme", "id": "-x"}, "id"),
        ({"type": "acme", "id": 3}, "id"),
        ({"type": "plan", "id": "x", "text": 3}, "text"),
        ({"type": "commandExecution", "id": "x"}, "command"),
        ({"type": "commandExecution", "id": "x", "command": "l", "status": "running"}, "status"),
        (
            {"type": "userMessage", "id": "x", "content": [{"type": "text", "text": "a"}, {"type": "image"}]},
            "content.1.url",
        ),
        ({"type": "fileChange", "id": "x", "changes": [{"path": "a"}]}, "changes.0.kind"),
    ],
)
def test_the_first_wrong_field_is_named(item: dict[str, Any], path: str) -> None:
    with pytest.raises(ItemError) as caught:
        fill_defaults(item)
    assert caught.value.path == path
    with pytest.raises(PayloadError) as nested:
        check_payload("item.completed", {"item": item})
    assert nested.value.path == f"item.{path}"


def test_an_item_that_has_only_started_is_in_progress() -> None:
    item = {"type": "commandExecution", "id": "c", "command": "ls"}
    assert fill_defaults(item, status="inProgress")["status"] == "inProgress"
    assert fill_defaults({**item, "status": "declined"}, status="inProgress")["status"] == "declined"


def test_numbers_come_back_with_their_digits() -> None:
    item = decode(b'{"type":"mcpToolCall","id":"x","server":"s","tool":"t","arguments":{"a":1.0,"b":1E400}}')
    assert b'"arguments":{"a":1.0,"b":1E400}' in encode(fill_defaults(item))
    check_payload("provider.usage", decode(encode({**PAYLOADS["provider.usage"][0], "costUsd": 1.5})))


def test_a_type_that_is_not_known_takes_any_object() -> None:
    check_payload("acme.tally", {"item": 3, "path": None})


def test_snapshots_are_read_in_every_spelling() -> None:
    for before in (
        "previousContent",
        "previous_content",
        "beforeContent",
        "before_content",
        "oldContent",
        "old_content",
    ):
        for place in ("artifact", "change", ""):
            fields = {"path": "a.py", before: "x", "checkpoint_id": "cp"}
            payload = {place: fields} if place else fields
            assert read_snapshot(payload) == {"path": "a.py", "previousContent": "x", "checkpointId": "cp"}


def test_what_stands_at_the_top_of_a_snapshot_goes_first() -> None:
    payload = {"path": "top", "artifact": {"path": "nested", "title": "kept"}, "content": None}
    assert read_snapshot(payload) == {"path": "top", "title": "kept"}


def test_the_canonical_spelling_goes_before_others() -> None:
    for payload in (
        {"path": "a", "oldContent": "x", "previousContent": "y"},
        {"path": "a", "previousContent": "y", "oldContent": "x"},
    ):
        assert read_snapshot(payload)["previousContent"] == "y"


def test_no_content_is_left_in_a_stored_snapshot() -> None:
    fields = dict.fromkeys(CONTENT_KEYS, "secret")
    payload = {
        "path": "a",
        **fields,
        "artifact": {"title": "t", **fields},
        "change": {**fields},
        "metadata": {"content": "own"},
    }
    assert without_content(payload) == {
        "path": "a",
        "artifact": {"title": "t"},
        "change": {},
        "metadata": {"content": "own"},
    }


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"content": "x", "op": "deleted"}, "op"),
        ({"artifact": {"contentBase64": "eA=="}, "op": "deleted"}, "op"),
        ({"previousContent": "x", "beforeAbsent": True}, "beforeAbsent"),
        ({"before_content": "x", "change": {"before_absent": True}}, "beforeAbsent"),
    ],
)
def test_a_snapshot_that_contradicts_itself_is_refused(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(FieldError) as caught:
        read_snapshot({"path": "a", **fields})
    assert caught.value.path == named
    for one in fields:
        assert read_snapshot({"path": "a", one: fields[one]})
