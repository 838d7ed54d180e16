"""Envelopes: ids, params, batches, and everything that is not a request, on the real process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.wire.process import HELLO, Sidecar


@pytest.fixture(scope="module")
def s(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sidecar]:
    with Sidecar(tmp_path_factory.mktemp("root") / "d") as running:
        running.initialize()
        yield running
        assert running.call("test/ping") == {}
        assert running.close() == 0


def ask(s: Sidecar, line: str | bytes) -> dict[str, Any]:
    s.raw((line if isinstance(line, bytes) else line.encode()) + b"\n")
    return json.loads(s.take_raw())


@pytest.mark.parametrize(
    "line",
    [
        b"{nope",
        b"\xff\xfe\x00garbage",
        b'{"id":1,"method":"test/ping"} x',
        b"[" * 100_000,
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b"\x00" * 100,
        b"{'id':1}",
        b'"',
        b'{"id":1,"method":"test/ping",}',
    ],
)
def test_what_is_not_json_is_a_parse_error_with_null_id(s: Sidecar, line: bytes) -> None:
    reply = ask(s, line)
    assert reply["error"]["code"] == -32700
    assert reply["error"]["data"]["kind"] == "parseError"
    assert reply["id"] is None
    assert set(reply) == {"jsonrpc", "id", "error"}


@pytest.mark.parametrize("line", ["42", '"text"', "null", "true", "[]", "{}", '{"jsonrpc":"2.0"}', '{"foo":1}'])
def test_json_that_is_no_message_is_invalid(s: Sidecar, line: str) -> None:
    reply = ask(s, line)
    assert (reply["error"]["code"], reply["id"]) == (-32600, None)


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('{"id":"a","method":17}', "a"),
        ('{"id":5,"method":null}', 5),
        ('{"id":6}', 6),
        ('{"id":7,"jsonrpc":"1.0","method":"test/ping"}', 7),
        ('{"id":8,"jsonrpc":2,"method":"test/ping"}', 8),
        ('{"id":{"a":1},"method":"test/ping"}', None),
        ('{"id":[1],"method":"test/ping"}', None),
        ('{"id":true,"method":"test/ping"}', None),
        ('{"id":null,"method":"test/ping"}', None),
        ('{"id":1.5,"method":"test/ping"}', 1.5),
    ],
)
def test_bad_envelopes_are_answered_with_what_can_be_said_of_the_id(s: Sidecar, line: str, key: Any) -> None:
    reply = ask(s, line)
    assert reply["error"]["code"] == -32600
    assert reply["error"]["data"]["kind"] == "invalidRequest"
    assert reply["id"] == key


@pytest.mark.parametrize("key", ["0", '""', '"text"', "-7", "9007199254740993", "18446744073709551616", '"é\\u2028"'])
def test_ids_come_back_with_type_and_digits(s: Sidecar, key: str) -> None:
    s.raw(b'{"id":%b,"method":"test/ping"}\n' % key.encode())
    raw = s.take_raw()
    assert b'"id":%b,' % json.dumps(json.loads(key), ensure_ascii=False).encode() in raw


@pytest.mark.parametrize("params", ["", ',"params":null', ',"params":{}', ',"params":[]', ',"params":[{}]'])
def test_no_params_in_every_spelling(s: Sidecar, params: str) -> None:
    assert ask(s, '{"id":1,"method":"test/echo"' + params + "}")["result"]["params"] == {}


def test_an_array_of_one_object_is_that_object(s: Sidecar) -> None:
    assert ask(s, '{"id":1,"method":"test/echo","params":[{"a":1}]}')["result"]["params"] == {"a": 1}


@pytest.mark.parametrize("params", ["[1]", "[{},{}]", '"x"', "5", "true", "[[]]"])
def test_other_params_are_invalid_params(s: Sidecar, params: str) -> None:
    error = ask(s, '{"id":1,"method":"test/echo","params":' + params + "}")["error"]
    assert error["code"] == -32602
    assert error["data"]["errors"][0]["message"]


def test_numbers_and_strings_pass_exactly(s: Sidecar) -> None:
    """Digits stay, a lone surrogate becomes U+FFFD, of duplicate keys the last wins."""
    s.raw(b'{"id":1,"method":"test/echo","params":{"a":1.0,"b":1e400,"c":18446744073709551617,"d":-0,"x":1,"x":2}}\n')
    assert b'"params":{"a":1.0,"b":1e400,"c":18446744073709551617,"d":-0,"x":2}' in s.take_raw()
    assert ask(s, b'{"id":1,"method":"test/echo","params":{"t":"\\ud800!"}}')["result"]["params"] == {"t": "\ufffd!"}


def test_too_deep_is_told_with_its_id(s: Sidecar) -> None:
    deep = '{"id":"deep","method":"test/echo","params":{"a":' + "[" * 300 + "]" * 300 + "}}"
    reply = ask(s, deep)
    assert (reply["id"], reply["error"]["code"], reply["error"]["data"]["kind"]) == ("deep", -32600, "tooDeep")
    huge = '{"id":"deeper","method":"test/echo","params":{"a":' + "[" * 90_000 + "]" * 90_000 + "}}"
    assert ask(s, huge)["id"] == "deeper"


def test_unknown_and_retired_methods(s: Sidecar) -> None:
    assert s.error("no/such")["data"] == {"kind": "methodNotFound", "method": "no/such"}
    assert s.error("$/unknown")["code"] == -32601
    error = s.error("agent_runtime_export_replay_case", {"session_id": "x"})
    assert (error["code"], error["data"]["kind"]) == (-32601, "methodRetired")
    assert error["data"]["replacement"] == "agentSession/replayCase/export"


def test_errors_of_operations(s: Sidecar) -> None:
    known = s.error("test/fail", {"how": "known"})
    assert (known["code"], known["message"]) == (-32012, "That turn is busy.")
    assert known["data"] == {"kind": "turnActive", "turnId": "t1"}
    for how in ("bug", "exit", "json"):
        error = s.error("test/fail", {"how": how})
        assert error["code"] == -32603
        assert error["data"]["kind"] == "internalError"
        assert error["data"]["errorId"].startswith("err_")
        assert "secret-word" not in json.dumps(error)


def test_invalid_params_name_the_field_and_not_the_value(s: Sidecar) -> None:
    error = s.error("test/typed", {"threadId": 123454321, "limit": "many-secret"})
    assert error["code"] == -32602
    assert [e["path"] for e in error["data"]["errors"]] == ["threadId", "limit"]
    assert "123454321" not in json.dumps(error)
    assert "secret" not in json.dumps(error)
    assert s.error("test/typed")["data"]["errors"][0]["path"] == "threadId"


def test_notifications_are_never_answered(s: Sidecar) -> None:
    for line in (
        '{"method":"no/such"}',
        '{"method":"test/fail","params":{"how":"bug"}}',
        '{"method":"test/typed","params":{"threadId":7}}',
        '{"method":"test/echo","params":[1]}',
        '{"method":"test/echo","jsonrpc":"9"}',
        '{"method":"$/whatever"}',
        '{"method":"initialize"}',
        '{"id":4,"result":{}}',
        '{"id":4,"error":{"code":1,"message":"x"}}',
    ):
        s.raw(line.encode() + b"\n")
    assert s.call("test/ping") == {}


def test_a_batch_is_answered_as_one_array(s: Sidecar) -> None:
    s.raw(
        b'[{"id":1,"method":"test/ping"},{"method":"test/ping"},7,{"id":2,"method":"no/such"},{"id":"x"},'
        b'{"id":3,"method":"test/echo","params":{"a":1}}]\n'
    )
    replies = s.take()
    assert isinstance(replies, list)
    by_id = {r["id"]: r for r in replies}
    assert set(by_id) == {1, None, 2, "x", 3}
    assert by_id[1]["result"] == {}
    assert by_id[None]["error"]["code"] == -32600
    assert by_id[2]["error"]["code"] == -32601
    assert by_id[3]["result"]["params"] == {"a": 1}


def test_batches_of_notifications_get_no_answer(s: Sidecar) -> None:
    s.raw(b'[{"method":"test/ping"},{"method":"no/such"}]\n')
    assert s.call("test/ping") == {}


def test_an_id_that_is_in_flight_is_refused(s: Sidecar) -> None:
    s.send("test/wait", id="same")
    error = s.error("test/ping", id="same")
    assert (error["code"], error["data"]["kind"]) == (-32600, "invalidRequest")
    s.send("test/open", id="gate")
    assert {s.take()["id"], s.take()["id"]} == {"same", "gate"}
    assert s.call("test/ping", id="same") == {}


def test_one_and_text_one_are_two_ids(s: Sidecar) -> None:
    s.raw(b'{"id":1,"method":"test/slow","params":{"seconds":0.05}}\n{"id":"1","method":"test/ping"}\n')
    found = [s.take() for _ in range(3)]
    assert sorted(json.dumps(m["id"]) for m in found if "id" in m) == ['"1"', "1"]
    assert all("result" in m for m in found if "id" in m)


def test_a_first_batch_may_hold_initialize(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d", jsonrpc=False) as s:
        s.raw(
            json.dumps([{"id": 1, "method": "initialize", "params": HELLO}, {"id": 2, "method": "test/ping"}]).encode()
            + b"\n"
        )
        assert [r["id"] for r in s.take()] == [1, 2]
        assert s.close() == 0
