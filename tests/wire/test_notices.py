"""CONTRACT sections 4 and 9: who is told what, once, in order, after the reply that caused it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.wire.host import Host, Notice

covers = pytest.mark.covers
APPEND = "agentSession/runtimeEvents/append"


def told_sequences(told: list[Notice]) -> list[int]:
    return [
        p["event"]["sequence"] if "event" in p else p["sequence"] for _, p in told if "sequence" in p or "event" in p
    ]


def brief(told: list[Notice]) -> list[str]:
    return [p["event"]["type"] if m == "agentSession/event" else m for m, p in told]


def lively(host: Host, thread: str, turn: str) -> None:
    """One event of every manner."""
    host.append(
        thread,
        turn,
        ("item.started", {"item": {"type": "commandExecution", "id": f"c-{turn}", "command": "ls"}}),
        ("acme.x", {"n": 1}),
        ("item.completed", {"item": {"type": "commandExecution", "id": f"c-{turn}", "command": "ls"}}),
        ("plan.final", {"text": "p", "itemId": f"p-{turn}"}),
        ("action.required", {"requestId": "r"}),
        ("action.resolved", {"requestId": "r"}),
        ("artifact.snapshot", {"path": f"{turn}.txt", "content": "x"}),
        ("provider.usage", {"inputTokens": 1, "cachedInputTokens": 0, "outputTokens": 1, "reasoningOutputTokens": 0}),
        ("turn.completed", {}),
    )


EXPECTED = [
    "turn/started",
    "item/started",
    "item/completed",
    "item/started",
    "acme.x",
    "item/completed",
    "item/started",
    "item/completed",
    "action.required",
    "action.resolved",
    "item/started",
    "item/completed",
    "thread/tokenUsage/updated",
    "turn/completed",
]


@covers("turn/started", "item/started", "item/completed", "agentSession/event", "thread/tokenUsage/updated")
@covers("turn/completed")
def test_every_event_is_told_once_in_order(host: Host) -> None:
    """Once each, in order, each with sequence; agentSession/event for every event that none of these covers."""
    thread = host.thread()
    host.notices(thread)
    turn = host.turn(thread)
    lively(host, thread, turn)
    told = host.notices(thread)
    assert brief(told) == EXPECTED
    sequences = told_sequences(told)
    assert sequences == sorted(sequences)
    last = host.read(thread)["lastSequence"]
    assert set(sequences) == set(range(3, last)), "each of them, and the mark before and after"


def test_the_reply_comes_before_what_it_causes(host: Host) -> None:
    """The reply to a request is written before the notifications that it causes."""
    host.raw = []
    thread = host.thread()
    turn = host.turn(thread)
    lively(host, thread, turn)
    host.call("thread/archive", threadId=thread)
    host.call("thread/unarchive", threadId=thread)
    host.call("thread/delete", threadId=thread)
    host.heard("thread/deleted", threadId=thread)
    lines, host.raw = host.raw or [], None
    kinds = [b'"method"' in line for line in lines]
    names = [line.split(b'"method":"')[1].split(b'"')[0] if b'"method"' in line else b"reply" for line in lines]
    assert names[:3] == [b"reply", b"thread/started", b"reply"]
    for cause, effect in (
        (1, b"turn/started"),
        (2, b"turn/completed"),
        (3, b"thread/archived"),
        (4, b"thread/unarchived"),
        (5, b"thread/deleted"),
    ):
        replies = [number for number, is_notice in enumerate(kinds) if not is_notice]
        assert replies[cause] < names.index(effect), effect


@covers("thread/resume", "thread/unsubscribe", "turn.interrupted")
def test_resume_tells_what_was_missed_once_before_live_ones(tmp_path: Path) -> None:
    """With afterSequence, the missed events follow as notifications before live ones, once, in order."""
    root = tmp_path.resolve()
    with Host(root) as host:
        thread = host.thread()
        turn = host.turn(thread)
        lively(host, thread, turn)
        second = host.turn(thread)
        host.append(thread, second, ("message.delta", {"itemId": "m", "delta": "half "}), ("acme.y", {}))
        direct = host.notices(thread)
        host.kill()
    with Host(root) as host:
        last = host.read(thread)["lastSequence"]
        ids = [host.send("thread/resume", {"threadId": thread, "afterSequence": 1, "excludeTurns": True})]
        for n in range(20):
            ids.append(
                host.send(APPEND, {"sessionId": thread, "runtimeEvents": [{"type": "acme.live", "payload": {"n": n}}]})
            )
        for id_ in ids:
            host.result(id_)
        told = host.notices(thread)
        sequences = told_sequences(told)
        stored = {e["sequence"] for e in host.events(thread, afterSequence=1) if e["type"] != "message.delta"}
        assert sequences == sorted(sequences) and set(sequences) == stored - {last + 21}
        without = [n for n in direct if n[0] != "thread/started"]
        assert brief(told)[: len(without)] == brief(without), "missed ones read as live ones did"
        assert brief(told)[-20:] == ["acme.live"] * 20 and "turn/completed" in brief(told)[len(without) :]
        assert host.call("thread/unsubscribe", threadId=thread) == {}
        host.append(thread, None, ("acme.unheard", {}))
        host.call("thread/resume", threadId=thread)
        assert host.notices(thread) == []
        host.call("thread/resume", threadId=thread)
        host.append(thread, None, ("acme.heard", {}))
        assert brief(host.notices(thread)) == ["acme.heard"], "resumed twice is told once"
        host.call("thread/unsubscribe", threadId=thread)
        host.call("thread/resume", threadId=thread, afterSequence=10_000)
        host.append(thread, None, ("acme.heard", {}))
        assert brief(host.notices(thread)) == ["acme.heard"]


@pytest.mark.parametrize("after", [0, 1, 2, 5, 9])
def test_resume_from_every_place(host: Host, after: int) -> None:
    """afterSequence: the first that is told is the one behind it."""
    thread = host.thread()
    turn = host.turn(thread)
    lively(host, thread, turn)
    host.notices(thread)
    host.call("thread/unsubscribe", threadId=thread.upper())
    last = host.read(thread)["lastSequence"]
    host.call("thread/resume", threadId=thread.upper(), afterSequence=after)
    told = host.notices(thread)
    assert set(told_sequences(told)) == set(range(after + 1, last + 1))
    if after == 0:
        assert told[0][0] == "thread/started"


def test_resume_mid_turn(host: Host) -> None:
    """A completed item that never started is announced as started first; also to who came late."""
    thread = host.thread()
    turn = host.turn(thread)
    host.append(
        thread,
        turn,
        ("command.started", {"itemId": "c", "command": "make"}),
        ("item.started", {"item": {"type": "mcpToolCall", "id": "t", "server": "s", "tool": "t"}}),
    )
    host.notices(thread)
    host.call("thread/unsubscribe", threadId=thread)
    host.call("thread/resume", threadId=thread)
    host.append(thread, turn, ("command.output", {"itemId": "c", "delta": "ok\n"}))
    host.append(thread, turn, ("command.exited", {"itemId": "c", "exitCode": 0}), ("turn.completed", {}))
    told = host.notices(thread)
    mine = [(m, p["item"]["command"]) for m, p in told if p.get("item", {}).get("id") == "c"]
    assert mine == [("item/started", "make"), ("item/completed", "make")]
    assert [m for m, p in told if p.get("item", {}).get("id") == "t"] == ["item/started", "item/completed"]


@covers("thread/resume")
def test_resume_returns_the_thread(host: Host) -> None:
    """thread/resume {threadId, excludeTurns?, initialTurnsPage?} → as thread/start, initialTurnsPage?."""
    thread = host.thread(model="m", modelProvider="p")
    turns = []
    for n in range(3):
        turns.append(host.turn(thread, str(n)))
        host.append(thread, turns[-1], ("turn.completed", {}))
    found = host.call("thread/resume", threadId=thread)
    assert found["model"] == "m" and [t["id"] for t in found["thread"]["turns"]] == turns
    assert host.call("thread/resume", threadId=thread, excludeTurns=True)["thread"]["turns"] == []
    found = host.call("thread/resume", threadId=thread, initialTurnsPage={"limit": 2, "itemsView": "notLoaded"})
    page = found["initialTurnsPage"]
    assert found["thread"]["turns"] == [] and [t["id"] for t in page["data"]] == turns[:0:-1]
    rest = host.call("thread/turns/list", threadId=thread, cursor=page["nextCursor"])
    assert [t["id"] for t in rest["data"]] == turns[:1]
    host.refused("threadNotFound", "thread/resume", threadId="nope")
    host.refused("invalidParams", "thread/resume", threadId=thread, afterSequence=-1)
    host.refused("threadNotFound", "thread/unsubscribe", threadId="nope")


def test_only_those_who_watch_are_told(host: Host, place: Path) -> None:
    """To connections that started or resumed the thread: an append alone subscribes to nothing."""
    thread = host.thread()
    with Host(place) as other:
        other.append(thread, None, ("acme.x", {}))
        watched = other.thread()
        assert [n for n in other.notices(watched) if n[0] != "thread/started"] == []
        assert other.unread == []


def test_two_threads_are_told_apart(host: Host) -> None:
    """Two subscriptions of one connection do not mix."""
    one, two = host.thread(), host.thread()
    host.notices(one)
    host.notices(two)
    ids = []
    for n in range(30):
        for thread in (one, two):
            ids.append(
                host.send(APPEND, {"sessionId": thread, "runtimeEvents": [{"type": "acme.n", "payload": {"n": n}}]})
            )
    for id_ in ids:
        host.result(id_)
    for thread in (one, two):
        assert [p["event"]["payload"]["n"] for _, p in host.notices(thread)] == list(range(30))


def test_two_processes(host: Host, place: Path) -> None:
    """Two processes on one data root: each sees the other's events, once, in order, and may write."""
    thread = host.thread()
    host.notices(thread)
    with Host(place) as other:
        other.call("thread/resume", threadId=thread)
        for n in range(10):
            (host if n % 2 else other).append(thread, None, ("acme.n", {"n": n}))
        for process in (host, other):
            told = [p["event"]["payload"] for m, p in process.notices(thread) if p["event"]["type"] == "acme.n"]
            assert told == [{"n": n} for n in range(10)]
        turn = other.turn(thread)
        assert host.heard("turn/started", threadId=thread)["turn"]["id"] == turn
        host.append(thread, turn, ("turn.completed", {}))
        assert other.heard("turn/completed", threadId=thread)["turn"]["status"] == "completed"
        other.call("thread/archive", threadId=thread)
        host.heard("thread/archived", threadId=thread)
        other.call("thread/unarchive", threadId=thread)
        host.heard("thread/unarchived", threadId=thread)


