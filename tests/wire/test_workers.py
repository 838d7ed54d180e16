"""CONTRACT section 7: workers under leases, boots, bounded retry; all of it as events of their thread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.wire.host import Host, Refused

covers = pytest.mark.covers


def listed(host: Host, **params: Any) -> list[tuple[str, str]]:
    return [(worker["workerId"], worker["status"]) for worker in host.pages("worker/list", "data", **params)]


@covers("worker/start", "worker/heartbeat", "worker/finish", "worker/list", "workerExists", "workerNotFound")
@covers("worker.started", "worker.heartbeat", "worker.completed", "invalidRequest")
def test_a_life_under_a_lease(host: Host) -> None:
    """start, heartbeat, finish: a Worker each; what ended is over, told twice is told once."""
    thread = host.thread()
    turn = host.turn(thread)
    made = host.call("worker/start", threadId=thread, workerId="w1", kind="review", leaseMs=60_000)
    assert (made["turnId"], made["attempt"], made["maxAttempts"], made["status"]) == (turn, 1, 3, "active")
    assert made["bootId"] == host.hello["bootId"] and made["leaseExpiresAt"] > made["startedAt"]
    host.refused("workerExists", "worker/start", threadId=thread, workerId="W1", kind="review")
    later = host.call("worker/heartbeat", threadId=thread, workerId="w1")
    assert later["leaseExpiresAt"] > made["leaseExpiresAt"] and later["startedAt"] == made["startedAt"]
    other = host.call("worker/start", threadId=thread, kind="search")["workerId"]
    host.append(thread, turn, ("turn.completed", {}))
    finish = {"threadId": thread, "workerId": "w1", "status": "completed", "result": {"n": 2**70, "found": [None]}}
    done = host.call("worker/finish", **finish)
    assert done["status"] == "completed" and done["finishedAt"] >= later["startedAt"]
    before = host.read(thread)["lastSequence"]
    assert host.call("worker/finish", **finish) == done and host.read(thread)["lastSequence"] == before
    for method in ("worker/heartbeat", "worker/retry"):
        assert host.refused("invalidRequest", method, threadId=thread, workerId="w1").data["status"] == "completed"
    host.refused("invalidRequest", "worker/finish", threadId=thread, workerId="w1", status="failed")
    host.refused("workerNotFound", "worker/heartbeat", threadId=thread, workerId="none")
    host.refused("threadNotFound", "worker/start", threadId="none", kind="review")
    host.refused("turnNotFound", "worker/start", threadId=thread, turnId="none", kind="review")
    host.refused("turnTerminal", "worker/start", threadId=thread, turnId=turn, kind="review")
    for wrong in ({"kind": ""}, {"kind": "a", "leaseMs": 0}, {"kind": "a", "maxAttempts": 0}, {}):
        host.refused("invalidParams", "worker/start", threadId=thread, **wrong)
    assert listed(host, threadId=thread) == [(other, "active"), ("w1", "completed")]
    assert listed(host, threadId=thread, limit=1, status="completed") == [("w1", "completed")]
    assert {("w1", "completed"), (other, "active")} <= set(listed(host))
    types = [event["type"] for event in host.events(thread) if event["type"].startswith("worker.")]
    assert types == ["worker.started", "worker.heartbeat", "worker.started", "worker.completed"]
    outside = host.call("worker/start", threadId=thread, kind="search")
    assert "turnId" not in outside
    host.call("thread/archive", threadId=thread)
    host.refused("threadArchived", "worker/start", threadId=thread, kind="search")


@covers("worker/retry", "attemptsExhausted", "worker.failed", "worker.retried", "worker.interrupted")
def test_lost_leases_and_bounded_retry(host: Host) -> None:
    """A lease that ran out: interrupted; a retry begins the next attempt, at most maxAttempts of them."""
    thread = host.thread()
    made = host.call("worker/start", threadId=thread, workerId="w", kind="a", leaseMs=1, maxAttempts=2)
    while listed(host, threadId=thread) != [("w", "interrupted")]:
        pass
    (event,) = [event for event in host.events(thread) if event["type"] == "worker.interrupted"]
    assert event["payload"] == {"workerId": "w", "reason": "leaseExpired", "bootId": host.hello["bootId"]}
    assert event["timestamp"] == made["leaseExpiresAt"]
    assert listed(host, threadId=thread, status="active") == []
    assert host.refused("invalidRequest", "worker/heartbeat", threadId=thread, workerId="w").data["workerId"] == "w"
    again = host.call("worker/retry", threadId=thread, workerId="w")
    assert (again["attempt"], again["startedAt"]) == (2, made["startedAt"])
    while listed(host, threadId=thread) != [("w", "interrupted")]:
        pass
    assert host.refused("attemptsExhausted", "worker/retry", threadId=thread, workerId="w").data["maxAttempts"] == 2
    host.call("worker/start", threadId=thread, workerId="f", kind="a")
    failed = host.call("worker/finish", threadId=thread, workerId="f", status="failed", error="no luck")
    assert failed["status"] == "failed"
    retried = host.call("worker/retry", threadId=thread, workerId="f")
    assert retried["status"] == "active" and "finishedAt" not in retried
    host.refused("invalidRequest", "worker/retry", threadId=thread, workerId="f")
    assert [event["type"] for event in host.events(thread)][-4:] == [
        "worker.interrupted",
        "worker.started",
        "worker.failed",
        "worker.retried",
    ]


@covers("worker.cancelled")
def test_hosts_may_send_the_events_themselves(host: Host) -> None:
    """worker.* in an append: the same rules, and leases, boots and attempts in the sidecar's own words."""
    thread = host.thread()
    stored = host.append(
        thread,
        None,
        ("worker.started", {"workerId": "w", "kind": "a", "attempt": 7, "bootId": "mine", "label": "kept"}),
        ("worker.heartbeat", {"workerId": "w"}),
        ("worker.cancelled", {"workerId": "w"}),
        ("worker.custom", {"anything": 1}),
    )
    payload = stored[0]["payload"]
    assert (payload["attempt"], payload["maxAttempts"], payload["leaseMs"], payload["label"]) == (1, 3, 30_000, "kept")
    assert payload["bootId"] == host.hello["bootId"] and listed(host, threadId=thread) == [("w", "cancelled")]
    for event, kind in (
        (("worker.started", {"workerId": "w", "kind": "a"}), "workerExists"),
        (("worker.heartbeat", {"workerId": "x"}), "workerNotFound"),
        (("worker.retried", {"workerId": "w"}), "invalidRequest"),
        (("worker.started", {"workerId": "w"}), "invalidParams"),
        (("worker.interrupted", {"workerId": "w"}), "invalidParams"),
    ):
        with pytest.raises(Refused) as caught:
            host.append(thread, None, ("acme.note", {}), event)
        assert caught.value.kind == kind
    assert [event["type"] for event in host.events(thread)][-1] == "worker.custom", "all or nothing"


