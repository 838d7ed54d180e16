"""The session: initialize, cancel, progress, caps, order, shutdown; on the real process."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.wire.process import HELLO, Sidecar


def test_the_initialize_result_is_exactly_the_contract(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        result = s.initialize()
        assert set(result) == {
            "serverInfo",
            "platform",
            "capabilities",
            "dataRoot",
            "bootId",
            "sqliteVersion",
        }
        assert result["serverInfo"] == {
            "name": "app-server",
            "title": "Lockstitch",
            "version": "0.1.0",
            "protocolVersion": "appserver.v0",
        }
        assert result["platform"]["family"] == "desktop"
        assert result["platform"]["os"] in ("linux", "macos", "windows")
        assert set(result["capabilities"]) == {
            "agentSession",
            "capabilityDiscovery",
            "artifact",
            "evidence",
            "workspace",
            "fileCheckpoint",
            "threadReplay",
            "threadSearch",
            "conversationImport",
        }
        assert set(result["capabilities"]["fileCheckpoint"]) == {"capture", "restore", "rewind"}
        assert result["dataRoot"] == {"path": str(tmp_path / "d"), "source": "argument"}
        assert result["bootId"].startswith("boot_")
        assert result["sqliteVersion"].startswith("3.")
        assert s.close() == 0


ODD_FIRST_MESSAGES: list[Any] = [
    {"id": "é", "method": "initialize", "params": HELLO},
    {"id": 1, "method": "initialize", "params": [HELLO]},
    {"id": 1, "method": "initialize", "params": {**HELLO, "capabilities": {"eventMethods": ["x"], "unknown": 1}}},
    {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "\ud800"}}},
]


@pytest.mark.parametrize("message", ODD_FIRST_MESSAGES)
def test_odd_but_good_first_messages_get_the_same_answer(tmp_path: Path, message: Any) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.raw(json.dumps(message).encode() + b"\n")
        reply = s.take()
        assert reply["id"] == message["id"]
        assert reply["result"]["serverInfo"]["name"] == "app-server"
        assert s.close() == 0


def test_bad_initialize_params_are_told_and_can_be_mended(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        assert s.error("initialize")["code"] == -32602
        assert s.error("initialize", {"clientInfo": {"name": 5}})["data"]["errors"][0]["path"] == "clientInfo.name"
        assert s.error("test/ping")["data"]["kind"] == "notInitialized"
        s.initialize()
        assert s.call("test/ping") == {}


def test_before_and_after_initialize(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        error = s.error("test/ping")
        assert (error["code"], error["data"]["kind"]) == (-32002, "notInitialized")
        assert s.error("shutdown")["code"] == -32002
        assert s.error("no/such")["code"] == -32002
        s.notify("test/store", {"text": "never"})
        s.send("initialize", HELLO, id="i")
        s.send("test/ping", id="between")  # before `initialized`
        assert [s.take()["id"], s.take()["id"]] == ["i", "between"]
        s.notify("initialized", {})
        error = s.error("initialize", HELLO)
        assert (error["code"], error["data"]["kind"]) == (-32003, "alreadyInitialized")
        assert s.close() == 0
    assert (tmp_path / "d/fake.txt").read_text() == "closed\n"


def test_everything_in_one_write_is_served(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        requests = [s.frame(s.message("test/ping", id=n)) for n in range(50)]
        s.raw(s.frame(s.message("initialize", HELLO, id="i")) + b"".join(requests))
        assert s.take()["id"] == "i"
        assert sorted(s.take()["id"] for _ in range(50)) == list(range(50))


def test_cancel(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        s.send("test/slow", id="one")
        assert s.take()["method"] == "fake/started"
        s.notify("$/cancelRequest", {"id": "one"})
        reply = s.take()
        assert (reply["id"], reply["error"]["code"]) == ("one", -32800)
        assert reply["error"]["data"]["kind"] == "requestCancelled"
        # unknown ids, odd ids, no id: nothing happens
        for params in ({"id": "gone"}, {"id": [1]}, {"id": None}, {}, None):
            s.notify("$/cancelRequest", params)
        assert s.call("$/cancelRequest", {"id": 5}) == {}
        # before its first step
        s.raw(
            s.frame(s.message("test/slow", id="two")) + s.frame(s.message("$/cancelRequest", {"id": "two"})),
        )
        assert s.take()["error"]["code"] == -32800
        # after the commit point the normal reply comes
        s.send("test/slow", {"commit": True, "seconds": 0.05}, id="three")
        assert s.take()["method"] == "fake/started"
        s.notify("$/cancelRequest", {"id": "three"})
        assert s.take() == {"jsonrpc": "2.0", "id": "three", "result": {"slept": True}}
        assert s.close() == 0


def test_progress_comes_before_the_reply_and_its_consequences_after(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        key = s.send("test/notify", {"progressToken": "p1"})
        found = [s.take() for _ in range(5)]
        assert [m["params"] for m in found[:3]] == [
            {"token": "p1", "value": {"kind": "begin", "total": 2}},
            {"token": "p1", "value": {"kind": "report", "current": 1}},
            {"token": "p1", "value": {"kind": "end", "message": "done"}},
        ]
        assert all(m["method"] == "$/progress" and "id" not in m for m in found[:3])
        assert found[3]["id"] == key
        assert found[4] == {"jsonrpc": "2.0", "method": "fake/after", "params": {"n": 1}}
        s.send("test/notify")  # no token, no progress
        assert "result" in s.take()


def test_opted_out_notifications_are_not_sent(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.initialize(capabilities={"optOutNotificationMethods": ["fake/after", "$/progress"]})
        s.send("test/notify", {"progressToken": 1})
        assert "result" in s.take()
        assert s.call("test/ping") == {}


def test_a_reply_above_the_clients_cap_is_refused(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.initialize(capabilities={"maxMessageBytes": 2000})
        assert len(s.call("test/big", {"bytes": 1900})["text"]) == 1900
        error = s.error("test/big", {"bytes": 2000})
        assert (error["code"], error["data"]["kind"]) == (-32600, "messageTooLarge")
        assert error["data"]["limit"] == 2000
        s.raw(
            b'[{"id":1,"method":"test/big","params":{"bytes":1200}},{"id":2,"method":"test/big","params":{"bytes":1200}}]\n'
        )
        raw = s.take_raw()
        assert len(raw) <= 2000
        assert sorted("result" in r for r in json.loads(raw)) == [False, True]


def test_operations_start_in_order_of_arrival(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.raw(s.frame(s.message("initialize", HELLO, id="i")))
        s.raw(b"".join(s.frame(s.message("test/order", {"n": n}, id=n)) for n in range(3000)))
        s.send("test/order", {"n": -1, "tell": True}, id="last")
        found = {m["id"]: m for m in (s.take() for _ in range(3002))}
        assert found["last"]["result"]["order"] == [*range(3000), -1]


def test_shutdown_drains_what_came_before(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        s.send("test/longRead", id="read")
        assert s.take()["method"] == "fake/started"
        s.raw(
            s.frame(s.message("test/slow", {"seconds": 0.1}, id="slow"))
            + s.frame(s.message("test/store", {"text": "kept"}, id="store"))
            + s.frame(s.message("shutdown", id="down"))
        )
        found = [m for m in (s.take() for _ in range(5)) if "id" in m]
        assert found[-1] == {"jsonrpc": "2.0", "id": "down", "result": {}}
        assert {m["id"] for m in found} == {"read", "slow", "store", "down"}
        assert next(m for m in found if m["id"] == "read")["error"]["code"] == -32800
        assert (tmp_path / "d/fake.txt").read_text() == "kept\n"
        assert s.close() == 0
    assert (tmp_path / "d/fake.txt").read_text() == "kept\nclosed\n"


def test_two_shutdowns_do_not_wait_for_each_other(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d") as s:
        s.initialize()
        s.raw(
            b"".join(s.frame(s.message("shutdown", id=n)) for n in range(5)) + s.frame(s.message("test/wait", id="w"))
        )
        assert sorted(s.take()["id"] for _ in range(5)) == list(range(5))
        s.send("test/open", id="o")
        assert {s.take()["id"], s.take()["id"]} == {"w", "o"}
        assert s.close() == 0


def test_shutdown_says_so_if_something_could_not_be_stored(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d", env={"FAKE_DRAIN": "fails"}) as s:
        s.initialize()
        assert s.error("shutdown")["code"] == -32030
        assert s.close() == 70


@pytest.mark.parametrize(("how", "kind"), [("fails", "storageFailed"), ("cannot be made", "internalError")])
def test_a_runtime_that_cannot_start_answers_every_request(tmp_path: Path, how: str, kind: str) -> None:
    with Sidecar(tmp_path / "d", env={"FAKE_START": how}) as s:
        s.initialize()
        for _ in range(3):
            assert s.error("test/ping")["data"]["kind"] == kind
        assert s.call("shutdown") == {}
        assert s.close() == 0


def test_stdout_carries_messages_only(tmp_path: Path) -> None:
    """Field report B50. Prints, warnings, raw writes to descriptor 1 and a child's output all go to stderr."""
    with Sidecar(tmp_path / "d", env={"PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1"}) as s:
        s.initialize()
        assert s.call("test/print") == {"child": 0}
        s.process.stdin.close()
        assert s.rest() == []
        assert s.process.wait(10) == 0
        errors = s.process.stderr.read()
        for text in (b"a stray print", b"a stray write", b"a stray warning", b"child prints", b"child errs"):
            assert text in errors
        assert b"Traceback" not in errors