def test_a_thread_deleted_by_another_process(host: Host, place: Path) -> None:
    """thread/deleted also comes when another process deleted it."""
    thread = host.thread()
    host.notices(thread)
    with Host(place) as other:
        other.call("thread/delete", threadId=thread)
        host.heard("thread/deleted", threadId=thread)


@pytest.mark.parametrize(
    "methods",
    [["item/started", "turn/started"], ["item/agentMessage/delta"], ["agentSession/event2", "thread/Started", "item"]],
)
def test_opted_out(tmp_path: Path, methods: list[str]) -> None:
    """optOutNotificationMethods switches off exact names."""
    with Host(tmp_path.resolve(), optOutNotificationMethods=methods) as host:
        thread = host.thread()
        turn = host.turn(thread)
        host.append(thread, turn, ("message.delta", {"itemId": "m", "delta": "x"}), ("acme.x", {}))
        lively(host, thread, turn)
        told = {method for method, _ in host.notices(thread)}
        everything = {
            "thread/started",
            "item/agentMessage/delta",
            "turn/started",
            "item/started",
            "item/completed",
            "thread/tokenUsage/updated",
            "turn/completed",
            "agentSession/event",
        }
        assert told == everything - set(methods)


@covers("agentSession/eventsDropped")
def test_a_notification_that_is_too_large(tmp_path: Path) -> None:
    """With maxMessageBytes a notification above it becomes eventsDropped {threadId, afterSequence}."""
    with Host(tmp_path.resolve(), maxMessageBytes=20_000) as host:
        thread = host.thread()
        host.notices(thread)
        last = host.read(thread)["lastSequence"]
        ids = [
            host.send(APPEND, {"sessionId": thread, "runtimeEvents": [{"type": "acme.x", "payload": {"t": text}}]})
            for text in ("a", "b" * 30_000, "c")
        ]
        for id_ in ids:
            host.reply(id_)
        told = host.notices(thread)
        assert brief(told) == ["acme.x", "agentSession/eventsDropped", "acme.x"]
        assert told[1][1] == {"threadId": thread, "afterSequence": last + 1}


