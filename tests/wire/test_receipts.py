"""CONTRACT section 8: a receipt says what a turn did from durable facts only, and the same bytes every time."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from tests.wire.host import Host

USAGE = {"inputTokens": 5, "cachedInputTokens": 0, "outputTokens": 2, "reasoningOutputTokens": 0}


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def receipt(host: Host, thread: str, turn: str) -> dict[str, Any]:
    return host.call("turn/receipt/read", threadId=thread, turnId=turn)


def wrote(path: str, before: str | None, after: str | None) -> tuple[str, dict[str, Any]]:
    was = {"beforeAbsent": True} if before is None else {"previousContent": before}
    return "artifact.snapshot", {"path": path, **was, **({"op": "deleted"} if after is None else {"content": after})}


def test_a_file_is_named_once_from_before_to_after(host: Host) -> None:
    """Several changes of one file are one line; what was made and removed in the turn is deleted, with no sides."""
    thread = host.thread()
    turn = host.turn(thread)
    host.append(
        thread,
        turn,
        wrote("b", "1\n", "2\n"),
        wrote("a", None, "x\n"),
        wrote("b", "2\n", "2\n3\n"),
        wrote("gone", None, "x\n"),
        wrote("gone", "x\n", None),
        wrote("a", "x\n", "x\ny\n"),
        wrote("c", "old\n", None),
        ("turn.completed", {}),
    )
    changed = receipt(host, thread, turn)["filesChanged"]
    assert changed == [
        {"path": "a", "op": "created", "additions": 2, "deletions": 0, "afterSha256": sha("x\ny\n")},
        {
            "path": "b",
            "op": "modified",
            "additions": 2,
            "deletions": 1,
            "beforeSha256": sha("1\n"),
            "afterSha256": sha("2\n3\n"),
        },
        {"path": "c", "op": "deleted", "additions": 0, "deletions": 1, "beforeSha256": sha("old\n")},
        {"path": "gone", "op": "deleted", "additions": 1, "deletions": 1},
    ]


def test_what_the_user_did_meanwhile_is_not_the_turns_work(host: Host) -> None:
    """An edit from outside is a version of its own, and stands in no receipt as what the agent did."""
    thread = host.thread()
    first = host.turn(thread)
    host.append(thread, first, wrote("a", None, "agent\n"), ("turn.completed", {}))
    turn = host.turn(thread)
    host.append(thread, turn, wrote("a", "user\n", "both\n"), ("turn.completed", {}))
    assert [point["source"] for point in host.checkpoints(thread, turnId=turn)] == ["agent", "external"]
    (changed,) = receipt(host, thread, turn)["filesChanged"]
    assert (changed["op"], changed["beforeSha256"], changed["afterSha256"]) == (
        "modified",
        sha("user\n"),
        sha("both\n"),
    )


def test_a_cost_is_known_if_that_of_every_request_is(host: Host) -> None:
    """One request without a cost: the sum of the others is not what the turn cost."""
    thread = host.thread()
    turn = host.turn(thread)
    host.append(thread, turn, ("provider.usage", {**USAGE, "costUsd": 0.25}))
    open_ = receipt(host, thread, turn)
    assert open_["cost"] == 0.25 and open_["status"] == "inProgress"
    assert set(open_["unavailable"]) == {"completedAt", "durationMs", "route", "authority"}
    host.append(thread, turn, ("provider.usage", USAGE), ("turn.completed", {}))
    found = receipt(host, thread, turn)
    assert found["cost"] == "unknown" and set(found["unavailable"]) == {"cost", "route", "authority"}
    assert found["usage"]["inputTokens"] == 10


def test_the_same_bytes_after_a_restart_and_a_rebuild(tmp_path: Path) -> None:
    """Also of a turn that the process did not survive: the gap is explained, the interruption named."""
    with Host(tmp_path) as host:
        thread = host.thread()
        turn = host.turn(thread)
        boot = host.hello["bootId"]
        host.append(
            thread,
            turn,
            ("command.started", {"itemId": "cut", "command": "sleep 100"}),
            ("route.selected", {"provider": "p", "model": "m"}),
            wrote("a", None, "x\n"),
        )
        host.kill()
    with Host(tmp_path) as host:
        found = receipt(host, thread, turn)
        assert found["status"] == "interrupted" and found["interruption"] == {"reason": "processEnded", "bootId": boot}
        assert [gap["itemId"] for gap in found["gaps"]] == ["cut"] and found["gaps"][0]["reason"]
        assert host.item(thread, "cut")["interrupted"] and host.item(thread, "cut")["status"] == "failed"
        raw = _bytes(host, thread, turn)
    for path in (tmp_path / "data" / "sqlite").iterdir():
        path.unlink()
    with Host(tmp_path) as host:
        assert _bytes(host, thread, turn) == raw


def _bytes(host: Host, thread: str, turn: str) -> bytes:
    return host.raw_reply("turn/receipt/read", threadId=thread, turnId=turn).partition(b'"result":')[2]
