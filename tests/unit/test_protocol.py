"""The wire models: every method, notification and payload has an example that validates; null means absent."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError
from tests.unit.protocol_examples import METHOD_EXAMPLES, NOTIFICATION_EXAMPLES, PAYLOADS

from lockstitch.codec import decode
from lockstitch_protocol.envelope import Failure, Notification, Request, Success
from lockstitch_protocol.errors import ERROR_CODES
from lockstitch_protocol.events import EVENT_TYPES, may_client_send
from lockstitch_protocol.methods import METHODS
from lockstitch_protocol.notifications import NOTIFICATIONS
from lockstitch_protocol.retired import RETIRED_EVENTS, RETIRED_METHODS
from lockstitch_protocol.wire import Wire

CONTRACT_ERRORS = {
    -32700: "parseError",
    -32600: "invalidRequest messageTooLarge tooDeep noActiveTurn threadArchived attemptsExhausted",
    -32601: "methodNotFound methodRetired",
    -32602: "invalidParams",
    -32603: "internalError",
    -32001: "overloaded",
    -32002: "notInitialized",
    -32003: "alreadyInitialized",
    -32010: "threadNotFound turnNotFound itemNotFound checkpointNotFound workerNotFound",
    -32011: "turnTerminal turnNotActive",
    -32012: "turnActive",
    -32013: "threadExists turnExists checkpointExists workerExists eventConflict",
    -32020: "pathRefused workspaceUnavailable workspaceNotLinked",
    -32021: "conflict",
    -32022: "contentUnavailable",
    -32030: "storageFull storageReadOnly storageFailed storageBusy",
    -32800: "requestCancelled",
}


def wire_models(base: type[BaseModel] = Wire) -> list[type[BaseModel]]:
    found: list[type[BaseModel]] = []
    for model in base.__subclasses__():
        found += [model, *wire_models(model)]
    return found


def paths(model: type[BaseModel], value: Any) -> list[str]:
    """Where the model says that the value is wrong."""
    with pytest.raises(ValidationError) as caught:
        model.model_validate(value)
    return [".".join(map(str, error["loc"])) for error in caught.value.errors()]


def test_every_kind_of_the_contract_has_its_code() -> None:
    expected = {kind: code for code, kinds in CONTRACT_ERRORS.items() for kind in kinds.split()}
    assert expected == ERROR_CODES


def test_every_method_has_an_example() -> None:
    assert set(METHOD_EXAMPLES) == set(METHODS)
    assert all(name == method.name for name, method in METHODS.items())


@pytest.mark.parametrize("name", METHOD_EXAMPLES)
def test_examples_of_methods_validate(name: str) -> None:
    params, result = METHOD_EXAMPLES[name]
    METHODS[name].params.model_validate(params)
    METHODS[name].result.model_validate(result)


@pytest.mark.parametrize("name", NOTIFICATIONS)
def test_examples_of_notifications_validate(name: str) -> None:
    NOTIFICATIONS[name].model_validate(NOTIFICATION_EXAMPLES[name])


def test_every_event_type_has_an_example() -> None:
    assert set(PAYLOADS) == set(EVENT_TYPES)


def test_every_field_is_described() -> None:
    bare = [
        f"{model.__name__}.{name}"
        for model in wire_models()
        for name, field in model.model_fields.items()
        if not field.description
    ]
    assert bare == []


def test_every_model_says_what_it_is() -> None:
    assert [model.__name__ for model in wire_models() if not (model.__doc__ or "").strip()] == []


def test_retired_names_are_not_taken() -> None:
    assert not RETIRED_METHODS.keys() & METHODS.keys()
    assert not RETIRED_EVENTS.keys() & EVENT_TYPES.keys()
    assert set(RETIRED_EVENTS.values()) <= EVENT_TYPES.keys()
    assert RETIRED_METHODS["agent_runtime_list_file_checkpoints"] in METHODS


@pytest.mark.parametrize("name", METHODS)
def test_null_in_an_optional_field_is_as_if_absent(name: str) -> None:
    model = METHODS[name].params
    params = METHOD_EXAMPLES[name][0]
    plain = {key: value for key, value in params.items() if value is not None}
    nulls = {
        field.alias or key: None
        for key, field in model.model_fields.items()
        if not field.is_required() and (field.alias or key) not in plain
    }
    assert model.model_validate({**params, **nulls}) == model.model_validate(plain)


@pytest.mark.parametrize(
    ("name", "params", "path"),
    [
        ("thread/read", {"threadId": 7}, "threadId"),
        ("thread/read", {}, "threadId"),
        ("thread/read", {"threadId": None}, "threadId"),
        ("thread/read", {"threadId": "t", "includeTurns": "yes"}, "includeTurns"),
        ("thread/list", {"limit": 0}, "limit"),
        ("thread/list", {"limit": 501}, "limit"),
        ("thread/list", {"limit": decode(b"5.0")}, "limit"),
        ("thread/list", {"limit": True}, "limit"),
        ("thread/list", {"sortKey": "name"}, "sortKey"),
        ("thread/start", {"threadId": "a.b"}, "threadId"),
        ("thread/start", {"threadId": "a" * 101}, "threadId"),
        ("thread/start", {"threadId": "a\n"}, "threadId"),
        ("turn/start", {"threadId": "t", "input": []}, "input"),
        ("turn/start", {"threadId": "t", "input": [{"type": "text"}]}, "input.0.text.text"),
        ("turn/start", {"threadId": "t", "input": [{"type": "text", "text": "x"}], "turnId": "-x"}, "turnId"),
        (
            "agentSession/runtimeEvents/append",
            {"sessionId": "t", "runtimeEvents": [{"type": "a", "payload": []}]},
            "runtimeEvents.0.payload",
        ),
        (
            "agentSession/runtimeEvents/append",
            {"sessionId": "t", "runtimeEvents": [{"type": "a", "eventId": "é"}]},
            "runtimeEvents.0.eventId",
        ),
    ],
)
def test_wrong_params_are_named(name: str, params: dict[str, Any], path: str) -> None:
    assert paths(METHODS[name].params, params) == [path]


def test_defaults_are_those_of_the_contract() -> None:
    listed = METHODS["thread/list"].params.model_validate({"limit": None}).model_dump(by_alias=True)
    assert (listed["limit"], listed["sortKey"], listed["sortDirection"], listed["archived"]) == (
        25,
        "created_at",
        "desc",
        False,
    )
    expected = {
        "thread/turns/list": {"limit": 25, "sortDirection": "desc", "itemsView": "full"},
        "thread/items/list": {"limit": 100, "sortDirection": "asc"},
        "thread/events/list": {"limit": 500, "afterSequence": 0},
        "agentSession/fileCheckpoint/list": {"limit": 500},
        "agentSession/fileCheckpoint/get": {"maxBytes": 1048576},
        "agentSession/fileCheckpoint/diff": {"contextLines": 3},
    }
    ids = {"threadId": "t", "sessionId": "t", "checkpointId": "c"}
    for name, defaults in expected.items():
        values = METHODS[name].params.model_validate(ids).model_dump(by_alias=True)
        assert {key: values[key] for key in defaults} == defaults, name


def test_fields_that_are_kept_besides_are_there_as_sent() -> None:
    params = METHODS["thread/start"].params.model_validate({"approvalPolicy": "never", "config": {"a": None}})
    assert params.model_extra == {"approvalPolicy": "never", "config": {"a": None}}


def test_only_the_sidecar_writes_lifecycle_events() -> None:
    assert not any(map(may_client_send, ("turn.interrupted", "turn.resumed", "thread.started", "thread.anything")))
    assert all(map(may_client_send, ("turn.completed", "acme.tally", "threading.thing")))


def test_envelopes() -> None:
    Request.model_validate({"id": 0, "method": "a", "params": None})
    Request.model_validate({"jsonrpc": "2.0", "id": "x", "method": "a", "params": {}})
    Notification.model_validate({"method": "exit"})
    Success.model_validate({"id": 1, "result": {}})
    error = {
        "code": -32602,
        "message": "m",
        "data": {"kind": "invalidParams", "errors": [{"path": "a", "message": "b"}]},
    }
    Failure.model_validate({"id": None, "error": error})
    assert paths(Request, {"id": True, "method": "a"})
    assert paths(Failure, {"id": 1, "error": error, "result": {}}) == ["result"]