def test_deltas_come_after_what_arrived_before(host: Host) -> None:
    """Delta notifications come after everything that arrived before them on the thread."""
    thread = host.thread()
    turn = host.turn(thread)
    host.notices(thread)
    ids = []
    for n in range(40):
        event: Any = {"type": "acme.n", "payload": {"n": n}}
        if n % 3:
            event = {"type": "message.delta", "payload": {"itemId": "m", "delta": f"{n}"}}
        ids.append(host.send(APPEND, {"sessionId": thread, "turnId": turn, "runtimeEvents": [event]}))
    for id_ in ids:
        host.result(id_)
    told = [n for n in host.notices(thread) if n[0] != "item/started"]
    words = [p["delta"] if "delta" in p else str(p["event"]["payload"]["n"]) for _, p in told]
    assert words == [str(n) for n in range(40)]


def test_a_late_watcher_of_streamed_text(host: Host, place: Path) -> None:
    """Who comes while text is streamed is told the segment whole, once it is stored; nothing twice."""
    thread = host.thread()
    turn = host.turn(thread)
    with Host(place) as other:
        host.append(thread, turn, ("message.delta", {"itemId": "m", "delta": "one "}))
        other.call("thread/resume", threadId=thread, afterSequence=3)
        host.append(thread, turn, ("message.delta", {"itemId": "m", "delta": "two "}))
        host.append(thread, turn, ("acme.sync", {}))
        host.append(thread, turn, ("message.delta", {"itemId": "m", "delta": "three"}), ("turn.completed", {}))
        for process in (host, other):
            told = process.notices(thread)
            assert "".join(p["delta"] for m, p in told if m == "item/agentMessage/delta") == "one two three"
            assert [p["item"]["text"] for m, p in told if m == "item/completed" and p["item"]["id"] == "m"] == [
                "one two three"
            ]


def test_a_thread_made_anew_while_the_old_one_is_deleted_is_watched(host: Host) -> None:
    """Both requests are sent at once. The subscription is the new thread's, and the old one's end is told first."""
    for _ in range(3):
        host.call("thread/start", threadId="again")
        one, two = host.send("thread/delete", {"threadId": "again"}), host.send("thread/start", {"threadId": "again"})
        host.result(one)
        host.result(two)
        host.append("again", None, ("host.note", {"text": "new"}))
        told = [(m, p.get("event", {}).get("sequence")) for m, p in host.notices("again")]
        assert told == [
            ("thread/started", None),
            ("thread/deleted", None),
            ("thread/started", None),
            ("agentSession/event", 2),
        ]
        host.call("thread/delete", threadId="again")
        host.heard("thread/deleted", threadId="again")
