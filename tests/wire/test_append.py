"""CONTRACT section 5: how events come in: all or nothing, retries, and what is kept of what was sent."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from tests.wire.host import Host

from lockstitch_protocol.retired import RETIRED_EVENTS

covers = pytest.mark.covers
APPEND = "agentSession/runtimeEvents/append"


def warning(text: str, **event: Any) -> dict[str, Any]:
    return {"type": "runtime.warning", "payload": {"message": text}, **event}


def refused(host: Host, kind: str, thread: str, *events: Any, **params: Any) -> Any:
    """An append that must fail and change nothing."""
    before = host.call("thread/events/list", threadId=thread)
    rollout = Path(host.read(thread)["path"]).read_bytes()
    error = host.refused(kind, APPEND, sessionId=thread, runtimeEvents=list(events), **params)
    assert host.call("thread/events/list", threadId=thread) == before, "a refused append left something behind"
    assert Path(host.read(thread)["path"]).read_bytes() == rollout
    return error


@covers(APPEND, "agentSession/event")
def test_the_reply_is_the_stored_events(host: Host) -> None:
    """→ {events: AgentEvent[]}: as many as were sent, in order, as they are listed afterwards. No resume needed."""
    thread = host.thread()
    found = host.append_result(thread, None, warning("a"), warning("b", eventId="mine"), warning("c", itemId="i1"))
    assert "duplicates" not in found
    events = found["events"]
    assert [e["sequence"] for e in events] == [2, 3, 4] and events[1]["eventId"] == "mine"
    assert events[2]["itemId"] == "i1"
    assert {e["threadId"] for e in events} == {e["sessionId"] for e in events} == {thread}
    assert host.events(thread)[1:] == events


@covers("invalidParams", "turnNotFound", "threadNotFound", "eventConflict")
def test_all_or_nothing(host: Host) -> None:
    """All or nothing: one event that is refused takes the others with it."""
    thread = host.thread()
    host.append(thread, None, warning("first", eventId="e1"))
    good = warning("x")
    assert refused(host, "invalidParams", thread).data["errors"][0]["path"] == "runtimeEvents"
    error = refused(host, "invalidParams", thread, good, {"type": "item.completed", "payload": {"item": {"id": "x"}}})
    assert error.data["errors"][0]["path"] == "runtimeEvents.1.payload.item.type"
    refused(host, "noActiveTurn", thread, good, {"type": "plan.final", "payload": {"text": "x"}})
    refused(host, "turnNotFound", thread, good, turnId="nope")
    refused(host, "eventConflict", thread, good, warning("other", eventId="E1"), good)
    refused(host, "invalidParams", thread, {"type": "turn.started", "payload": {}}, good, {"payload": {}})
    refused(
        host,
        "turnActive",
        thread,
        {"type": "turn.started", "payload": {"turnId": "a"}},
        {"type": "turn.started", "payload": {"turnId": "b"}},
    )
    refused(
        host, "pathRefused", thread, good, {"type": "artifact.snapshot", "payload": {"path": "../x", "content": "c"}}
    )
    host.refused("threadNotFound", APPEND, sessionId="nope", runtimeEvents=[good])


@pytest.mark.parametrize("name", ["eventType", "event_type"])
def test_other_spellings_of_type(host: Host, name: str) -> None:
    """`type` also as `eventType`, `event_type`."""
    thread = host.thread()
    assert host.append(thread, None, {name: "acme.x", "payload": {}})[0]["type"] == "acme.x"


def test_payload_may_be_left_out(host: Host) -> None:
    """Optional is absent or null."""
    thread = host.thread()
    stored = host.append(thread, None, {"type": "acme.x"}, {"type": "acme.x", "payload": None, "eventId": None})
    assert [e["payload"] for e in stored] == [{}, {}]
    for wrong in ([], "x", 3):
        refused(host, "invalidParams", thread, {"type": "acme.x", "payload": wrong})


@pytest.mark.parametrize("type_", sorted(RETIRED_EVENTS))
def test_retired_types_name_their_replacement(host: Host, type_: str) -> None:
    """retired → -32602 with the replacement."""
    thread = host.thread()
    error = refused(host, "invalidParams", thread, {"type": type_, "payload": {}})
    assert error.code == -32602 and error.data["replacement"] == RETIRED_EVENTS[type_]
    assert RETIRED_EVENTS[type_] in error.message


@pytest.mark.parametrize(
    "type_",
    [
        "turn.interrupted",
        "turn.resumed",
        "thread.started",
        "thread.updated",
        "thread.archived",
        "thread.unarchived",
        "thread.recovered",
        "thread.rolledBack",
        "thread.anything",
    ],
)
def test_the_sidecars_own_types_are_refused(host: Host, type_: str) -> None:
    """turn.interrupted, turn.resumed, thread.*: written by the sidecar itself; refused from clients."""
    thread = host.thread()
    turn = host.turn(thread)
    refused(host, "invalidParams", thread, {"type": type_, "payload": {}}, turnId=turn)


@pytest.mark.parametrize(
    ("type_", "payload"),
    [
        ("acme.telemetry", {"nested": {"a": [1, 2.5, None, "x", {}]}}),
        ("x", {"item": {"type": "agentMessage", "id": "m1", "text": "not an item"}}),
        ("item.unknown", {"item": {"type": "agentMessage", "id": "m1"}}),
        ("acme.y", {"turnId": "t", "sequence": 99, "eventId": "e", "sum": "0123456789abcdef", "payload": {}}),
        ("acme.z", {"checkpoint": {"checkpointId": "c"}, "path": "../../etc/passwd", "content": "x"}),
        ("acme.sum", {"a": {"b": 1, "sum": "0123456789abcdef"}}),
        ("ünï.☃ type", {"": {"": ""}}),
        ("item", {"receivedAt": "not a time", "itemId": 7}),
        ("acme.received", {"receivedAt": "2001-01-01T00:00:00.000000Z"}),
        ("artifact.confirmed", {"path": "x", "sha256": "y"}),
        ("worker.other", {"workerId": "w"}),
    ],
)
def test_any_other_type(host: Host, type_: str, payload: dict[str, Any]) -> None:
    """any other: any object: stored, listed, exported, replayed; no item; it never fails a read."""
    thread = host.thread()
    turn = host.turn(thread)
    before = host.items(thread)
    stored = host.append(thread, turn, (type_, payload), warning("after"))
    assert stored[0]["payload"] == payload and stored[0]["type"] == type_
    assert host.events(thread)[-2:] == stored
    assert host.call("thread/events/list", threadId=thread, types=[type_])["data"] == stored[:1]
    assert host.items(thread) == before and host.read(thread, turns=True)["turnCount"] == 1
    assert host.checkpoints(thread) == []


NUMBERS = (
    b'{"n":[1180591620717411303424,-1180591620717411303424,1.0,1e5,1E400,-0,-0.0,0.1,1.10,1e-7,12345678901234567890.5]}'
)


def test_numbers_come_back_as_the_same_digits(host: Host) -> None:
    """Integers beyond 64 bits, and floats, come back as the same digits."""
    thread = host.thread()
    host.turn(thread)
    message = b'{"role":"user","content":[{"type":"text","text":"x","n":%s}]}' % NUMBERS
    for type_, payload in ((b"acme.n", NUMBERS), (b"message.created", message)):
        event = b'{"type":"%s","payload":%s}' % (type_, payload)
        host.post(APPEND, b'{"sessionId":"%s","runtimeEvents":[%s]}' % (thread.encode(), event))
    data = Path(host.read(thread)["path"]).read_bytes()
    assert data.count(NUMBERS) == 3, "once in the event, twice with the item"
    assert host.raw_reply("thread/events/list", threadId=thread).count(NUMBERS) == 3
    assert NUMBERS in host.raw_reply("thread/items/list", threadId=thread)
    assert NUMBERS in host.raw_reply("thread/read", threadId=thread, includeTurns=True)


def test_odd_texts(host: Host) -> None:
    """Field report B08. A lone surrogate becomes U+FFFD; NUL and U+2028 are text; of duplicate keys the last wins."""
    thread = host.thread()
    turn = host.turn(thread)
    text = "a\u2028b\u2029c\u0085d\x0b\x0c\x1c e\r\n\x00\x7f \U0001f9f5 \ufeff"
    host.append(thread, turn, ("item.completed", {"item": {"type": "agentMessage", "id": "m", "text": text}}))
    assert host.item(thread, "m")["text"] == text
    stored = host.post(
        APPEND,
        b'{"sessionId":"nope","sessionId":"%s","runtimeEvents":[{"type":"acme.x",'
        b'"payload":{"a":1,"b":"\\ud800x\\udc00","a":2,"\\udfff":"k","ok":"\\ud83e\\uddf5"}}]}' % thread.encode(),
    )["events"][0]
    assert stored["payload"] == {"a": 2, "b": "\ufffdx\ufffd", "\ufffd": "k", "ok": "\U0001f9f5"}
    assert host.events(thread)[-1] == stored
    for line in Path(host.read(thread)["path"]).read_bytes().split(b"\n")[:-1]:
        assert b"\x00" not in line and b"\r" not in line
        json.loads(line)


def test_messages_come_back_whole(host: Host) -> None:
    """Messages always come back whole, however large."""
    thread = host.thread()
    text = "".join(f"{n} é☃\n" for n in range(500_000))
    host.turn(thread, text)
    assert len(text.encode()) > 5_000_000
    assert host.items(thread)[0]["content"][0]["text"] == text
    assert len(host.read(thread)["preview"]) <= 200


def test_at_is_kept_as_the_timestamp(host: Host) -> None:
    """`at` is kept as the event's timestamp; durations use the sidecar's clock."""
    thread = host.thread()
    turn = host.turn(thread)
    updated = host.read(thread)["updatedAt"]
    for at, kept in (
        ("2001-02-03T04:05:06Z", "2001-02-03T04:05:06.000000Z"),
        ("2001-02-03T04:05:06.5+01:00", "2001-02-03T03:05:06.500000Z"),
        ("2101-02-03t04:05:06.123456789z", "2101-02-03T04:05:06.123456Z"),
    ):
        stored = host.append(thread, turn, warning("x", at=at))[0]
        assert stored["timestamp"] == kept == host.events(thread)[-1]["timestamp"]
    host.append(thread, turn, {"type": "turn.completed", "payload": {}, "at": "2101-01-01T00:00:00Z"})
    read = host.read(thread, turns=True)
    assert read["updatedAt"] <= updated + 120 and read["turns"][0]["durationMs"] < 120_000
    for wrong in ("yesterday", "2001-13-01T00:00:00Z", "2001-01-01", "", 5):
        refused(host, "invalidParams", thread, warning("x", at=wrong))


def test_at_leaves_the_payload_as_it_was(host: Host) -> None:
    """Of an event with `at`, the payload keeps every field, whatever its name; only $receivedAt is ours."""
    thread = host.thread()
    payload = {"item": None, "receivedAt": "theirs", "at": 1, "$receivedAt": "forged"}
    stored = host.append(thread, None, {"type": "acme.x", "payload": payload, "at": "2026-01-01T00:00:00Z"})[0]
    ours = stored["payload"].pop("$receivedAt")
    assert ours != "forged"
    assert stored["payload"] == {"item": None, "receivedAt": "theirs", "at": 1}
    assert "$receivedAt" not in host.append(thread, None, ("acme.x", payload))[0]["payload"]


def test_an_item_event_without_turn_goes_to_the_open_turn(host: Host) -> None:
    """An item event without `turnId` goes to the open turn; any other event stays outside."""
    thread = host.thread()
    turn = host.turn(thread)
    stored = host.append(thread, None, ("plan.final", {"text": "p"}), ("turn.completed", {}))
    assert [e["turnId"] for e in stored] == [turn, turn]
    assert "turnId" not in host.append(thread, None, warning("x"))[0]
    assert refused(host, "noActiveTurn", thread, {"type": "turn.completed", "payload": {}}).code == -32600


# -- retries ------------------------------------------------------------------------------------------------------
def test_a_repeated_event_returns_the_stored_one(host: Host) -> None:
    """A repeated eventId with the same content returns the stored event; ids without regard to case."""
    thread = host.thread()
    turn = host.turn(thread)
    item = {"item": {"type": "commandExecution", "id": "c", "command": "ls"}}
    event = {"type": "item.completed", "payload": item, "eventId": "Evt-1", "at": "2026-01-01T00:00:00Z"}
    first = host.append(thread, turn, event)
    for spelled in ("Evt-1", "EVT-1"):
        found = host.append_result(thread, turn, {**event, "eventId": spelled})
        assert found == {"events": first, "duplicates": 1}
    for change in (
        {"payload": {"item": {**item["item"], "command": "rm"}}},
        {"type": "item.updated"},
        {"at": None},
        {"itemId": "c"},
    ):
        error = refused(host, "eventConflict", thread, {**event, **change}, turnId=turn)
        assert error.code == -32013 and error.data["eventId"] == "Evt-1"
    refused(host, "eventConflict", thread, event)
    assert host.append(thread, turn, {**event, "payload": {"item": dict(reversed(item["item"].items()))}}) == first


def test_retry_after_the_turn_has_ended(host: Host) -> None:
    """…also when the turn has ended since (retry safely)."""
    thread = host.thread()
    events = [
        {"type": "turn.started", "payload": {}, "eventId": "s"},
        warning("w", eventId="w"),
        {
            "type": "item.completed",
            "payload": {"item": {"type": "agentMessage", "id": "m", "text": "t"}},
            "eventId": "i",
        },
        {
            "type": "provider.usage",
            "payload": {"inputTokens": 1, "cachedInputTokens": 0, "outputTokens": 0, "reasoningOutputTokens": 0},
            "eventId": "u",
        },
        {"type": "turn.completed", "payload": {}, "eventId": "e"},
    ]
    first = host.append(thread, "t1", *events)
    before = host.read(thread, turns=True)
    for retried in (events, events[:2], events[3:], events[::-1]):
        found = host.append_result(thread, "t1", *retried)
        assert found["duplicates"] == len(retried)
        assert sorted(found["events"], key=lambda e: e["sequence"]) == [
            e for e in first if e["eventId"] in {r["eventId"] for r in retried}
        ]
    assert host.read(thread, turns=True) == before
    refused(host, "turnTerminal", thread, events[1], warning("new"), turnId="t1")


def test_mixed_repeated_and_new(host: Host) -> None:
    """A request may mix repeated and new ones."""
    thread = host.thread()
    one, two, three = (warning(str(n), eventId=f"e{n}") for n in range(3))
    stored = host.append(thread, None, one, two)
    found = host.append_result(thread, None, two, three, one, three, warning("no id"))
    assert found["duplicates"] == 2
    assert [e["eventId"] for e in found["events"][:4]] == ["e1", "e2", "e0", "e2"]
    assert [found["events"][0], found["events"][2]] == [stored[1], stored[0]]
    assert found["events"][1] == found["events"][3]
    assert host.read(thread)["lastSequence"] == 5
    refused(host, "eventConflict", thread, warning("a", eventId="z"), warning("b", eventId="Z"))


def test_event_ids_at_their_limits(host: Host) -> None:
    """Client-given ids match [A-Za-z0-9][A-Za-z0-9._:-]{0,127}."""
    thread = host.thread()
    longest = "e" + "._:-" * 31 + "xyz"
    assert len(longest) == 128
    assert host.append(thread, None, warning("x", eventId=longest))[0]["eventId"] == longest
    assert host.append_result(thread, None, warning("x", eventId=longest.upper()))["duplicates"] == 1
    for wrong in (longest + "x", "", ".x", "é", "a b", "a\n", 7):
        refused(host, "invalidParams", thread, warning("x", eventId=wrong))
    turn = host.turn(thread)
    for wrong in (longest + "x", "", ".x", 7, None):
        item = {"type": "item.completed", "payload": {"item": {"type": "agentMessage", "id": wrong}}}
        refused(host, "invalidParams", thread, item, turnId=turn)
    host.append(thread, turn, ("item.completed", {"item": {"type": "agentMessage", "id": longest, "text": "x"}}))
    assert host.item(thread, longest)["text"] == "x"


def test_a_repeated_checkpoint(host: Host, workspace: Path) -> None:
    """A retry of a file event gets the stored one, though the file went on, or the workspace is gone."""
    thread = host.thread(cwd=str(workspace))
    file = workspace / "a.txt"
    file.write_bytes(b"one\n")
    event = {"type": "artifact.snapshot", "payload": {"path": "a.txt"}, "eventId": "snap"}
    first = host.append(thread, None, event)
    for change in (
        lambda: file.write_bytes(b"two\n"),
        file.unlink,
        lambda: file.symlink_to("/etc/hostname"),
        file.unlink,
        lambda: [p.unlink() for p in sorted(workspace.rglob("*"), reverse=True) if p.is_file()],
        lambda: workspace.rename(workspace.parent / "moved"),
    ):
        change()
        assert host.append_result(thread, None, event) == {"events": first, "duplicates": 1}
    assert len(host.checkpoints(thread)) == 1


def test_retries_over_a_restart(tmp_path: Path) -> None:
    """Repeated events are known after a restart, a kill and a rebuild; a globally unique request id is a retry too."""
    root = tmp_path.resolve()
    event = warning("once", eventId="e")
    request = f"req-{uuid.uuid4()}"
    params = {"runtimeEvents": [warning("a"), warning("b")]}

    def send(host: Host, id_: Any) -> list[dict[str, Any]]:
        return host.result(host.send(APPEND, {"sessionId": thread, **params}, id_))["events"]

    with Host(root) as host:
        thread = host.thread()
        first = host.append(thread, None, event)
        sent = send(host, request)
        again = send(host, request)
        assert [e["sequence"] for e in again] == [5, 6], "a living process was asked twice: that is two requests"
        counted = send(host, 77)
        host.kill()
    for restart in range(3):
        with Host(root) as host:
            assert host.append(thread, None, event) == first
            assert send(host, request) == again if restart == 0 else True
            assert host.read(thread)["lastSequence"] == 8 + 2 * restart
            if restart == 0:
                assert send(host, 77) != counted, "counters are never matched"
            else:
                send(host, restart)
        if restart == 1:
            for file in (root / "data" / "sqlite").iterdir():
                file.unlink()
    del sent


@covers(APPEND)
def test_as_a_notification(host: Host) -> None:
    """As a notification it is fire-and-forget."""
    thread = host.thread()
    host.notices(thread)
    host.signal(APPEND, {"sessionId": thread, "runtimeEvents": [warning("no reply", eventId="n1")]})
    host.signal(APPEND, {"sessionId": "nope", "runtimeEvents": [warning("to nobody")]})
    host.signal(APPEND, {"sessionId": thread, "runtimeEvents": "wrong"})
    told = host.notices(thread)
    assert [p["event"]["payload"] for _, p in told] == [{"message": "no reply"}]
    assert host.append_result(thread, None, warning("no reply", eventId="n1"))["duplicates"] == 1


def test_requests_of_one_thread_run_in_order(host: Host, workspace: Path) -> None:
    """Those that change one thread run in order of arrival; a later request sees what an earlier wrote."""
    thread = host.thread(cwd=str(workspace))
    ids = []
    for n in range(60):
        (workspace / f"f{n}").write_bytes(b"x" * 10_000)
        snapshot = {"type": "artifact.snapshot", "payload": {"path": f"f{n}"}}
        kinds: list[tuple[str, dict[str, Any]]] = [
            (APPEND, {"sessionId": thread, "runtimeEvents": [warning(str(n))]}),
            (APPEND, {"sessionId": thread, "runtimeEvents": [snapshot]}),
            ("thread/name/set", {"threadId": thread, "name": str(n)}),
        ]
        ids.append(host.send(*kinds[n % 3]))
    for id_ in ids:
        host.result(id_)
    types = [e["type"] for e in host.events(thread)][1:]
    assert types == ["runtime.warning", "artifact.snapshot", "thread.updated"] * 20


def test_another_process_reads_what_was_answered(tmp_path: Path) -> None:
    """Rows may follow the answer where nobody else is; a second process never reads behind one."""
    with Host(tmp_path) as host, Host(tmp_path) as other:
        host.call("thread/start", threadId="shared")
        turn = host.append("shared", None, ("turn.started", {}))[0]["turnId"]
        for number in range(20):
            item = {"type": "agentMessage", "id": f"item_{number}", "text": "x"}
            host.append("shared", turn, ("item.completed", {"item": item}))
            found = other.call("thread/items/list", threadId="shared", limit=1, sortDirection="desc")
            assert found["data"][0]["item"]["id"] == item["id"]
