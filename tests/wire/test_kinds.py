"""CONTRACT section 1, the error table: each kind that a well-meaning host can meet on one connection."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.wire.host import Host

from lockstitch_protocol.methods import METHODS
from lockstitch_protocol.retired import RETIRED_METHODS

covers = pytest.mark.covers


@covers("initialize", "initialized", "server/status", "shutdown", "notInitialized", "alreadyInitialized", "exit")
def test_the_life_of_a_connection(tmp_path: Path) -> None:
    """initialize first, once; server/status; shutdown drains and answers; exit ends."""
    root = tmp_path.resolve()
    with Host(root, greet=False) as host:
        host.refused("notInitialized", "thread/list")
        hello = host.call("initialize", clientInfo={"name": "x"}, capabilities=None)
        assert hello["serverInfo"]["name"] == "app-server" and hello["serverInfo"]["protocolVersion"] == "appserver.v0"
        assert hello["dataRoot"] == {"path": str(root / "data"), "source": "argument"}
        assert hello["capabilities"]["workspace"] is False and hello["bootId"]
        host.call("thread/list")
        host.signal("initialized")
        host.refused("alreadyInitialized", "initialize", clientInfo={"name": "x"})
        thread = host.thread()
        status = host.call("server/status")
        assert status["bootId"] == hello["bootId"] and status["dataRoot"] == str(root / "data")
        assert [p["bootId"] for p in status["processes"]] == [hello["bootId"]] and status["openThreads"] == 1
        host.append(thread, None, ("acme.x", {}))
        assert host.call("shutdown") == {}
        host.signal("exit")
        assert host.process.wait(30) == 0
        host.kill()


@covers("parseError", "invalidRequest", "tooDeep", "methodNotFound", "methodRetired", "invalidParams")
def test_malformed_requests(host: Host) -> None:
    """Each is answered, and the next request works."""
    host.write_bytes(b"{nope\n")
    assert host.reply(None)["error"]["data"]["kind"] == "parseError"
    host.write_bytes(b'{"id":"seven","method":7}\n')
    assert host.reply("seven")["error"]["data"]["kind"] == "invalidRequest"
    host.write_bytes(b'{"id":"deep","method":"thread/list","params":{"x":' + b"[" * 300 + b"]" * 300 + b"}}\n")
    assert host.any_reply("deep")["error"]["data"]["kind"] == "tooDeep"
    host.refused("methodNotFound", "no/such")
    for method, replacement in RETIRED_METHODS.items():
        assert host.refused("methodRetired", method).data["replacement"] == replacement
    for method in METHODS:
        if METHODS[method].params.model_fields and not METHODS[method].notification and method != "initialize":
            id_ = host.send(method, [1])
            assert host.reply(id_)["error"]["data"]["kind"] == "invalidParams", method
    assert host.call("thread/list", limit=1)["data"] == []


def test_every_required_param_is_named(host: Host) -> None:
    """-32602: data.errors names each required field that is missing, for every method."""
    for name, method in METHODS.items():
        required = [field for field in method.params.model_fields.values() if field.is_required()]
        if not required or method.notification or name == "initialize":
            continue
        error = host.refused("invalidParams", name)
        assert {problem["path"] for problem in error.data["errors"]} >= {
            str(field.alias) for field in required if field.alias
        }, name
        assert all(problem["message"] == "is required" for problem in error.data["errors"]), error.data


@covers("requestCancelled", "$/cancelRequest")
def test_cancel(host: Host) -> None:
    """$/cancelRequest {id} cancels what is not being stored yet; the normal reply comes otherwise."""
    outcomes = set()
    for _ in range(40):
        ids = [host.send("thread/list", {"limit": 500}) for _ in range(20)]
        for id_ in ids:
            host.signal("$/cancelRequest", {"id": id_})
        outcomes |= {"result" if "result" in r else r["error"]["data"]["kind"] for r in map(host.reply, ids)}
        if "requestCancelled" in outcomes:
            break
    assert outcomes <= {"result", "requestCancelled"} and "requestCancelled" in outcomes
    host.signal("$/cancelRequest", {"id": "unknown"})


@covers("messageTooLarge")
def test_a_message_that_is_too_large(tmp_path: Path) -> None:
    """A larger message is answered with messageTooLarge and skipped; the next one works."""
    with Host(tmp_path.resolve(), args=["--max-message-bytes", "100000"]) as host:
        host.write(json.loads(json.dumps({"id": "big", "method": "thread/list", "params": {"x": "y" * 200_000}})))
        assert host.reply("big")["error"]["data"]["kind"] == "messageTooLarge"
        assert host.call("thread/list")["data"] == []


@covers("storageFailed")
def test_a_rollout_that_cannot_be_written(host: Host) -> None:
    """storage…: data.path, data.errno; nothing was changed."""
    thread = host.thread()
    path = Path(host.read(thread)["path"])
    kept = path.with_suffix(".kept")
    path.rename(kept)
    path.mkdir()
    try:
        error = host.refused(
            "storageFailed",
            "agentSession/runtimeEvents/append",
            sessionId=thread,
            runtimeEvents=[{"type": "acme.x", "payload": {}}],
        )
        assert error.code == -32030 and error.data["path"]
        other = host.thread()
        host.append(other, None, ("acme.x", {}))
    finally:
        path.rmdir()
        kept.rename(path)
    host.append(thread, None, ("acme.x", {}))
    assert [e["type"] for e in host.events(thread)] == ["thread.started", "acme.x"]
