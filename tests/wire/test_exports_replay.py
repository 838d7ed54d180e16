"""CONTRACT section 8: thread/replay tells what is recorded, in order, and does nothing again."""

from __future__ import annotations

import json
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.wire.host import Host

covers = pytest.mark.covers


def replayed(host: Host, replay_id: str) -> list[dict[str, Any]]:
    """What one replay told, in the order of its coming."""
    mine = [p["event"] for m, p in host.unread if m == "thread/replay/event" and p["replayId"] == replay_id]
    for _ in mine:
        host.heard("thread/replay/event", replayId=replay_id)
    return mine


def worked(host: Host, workspace: Path) -> str:
    """A thread whose turn ran a command and wrote a file."""
    thread = host.thread(cwd=str(workspace))
    turn = host.turn(thread)
    host.append(
        thread,
        turn,
        ("command.started", {"itemId": "c", "command": "touch done"}),
        ("command.exited", {"itemId": "c", "exitCode": 0, "aggregatedOutput": "ok\n"}),
        ("artifact.snapshot", {"path": "a.txt", "content": "x\n", "beforeAbsent": True}),
        ("turn.completed", {}),
    )
    return thread


@covers("thread/replay", "thread/replay/event", "threadNotFound", "invalidParams")
def test_events_come_in_order_before_the_result(host: Host, workspace: Path) -> None:
    """thread/replay: the events of thread/events/list; afterSequence and untilSequence bound them."""
    thread = worked(host, workspace)
    events = host.events(thread)
    result = host.call("thread/replay", threadId=thread)
    told = replayed(host, result["replayId"])
    assert told == events
    assert (result["eventCount"], result["firstSequence"], result["lastSequence"]) == (len(events), 1, len(events))
    raw = json.loads(host.raw_reply("thread/events/list", threadId=thread).decode())["result"]["data"]
    lines = [json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" for event in raw]
    assert result["digest"] == sha256(b"".join(lines)).hexdigest()
    part = host.call("thread/replay", threadId=thread, afterSequence=2, untilSequence=4)
    assert replayed(host, part["replayId"]) == events[2:4]
    assert (part["eventCount"], part["firstSequence"], part["lastSequence"]) == (2, 3, 4)
    none = host.call("thread/replay", threadId=thread, afterSequence=1000)
    assert none["eventCount"] == 0 and "firstSequence" not in none and none["digest"] == sha256(b"").hexdigest()
    host.refused("threadNotFound", "thread/replay", threadId="none")
    for speed in (0, -1, "fast"):
        host.refused("invalidParams", "thread/replay", threadId=thread, speed=speed)


def test_b34_a_replay_does_nothing_again(host: Host, place: Path, workspace: Path) -> None:
    """B34: finished side effects are reported as done; no command is run, no file or rollout is written."""
    thread = worked(host, workspace)
    (workspace / "a.txt").write_bytes(b"mine now\n")
    rollout = next((place / "data" / "sessions").rglob(f"*{thread}.jsonl"))
    before = rollout.read_bytes(), (workspace / "a.txt").stat().st_mtime_ns, sorted(workspace.rglob("*"))
    result = host.call("thread/replay", threadId=thread)
    command = [event for event in replayed(host, result["replayId"]) if event["type"] == "command.exited"]
    assert command[0]["payload"]["item"]["status"] == "completed"
    assert (rollout.read_bytes(), (workspace / "a.txt").stat().st_mtime_ns, sorted(workspace.rglob("*"))) == before
    assert (workspace / "a.txt").read_bytes() == b"mine now\n" and not (workspace / "done").exists()
    assert host.events(thread)[-1]["type"] == "turn.completed"


@covers("requestCancelled")
def test_speed_keeps_the_gaps_and_a_cancel_ends_it(host: Host) -> None:
    """speed: recorded gaps, capped at 2 s; several replays at once, each can be cancelled."""
    thread = host.thread()
    turn = host.turn(thread)
    at = ["2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.400000Z", "2026-01-01T09:00:00.000000Z"]
    host.append(thread, turn, *({"type": "acme.step", "payload": {"n": n}, "at": when} for n, when in enumerate(at)))
    first = host.events(thread, types=["acme.step"])[0]["sequence"]
    began = time.monotonic()
    result = host.call("thread/replay", threadId=thread, afterSequence=first - 1, untilSequence=first + 1, speed=2)
    assert 0.2 <= time.monotonic() - began < 1.5 and len(replayed(host, result["replayId"])) == 2
    slow = host.send("thread/replay", {"threadId": thread, "afterSequence": first - 1, "speed": 0.1})
    quick = host.call("thread/replay", threadId=thread)
    assert len(replayed(host, quick["replayId"])) == quick["eventCount"]
    host.signal("$/cancelRequest", {"id": slow})
    assert host.reply(slow)["error"]["data"]["kind"] == "requestCancelled"
    assert time.monotonic() - began < 10


def test_an_event_that_the_client_cannot_take_is_said_to_be_left_out(tmp_path: Path) -> None:
    """maxMessageBytes: such an event becomes eventsDropped, the others come; progress is told."""
    with Host(tmp_path) as host:
        thread = host.thread()
        host.append(thread, None, ("acme.big", {"text": "x" * 5000}), ("acme.small", {}))
    with Host(tmp_path, maxMessageBytes=4000) as host:
        result = host.call("thread/replay", threadId=thread, progressToken="p")
        told = replayed(host, result["replayId"])
        assert [event["type"] for event in told] == ["thread.started", "acme.small"] and result["eventCount"] == 2
        assert host.heard("agentSession/eventsDropped", afterSequence=1)
        assert host.heard("$/progress", token="p")["value"]["kind"] == "begin"
