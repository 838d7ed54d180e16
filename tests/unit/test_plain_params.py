"""Params read into plain structs are what the models would have made of them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError
from tests.unit.protocol_examples import METHOD_EXAMPLES

from lockstitch.codec import decode
from lockstitch.operations.plain_params import read_plain
from lockstitch_protocol.methods import METHODS
from lockstitch_protocol.plain_params import FORMS

VALUES: list[Any] = decode(
    rb"""[null, true, false, 0, 1, -1, 25, 500, 501, 10000, 10001, 123456789012345678901234567890, 1.0, 1e2, -0, 0.5,
    "", "x", "T-1", "a b", "abc\n", "asc", "desc", "full", "after", "\ud83d\ude00", [], ["x"], ["x", null], [1], {},
    {"limit": 3}, {"limit": null}, {"limit": 3.0}, {"sha": "x"}, [{"type": "text", "text": "t", "more": [1]}],
    [{"type": "text"}], [{"type": "image", "url": "u"}, {"type": "skill", "name": "n", "path": "p"}],
    [{"type": "other"}], [{"text": "t"}], {"text": "t"}, {"a": 1.50}]"""
)


def as_read(value: Any) -> Any:
    """What operations can see of it."""
    if isinstance(value, list):
        return [as_read(inner) for inner in value]
    if isinstance(value, BaseModel):
        return {name: as_read(getattr(value, name)) for name in type(value).model_fields}
    if hasattr(value, "__struct_fields__"):
        return {name: as_read(getattr(value, name)) for name in value.__struct_fields__}
    return value


def compare(method: str, params: dict[str, Any]) -> bool:
    """Whether the plain form takes the params; then the model has to take them too, and read the same."""
    plain = read_plain(method, params)
    if plain is None:
        return False
    try:
        model = METHODS[method].params.model_validate(params)
    except ValidationError as error:
        raise AssertionError(f"{method} takes {params!r} in its plain form alone") from error
    expected, found = as_read(model), as_read(plain)
    for parts in (expected.get("input"), found.get("input")):
        for part in parts if isinstance(parts, list) else ():
            part.pop("type", None)  # a struct's own class is its tag
    assert found == expected, f"{method} with {params!r}"
    assert {name: type(value) for name, value in found.items()} == {n: type(v) for n, v in expected.items()}
    assert getattr(plain, "model_extra", None) == model.model_extra, f"{method} with {params!r}"
    return True


@pytest.mark.parametrize("method", list(FORMS))
def test_a_plain_form_reads_what_the_model_reads(method: str) -> None:
    usual = METHOD_EXAMPLES[method][0]
    fields = METHODS[method].params.model_fields.values()
    names = {str(field.validation_alias): field.is_required() for field in fields}
    least = {name: usual[name] for name, required in names.items() if required}
    assert compare(method, least)
    assert compare(
        method, {**least, "unknown": [1], "progressToken": "p", **dict.fromkeys(names.keys() - least.keys())}
    )
    compare(method, usual)
    for name in names:
        compare(method, {key: value for key, value in usual.items() if key != name})
        for value in VALUES:
            compare(method, {**usual, name: value})
            compare(method, {**least, name: value})


def test_the_methods_that_hosts_use_most_have_a_plain_form() -> None:
    most = {"thread/start", "thread/read", "thread/list", "thread/turns/list", "thread/items/list", "turn/start"}
    assert most | {"server/status", "thread/resume", "thread/events/list", "agentSession/fileCheckpoint/get"} <= set(
        FORMS
    )