def test_dead_processes_forks_and_receipts(tmp_path: Path) -> None:
    """A worker of a dead process is interrupted, before anybody asks; forks have none; receipts do, the same always."""
    with Host(tmp_path) as host:
        thread = host.thread()
        turn = host.turn(thread)
        host.call("worker/start", threadId=thread, workerId="lost", kind="a", leaseMs=600_000)
        host.call("worker/start", threadId=thread, workerId="done", kind="b", leaseMs=600_000)
        host.call("worker/finish", threadId=thread, workerId="done", status="completed")
        host.append(thread, turn, ("turn.completed", {}))
        fork = host.call("thread/fork", threadId=thread)["thread"]["id"]
        assert listed(host, threadId=fork) == []
        with Host(tmp_path) as other:
            assert listed(other, threadId=thread) == [("done", "completed"), ("lost", "active")]
        host.kill()
    with Host(tmp_path) as host:
        events = host.events(thread)
        assert events[-1]["type"] == "worker.interrupted" and events[-1]["payload"]["reason"] == "processEnded"
        receipt = host.call("turn/receipt/read", threadId=thread, turnId=turn)
        assert receipt["counts"]["workers"] == 2 and [w["status"] for w in receipt["workers"]] == [
            "interrupted",
            "completed",
        ]
        known = host.call("worker/list")
        raw = host.raw_reply("turn/receipt/read", threadId=thread, turnId=turn).split(b'"result"')[1]
    for path in (tmp_path / "data" / "sqlite").iterdir():
        path.unlink()
    with Host(tmp_path) as host:
        assert host.raw_reply("turn/receipt/read", threadId=thread, turnId=turn).split(b'"result"')[1] == raw
        assert host.call("worker/list") == known