def test_the_log_is_private_and_holds_no_text_of_exceptions(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "d", "--log-level", "debug", "--backend", "acme", umask=0) as s:
        s.initialize()
        error_id = s.error("test/fail", {"how": "bug"})["data"]["errorId"]
        assert s.close() == 0
        log = tmp_path / "d/log/sidecar.log"
        assert error_id in log.read_text()
        assert "ValueError" in log.read_text()
        assert "--backend acme" in log.read_text()
        assert "secret-word" not in log.read_text() + s.process.stderr.read().decode()
        for path, mode in ((tmp_path / "d", 0o700), (log.parent, 0o700), (log, 0o600)):
            assert stat.S_IMODE(path.stat().st_mode) == mode, path


def test_nothing_heavy_before_the_first_reply(tmp_path: Path) -> None:
    """While the process waits for its first message, none of the heavy modules is loaded."""
    code = (
        "import sys, os\n"
        "from lockstitch.rpc import doorstep, serve as s\n"
        "from lockstitch.settings import parse_arguments, settings_of_process\n"
        "settings = settings_of_process(parse_arguments(sys.argv[1:]))\n"
        "def stop(*_): raise SystemExit\n"
        "real = s.open_connection\n"
        "def opened(*args):\n"
        "    real(*args)\n"
        "    os.write(2, ' '.join(sys.modules).encode())\n"
        "    os._exit(0)\n"
        "s.open_connection = opened\n"
        "s.serve(settings, stop)\n"
    )
    command = [sys.executable, "-S", "-c", code]
    site = next(path for path in sys.path if path.endswith("site-packages"))
    path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), "sidecar", "protocol", site])
    with Sidecar(tmp_path / "d", command=command, env={"PYTHONPATH": path}) as s:
        s.send("initialize", HELLO)
        assert s.take()["result"]["bootId"]
        loaded = set(s.process.stderr.read().decode().split())
        heavy = {"asyncio", "anyio", "pydantic", "jsonrpcserver", "msgspec", "logging", "re", "enum", "json", "typing"}
        assert loaded & heavy == set()
        assert "apsw" in loaded
