"""CONTRACT sections 3 and 5: what item events and streamed text become."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.protocol_examples import ITEMS
from tests.wire.host import Host

from lockstitch_protocol.item_fields import ITEM_FIELDS

covers = pytest.mark.covers
APPEND = "agentSession/runtimeEvents/append"


@pytest.fixture
def open_turn(host: Host) -> tuple[str, str]:
    thread = host.thread()
    return thread, host.turn(thread)


def completed(item: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return ("item.completed", {"item": item})


def delta(item_id: str, text: str, type_: str = "message.delta") -> dict[str, Any]:
    return {"type": type_, "payload": {"itemId": item_id, "delta": text}}


@covers("item.completed", "item/completed", "item/started")
@pytest.mark.parametrize("number", range(len(ITEMS)))
def test_every_shape_of_item(host: Host, open_turn: tuple[str, str], number: int) -> None:
    """ThreadItem: each type comes back with its defaults, the same in reply, list, read, session and notification."""
    thread, turn = open_turn
    host.notices(thread)
    sent = {**ITEMS[number], "acmeField": {"n": 1.5}}
    if sent["type"] == "fileChange":
        sent.pop("checkpointId", None)
    stored = host.append(thread, turn, completed(sent))[0]["payload"]["item"]
    kept = {name: value for name, value in sent.items() if value is not None and name != "changes"}
    assert {name: stored.get(name) for name in kept} == kept
    if sent["type"] not in ITEM_FIELDS:
        assert stored == sent and sent["id"] not in [item["id"] for item in host.items(thread)]
        assert [method for method, _ in host.notices(thread)] == ["agentSession/event"]
        return
    assert host.item(thread, sent["id"]) == stored
    assert host.read(thread, turns=True)["turns"][0]["items"][1] == stored
    assert host.call("thread/turns/list", threadId=thread)["data"][0]["items"][1] == stored
    told = host.notices(thread)
    assert [method for method, _ in told] == ["item/started", "item/completed"]
    assert all(params["item"] == stored and params["turnId"] == turn for _, params in told)
    detail = host.call("agentSession/read", sessionId=thread)["detail"]["items"][1]
    assert detail == {**stored, "thread_id": thread, "turn_id": turn}


def test_unknown_item_types(host: Host, open_turn: tuple[str, str]) -> None:
    """An item type that we do not know is stored and returned as it came and left out of v2 lists; no read fails."""
    thread, turn = open_turn
    item = {"type": "hologram", "id": "h1", "text": None, "status": 7, "content": {"deep": [1.0]}}
    stored = host.append(
        thread,
        turn,
        ("item.started", {"item": item}),
        delta("h1", "x"),
        ("item.updated", {"item": item}),
        completed(item),
        completed({**item, "id": "h2"}),
    )
    assert stored[-1]["payload"]["item"] == {**item, "id": "h2"}
    host.append(thread, turn, ("item.started", {"item": {**item, "id": "h3"}}), ("turn.completed", {}))
    assert [i["type"] for i in host.items(thread)] == ["userMessage"]
    assert len(host.read(thread, turns=True)["turns"][0]["items"]) == 1
    assert len(host.call("agentSession/read", sessionId=thread)["detail"]["items"]) == 1
    assert host.events(thread, types=["item.completed"])[-1]["payload"]["item"]["id"] == "h2"


def test_item_ids_are_unique_in_their_thread(host: Host, open_turn: tuple[str, str]) -> None:
    """Ids are unique within their thread without regard to case; an item stays in its turn."""
    thread, turn = open_turn
    host.append(thread, turn, completed({"type": "agentMessage", "id": "Msg-1", "text": "a"}))
    host.append(thread, turn, completed({"type": "agentMessage", "id": "mSG-1", "text": "b"}), ("turn.completed", {}))
    mine = [item for item in host.items(thread) if item["id"].lower() == "msg-1"]
    assert [item["text"] for item in mine] == ["b"], "the same item, told again"
    second = host.turn(thread)
    host.refused(
        "invalidParams",
        APPEND,
        sessionId=thread,
        turnId=second,
        runtimeEvents=[{"type": "item.completed", "payload": {"item": {"type": "agentMessage", "id": "MSG-1"}}}],
    )


@covers("item.started", "item.updated", "item.completed")
def test_started_updated_completed(host: Host, open_turn: tuple[str, str]) -> None:
    """item.started / .updated / .completed {item}: the item as it last was; the reads show it growing."""
    thread, turn = open_turn
    base = {"type": "mcpToolCall", "id": "t", "server": "s", "tool": "t", "arguments": {"a": 1}}
    host.append(thread, turn, ("item.started", {"item": base}))
    assert host.item(thread, "t")["status"] == "inProgress"
    host.append(thread, turn, ("item.updated", {"item": {**base, "arguments": {"a": 2}}}))
    assert host.item(thread, "t")["arguments"] == {"a": 2} and host.item(thread, "t")["status"] == "inProgress"
    host.append(thread, turn, completed({**base, "result": {"content": []}, "durationMs": 5}))
    assert host.item(thread, "t") == {**base, "status": "completed", "result": {"content": []}, "durationMs": 5}
    told = [(m, p["item"].get("status")) for m, p in host.notices(thread) if "item" in p and p["item"]["id"] == "t"]
    assert told == [("item/started", "inProgress"), ("item/completed", "completed")]


@covers("message.delta", "item/agentMessage/delta")
def test_deltas_build_the_message(host: Host, open_turn: tuple[str, str]) -> None:
    """message.delta {itemId, delta}: notified at once, stored in segments; the reply repeats the segment's event."""
    thread, turn = open_turn
    host.append(thread, turn, ("item.started", {"item": {"type": "agentMessage", "id": "m", "text": ""}}))
    host.notices(thread)
    words = ["Hel", "lo ", "☃", " wörld", "\n", "\U0001f9f5"]
    replies = [host.append(thread, turn, delta("m", word))[0] for word in words]
    for word, reply in zip(words, replies, strict=True):
        assert "sequence" not in reply and reply["payload"] == {"itemId": "m", "delta": word}
        assert host.heard("item/agentMessage/delta", delta=word)["eventId"] == reply["eventId"]
    host.append(thread, turn, completed({"type": "agentMessage", "id": "m", "text": "".join(words)}))
    segments = host.events(thread, types=["message.delta"])
    assert "".join(e["payload"]["delta"] for e in segments) == "".join(words)
    assert {e["eventId"] for e in segments} == {r["eventId"] for r in replies}
    assert host.item(thread, "m")["text"] == "".join(words)


@pytest.mark.parametrize("durability", [None, "buffered", "sync"])
def test_durability(host: Host, open_turn: tuple[str, str], durability: str | None) -> None:
    """For a request of deltas only it is buffered; a sync delta closes its segment first."""
    thread, turn = open_turn
    events = [delta("m", "a"), delta("m", "b")]
    found = host.append(thread, turn, *events, **({} if durability is None else {"durability": durability}))
    assert all(("sequence" in event) == (durability == "sync") for event in found)
    host.append(thread, turn, ("turn.completed", {}))
    assert host.item(thread, "m")["text"] == "ab"
    host.refused("invalidParams", APPEND, sessionId=thread, runtimeEvents=events, durability="later")


def test_deltas_with_other_events_are_stored_in_order(host: Host, open_turn: tuple[str, str]) -> None:
    """Deltas beside other events in one request keep their place."""
    thread, turn = open_turn
    stored = host.append(thread, turn, delta("m", "a"), ("acme.x", {"n": 1}), delta("m", "b"), ("turn.completed", {}))
    assert [e["type"] for e in stored] == ["message.delta", "acme.x", "message.delta", "turn.completed"]
    assert [e["sequence"] for e in stored] == list(range(stored[0]["sequence"], stored[0]["sequence"] + 4))
    assert host.item(thread, "m")["text"] == "ab"


def test_deltas_take_no_event_id(host: Host, open_turn: tuple[str, str]) -> None:
    """no client eventId."""
    thread, turn = open_turn
    host.refused("invalidParams", APPEND, sessionId=thread, runtimeEvents=[{**delta("m", "a"), "eventId": "e"}])
    host.refused(
        "invalidParams",
        APPEND,
        sessionId=thread,
        runtimeEvents=[delta("m", "a"), {"type": "message.delta", "payload": {"delta": "x"}}],
    )
    host.refused("turnNotFound", APPEND, sessionId=thread, turnId="nope", runtimeEvents=[delta("m", "a")])
    host.append(thread, turn, ("turn.completed", {}))
    host.refused("noActiveTurn", APPEND, sessionId=thread, runtimeEvents=[delta("m", "a")])
    host.refused("turnTerminal", APPEND, sessionId=thread, turnId=turn, runtimeEvents=[delta("m", "a")])
    assert len(host.items(thread)) == 1, "a refused delta leaves nothing"


@covers("reasoning.delta", "command.output", "item/reasoning/textDelta", "item/commandExecution/outputDelta")
def test_items_that_are_only_streamed(host: Host, open_turn: tuple[str, str]) -> None:
    """Deltas without item.started, ended by the turn: messages stand as they came; a command is failed, interrupted."""
    thread, turn = open_turn
    host.notices(thread)
    for n in range(3):
        host.append(
            thread,
            turn,
            delta("m", f"m{n}"),
            delta("r", f"r{n}", "reasoning.delta"),
            delta("c", f"c{n}\n", "command.output"),
        )
    host.append(thread, turn, ("turn.completed", {}))
    read = {item["id"]: item for item in host.items(thread)}
    assert read["m"] == {"type": "agentMessage", "id": "m", "text": "m0m1m2"}
    assert read["r"] == {"type": "reasoning", "id": "r", "summary": [], "content": ["r0r1r2"]}
    assert read["c"]["aggregatedOutput"] == "c0\nc1\nc2\n"
    assert (read["c"]["status"], read["c"]["interrupted"]) == ("failed", True)
    told = host.notices(thread)
    for item_id, method in (
        ("m", "item/agentMessage/delta"),
        ("r", "item/reasoning/textDelta"),
        ("c", "item/commandExecution/outputDelta"),
    ):
        mine = [(m, p) for m, p in told if p.get("itemId") == item_id or p.get("item", {}).get("id") == item_id]
        assert [m for m, _ in mine] == ["item/started", method, method, method, "item/completed"]
        assert mine[-1][1]["item"] == read[item_id]
    assert told[-1][0] == "turn/completed"


@pytest.mark.parametrize("end", ["turn.failed", "turn.canceled"])
def test_items_cut_off(host: Host, open_turn: tuple[str, str], end: str) -> None:
    """Open items of a turn that ends become failed, interrupted: true (never a made-up result)."""
    thread, turn = open_turn
    for n, kind in enumerate(("commandExecution", "mcpToolCall", "dynamicToolCall", "fileChange")):
        item = {"type": kind, "id": f"i{n}", "command": "x", "server": "s", "tool": "t", "changes": []}
        host.append(thread, turn, ("item.started", {"item": item}))
    host.append(thread, turn, delta("m", "half"), (end, {}))
    for n in range(4):
        item = host.item(thread, f"i{n}")
        assert (item["status"], item["interrupted"]) == ("failed", True)
        assert not {"result", "exitCode", "aggregatedOutput", "contentItems"} & set(item)
    assert host.item(thread, "m") == {"type": "agentMessage", "id": "m", "text": "half", "interrupted": True}
    gaps = host.call("turn/receipt/read", threadId=thread, turnId=turn)["gaps"]
    assert {gap["itemId"] for gap in gaps} == {"i0", "i1", "i2", "i3", "m"}


def test_what_was_streamed_before_the_start(host: Host, open_turn: tuple[str, str]) -> None:
    """Text that came before item.started, or before an item.updated that leaves it out, is not lost."""
    thread, turn = open_turn
    host.append(thread, turn, delta("m", "one "))
    host.append(thread, turn, ("item.started", {"item": {"type": "agentMessage", "id": "m", "text": ""}}))
    assert host.item(thread, "m")["text"] == "one "
    host.append(thread, turn, delta("m", "two "))
    host.append(thread, turn, ("item.updated", {"item": {"type": "agentMessage", "id": "m", "phase": "final"}}))
    host.append(thread, turn, delta("m", "three"), ("turn.completed", {}))
    assert host.item(thread, "m") == {"type": "agentMessage", "id": "m", "text": "one two three", "phase": "final"}


@pytest.mark.parametrize("kind", ["agentMessage", "plan", "reasoning", "commandExecution"])
def test_an_end_that_leaves_out_what_was_streamed(host: Host, open_turn: tuple[str, str], kind: str) -> None:
    """item.completed that leaves out what was streamed gets it; what it does say stands."""
    thread, turn = open_turn
    field, type_ = {
        "agentMessage": ("text", "message.delta"),
        "plan": ("text", "message.delta"),
        "reasoning": ("content", "reasoning.delta"),
        "commandExecution": ("aggregatedOutput", "command.output"),
    }[kind]
    text = "streamed " * 2000
    for item_id in ("a", "b", "c"):
        item = {"type": kind, "id": item_id, "command": "x"}
        host.append(thread, turn, ("item.started", {"item": item}))
        for start in range(0, len(text), 1500):
            host.append(thread, turn, delta(item_id, text[start : start + 1500], type_))
    own: Any = ["own"] if kind == "reasoning" else "own"
    host.append(thread, turn, completed({"type": kind, "id": "a", "command": "x"}))
    host.append(thread, turn, completed({"type": kind, "id": "b", "command": "x", field: own}))
    empty: Any = [] if kind == "reasoning" else ""
    host.append(
        thread, turn, delta("c", "!", type_), completed({"type": kind, "id": "c", "command": "x", field: empty})
    )
    expected: Any = [text] if kind == "reasoning" else text
    assert host.item(thread, "a")[field] == expected
    assert host.item(thread, "b")[field] == own
    assert host.item(thread, "c")[field] == ([text + "!"] if kind == "reasoning" else text + "!")
    assert len(host.events(thread, types=[type_])) > 3, "segments of at most some KiB"


@covers("turn.interrupted", "turn.resumed")
def test_deltas_over_a_restart(tmp_path: Path) -> None:
    """Deltas across segments and a restart: nothing answered before a sync append is lost."""
    root = tmp_path.resolve()
    with Host(root) as host:
        thread = host.thread()
        turn = host.turn(thread)
        host.append(thread, turn, delta("m", "one "))
        host.append(thread, turn, ("acme.sync", {}))
        host.append(thread, turn, delta("m", "two "), delta("m", "three "))
        host.append(thread, turn, ("acme.sync", {}))
        host.kill()
    with Host(root) as host:
        read = host.read(thread, turns=True)
        assert read["turns"][0]["status"] == "interrupted"
        assert host.item(thread, "m")["text"] == "one two three " and host.item(thread, "m")["interrupted"] is True
        host.append(thread, turn, delta("m", "four"))
        types = [e["type"] for e in host.events(thread)]
        assert types[-2:] == ["turn.interrupted", "turn.resumed"]
        host.append(thread, turn, completed({"type": "agentMessage", "id": "m"}), ("turn.completed", {}))
        assert host.item(thread, "m") == {"type": "agentMessage", "id": "m", "text": "one two three four"}
        assert host.close() == 0
    with Host(root) as host:
        assert host.item(thread, "m") == {"type": "agentMessage", "id": "m", "text": "one two three four"}


def test_deltas_before_a_clean_end_are_kept(tmp_path: Path) -> None:
    """Durable before shutdown; a clean shutdown with an open turn appends nothing; the next boot interrupts it."""
    root = tmp_path.resolve()
    with Host(root) as host:
        thread = host.thread()
        turn = host.turn(thread)
        host.append(thread, turn, delta("m", "kept"))
        last = host.read(thread)["lastSequence"]
        path = Path(host.read(thread)["path"])
    lines = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
    assert [line["type"] for line in lines[last:]] == ["message.delta"]
    with Host(root) as host:
        assert host.item(thread, "m")["text"] == "kept"


@covers("message.created")
def test_message_created(host: Host, open_turn: tuple[str, str]) -> None:
    """message.created {role: user|assistant, content}: message item."""
    thread, turn = open_turn
    parts = [{"type": "text", "text": "a"}, {"type": "image", "url": "data:,x"}]
    stored = host.append(
        thread,
        turn,
        ("message.created", {"role": "user", "content": "words", "clientId": "c", "itemId": "u1"}),
        ("message.created", {"role": "user", "content": parts, "itemId": "u2"}),
        ("message.created", {"role": "assistant", "content": "answer", "itemId": "a1"}),
        ("message.created", {"role": "assistant", "content": [{"type": "text", "text": "an"}, {"text": "swer"}]}),
    )
    assert host.item(thread, "u1") == {
        "type": "userMessage",
        "id": "u1",
        "clientId": "c",
        "content": [{"type": "text", "text": "words"}],
    }
    assert host.item(thread, "u2")["content"] == parts
    assert host.item(thread, "a1")["text"] == "answer"
    assert host.item(thread, stored[3]["itemId"])["text"] == "answer"
    for wrong in (
        {"role": "system", "content": "x"},
        {"role": "user"},
        {"role": "user", "content": 5},
        {"role": "user", "content": [5]},
        {"content": "x"},
        {"role": "user", "content": [{"type": "x"}]},
    ):
        host.refused(
            "invalidParams", APPEND, sessionId=thread, runtimeEvents=[{"type": "message.created", "payload": wrong}]
        )


@covers("command.started", "command.exited", "command.output")
def test_commands(host: Host, open_turn: tuple[str, str]) -> None:
    """command.started / .exited: items; the end is merged with what was started and streamed."""
    thread, turn = open_turn
    host.append(
        thread,
        turn,
        (
            "command.started",
            {"itemId": "c", "command": ["echo", "a b"], "cwd": "/w", "commandActions": [{"type": "x"}]},
        ),
    )
    assert host.item(thread, "c")["status"] == "inProgress" and host.item(thread, "c")["command"] == "echo 'a b'"
    host.append(thread, turn, delta("c", "a b\n", "command.output"))
    host.append(
        thread,
        turn,
        delta("c", "more\n", "command.output"),
        ("command.exited", {"itemId": "c", "exitCode": 0, "durationMs": 12}),
    )
    assert host.item(thread, "c") == {
        "type": "commandExecution",
        "id": "c",
        "command": "echo 'a b'",
        "cwd": "/w",
        "status": "completed",
        "source": "agent",
        "commandActions": [{"type": "x"}],
        "aggregatedOutput": "a b\nmore\n",
        "exitCode": 0,
        "durationMs": 12,
    }
    host.append(thread, turn, ("command.exited", {"itemId": "d", "exitCode": 3, "aggregatedOutput": "whole"}))
    assert host.item(thread, "d")["status"] == "failed" and host.item(thread, "d")["aggregatedOutput"] == "whole"
    host.append(
        thread,
        turn,
        ("command.started", {"itemId": "e", "command": "x"}),
        ("command.exited", {"itemId": "e", "status": "declined"}),
    )
    assert host.item(thread, "e")["status"] == "declined" and "exitCode" not in host.item(thread, "e")
    stored = host.append(thread, turn, ("command.started", {"command": "no id"}))[0]
    assert host.item(thread, stored["itemId"])["command"] == "no id"
    events = [{"type": "command.exited", "payload": {"exitCode": 1}}]
    host.refused("invalidParams", APPEND, sessionId=thread, runtimeEvents=events)
    host.append(thread, turn, {"type": "command.exited", "payload": {"exitCode": 1}, "itemId": stored["itemId"]})
    assert host.item(thread, stored["itemId"])["exitCode"] == 1


@covers("patch.started", "patch.applied", "patch.failed", "patch.declined")
@pytest.mark.parametrize(("end", "status"), [("applied", "completed"), ("failed", "failed"), ("declined", "declined")])
def test_patches(host: Host, open_turn: tuple[str, str], end: str, status: str) -> None:
    """patch.started / .applied / .failed / .declined: fileChange items."""
    thread, turn = open_turn
    changes = [
        {"path": "a.py", "kind": {"type": "update", "move_path": "b.py"}, "diff": "@@"},
        {"path": "c.py", "kind": {"type": "add"}},
    ]
    host.append(thread, turn, ("patch.started", {"itemId": "p", "changes": changes}))
    assert host.item(thread, "p")["status"] == "inProgress"
    host.append(thread, turn, (f"patch.{end}", {"itemId": "p"}))
    item = host.item(thread, "p")
    assert item["status"] == status and item["type"] == "fileChange"
    assert item["changes"] == [changes[0], {**changes[1], "diff": ""}]
    host.append(thread, turn, (f"patch.{end}", {"itemId": "q", "changes": changes}))
    assert host.item(thread, "q")["changes"] == item["changes"]
    for other in ("applied", "failed", "declined"):
        host.append(thread, turn, (f"patch.{other}", {"itemId": f"o-{other}"}))


def test_an_id_that_was_another_kind_of_item(host: Host, open_turn: tuple[str, str]) -> None:
    """An end whose item was of another kind makes the item that it names, and is no internal error."""
    thread, turn = open_turn
    host.append(thread, turn, ("patch.applied", {"itemId": "k"}), ("command.exited", {"itemId": "k", "exitCode": 0}))
    assert host.item(thread, "k")["type"] == "commandExecution"
    host.append(thread, turn, ("patch.applied", {"itemId": "k"}))
    assert host.item(thread, "k")["type"] == "fileChange"


@covers("plan.final", "reasoning.final", "context.compaction.completed")
def test_plan_reasoning_compaction(host: Host, open_turn: tuple[str, str]) -> None:
    """plan.final, reasoning.final, context.compaction.completed: items."""
    thread, turn = open_turn
    host.append(thread, turn, delta("r2", "long ", "reasoning.delta"), delta("r2", "thought", "reasoning.delta"))
    host.append(
        thread,
        turn,
        ("plan.final", {"text": "1. go", "itemId": "p"}),
        ("reasoning.final", {"text": "because", "itemId": "r"}),
        ("reasoning.final", {"summary": ["s"], "itemId": "r2"}),
        ("reasoning.final", {"content": ["a", "b"], "itemId": "r3"}),
        ("context.compaction.completed", {"itemId": "k"}),
    )
    assert host.item(thread, "p") == {"type": "plan", "id": "p", "text": "1. go"}
    assert host.item(thread, "r") == {"type": "reasoning", "id": "r", "summary": [], "content": ["because"]}
    assert host.item(thread, "r2") == {"type": "reasoning", "id": "r2", "summary": ["s"], "content": ["long thought"]}
    assert host.item(thread, "r3")["content"] == ["a", "b"]
    assert host.item(thread, "k") == {"type": "contextCompaction", "id": "k"}


@pytest.mark.parametrize(
    ("type_", "payload", "path"),
    [
        ("item.completed", {}, "payload.item"),
        ("item.completed", {"item": 5}, "payload.item"),
        ("item.completed", {"item": {"type": "agentMessage", "text": "x"}}, "payload.item.id"),
        ("item.completed", {"item": {"type": "agentMessage", "id": "a", "text": 5}}, "payload.item.text"),
        ("item.completed", {"item": {"type": "commandExecution", "id": "a"}}, "payload.item.command"),
        (
            "item.completed",
            {"item": {"type": "commandExecution", "id": "a", "command": "x", "status": "odd"}},
            "payload.item.status",
        ),
        (
            "item.completed",
            {"item": {"type": "userMessage", "id": "a", "content": [{"type": "image"}]}},
            "payload.item.content.0.url",
        ),
        (
            "item.started",
            {"item": {"type": "fileChange", "id": "a", "changes": [{"path": "x"}]}},
            "payload.item.changes.0.kind",
        ),
        ("item.completed", {"item": {"type": "", "id": "a"}}, "payload.item.type"),
        ("message.delta", {"itemId": "a"}, "payload.delta"),
        ("message.delta", {"delta": "a"}, "payload.itemId"),
        ("message.delta", {"itemId": "a", "delta": 5}, "payload.delta"),
        ("plan.final", {}, "payload.text"),
        ("command.started", {"command": [1]}, "payload.command.0"),
        ("patch.started", {}, "payload.changes"),
        ("patch.applied", {"itemId": "a", "changes": 5}, "payload.changes"),
        ("route.selected", {}, "payload.provider"),
        ("authority.set", {}, "payload.mode"),
        ("reasoning.final", {"summary": "x"}, "payload.summary"),
        ("turn.failed", {"error": 5}, "payload.error"),
        ("turn.completed", {"usage": 5}, "payload.usage"),
        ("context.compaction.completed", {"itemId": "-"}, "itemId"),
        ("artifact.snapshot", {}, "payload.path"),
        ("artifact.snapshot", {"path": 5}, "payload.path"),
        ("artifact.snapshot", {"path": "a", "op": "moved"}, "payload.op"),
        ("artifact.snapshot", {"path": "a", "contentBase64": "!"}, "payload"),
        ("artifact.snapshot", {"path": "a", "contentBase64": "é"}, "payload"),
        ("file.changed", {"change": {"path": "a", "mode": "rwx"}}, "payload.change.mode"),
    ],
)
def test_payloads_that_do_not_fit(host: Host, open_turn: tuple[str, str], type_: str, payload: Any, path: str) -> None:
    """-32602: data.errors: [{path, message}] names the field in the request."""
    thread, turn = open_turn
    good = {"type": "acme.x", "payload": {}}
    error = host.refused(
        "invalidParams",
        APPEND,
        sessionId=thread,
        turnId=turn,
        runtimeEvents=[good, {"type": type_, "payload": payload}],
    )
    assert error.data["errors"][0]["path"] == f"runtimeEvents.1.{path}"
    assert host.read(thread)["lastSequence"] == 3


# -- large outputs ------------------------------------------------------------------------------------------------
SPILL = 65_536


@pytest.mark.parametrize("size", [SPILL - 1, SPILL, SPILL + 1, 3 * SPILL])
@pytest.mark.parametrize("how", ["item", "exited", "streamed"])
def test_outputs_around_the_limit(host: Host, open_turn: tuple[str, str], size: int, how: str) -> None:
    """An output over 64 KiB reads as its preview with outputRef {artifactRef, sha256, bytes}; artifact/read has it."""
    thread, turn = open_turn
    output = "é☃x\n" * (size // 7)
    output += "." * (size - len(output.encode()))
    item: dict[str, Any] = {"type": "commandExecution", "id": "c", "command": "x"}
    if how == "item":
        host.append(thread, turn, completed({**item, "aggregatedOutput": output, "exitCode": 0}))
    elif how == "exited":
        host.append(thread, turn, ("command.exited", {"itemId": "c", "aggregatedOutput": output, "exitCode": 0}))
    else:
        host.append(thread, turn, ("command.started", {"itemId": "c", "command": "x"}))
        for start in range(0, len(output), 7000):
            host.append(thread, turn, delta("c", output[start : start + 7000], "command.output"))
        host.append(thread, turn, ("command.exited", {"itemId": "c", "exitCode": 0}))
    read = host.item(thread, "c")
    artifacts = host.call("artifact/read", sessionId=thread, includeContent=True)["artifacts"]
    if size <= SPILL:
        assert read["aggregatedOutput"] == output and "outputRef" not in read and artifacts == []
        return
    assert read["outputRef"]["bytes"] == size and output.startswith(read["aggregatedOutput"])
    assert 2000 < len(read["aggregatedOutput"].encode()) <= 2048, "a preview of at most 2 KiB, cut between characters"
    assert [a["content"] for a in artifacts] == [output] and artifacts[0]["kind"] == "output"
    assert artifacts[0]["artifactRef"] == read["outputRef"]["artifactRef"] and artifacts[0]["turnId"] == turn
    if how != "streamed":
        assert len(Path(host.read(thread)["path"]).read_bytes()) < 20_000


def test_large_images_of_a_message(host: Host, open_turn: tuple[str, str]) -> None:
    """An image over 64 KiB is in the store as its own bytes; texts, small images and links stay as they are."""
    thread, turn = open_turn
    picture = bytes(range(256)) * 300
    url = f"data:image/webp;base64,{base64.b64encode(picture).decode()}"
    small, link = {"type": "image", "url": "data:,x"}, {"type": "image", "url": "https://example.invalid/x.png"}
    text = {"type": "text", "text": "t" * 70_000}
    content = [text, {"type": "image", "url": url}, small, link]
    host.append(thread, turn, completed({"type": "userMessage", "id": "a", "content": content}))
    read = host.item(thread, "a")
    kept = read["outputRef"]
    assert read["content"][0] == text and read["content"][2:] == [small, link]
    assert read["content"][1] == {
        "type": "image", "url": f"artifact:{kept['artifactRef']}", "mediaType": "image/webp", **kept,
    }  # fmt: skip
    (artifact,) = host.call("artifact/read", sessionId=thread, includeContent=True)["artifacts"]
    assert base64.b64decode(artifact["contentBase64"]) == picture and kept["bytes"] == len(picture)
    both = [{"type": "image", "url": url}, {"type": "image", "url": url[:-8]}]
    host.append(thread, turn, completed({"type": "userMessage", "id": "b", "content": both}))
    assert len(json.dumps(host.item(thread, "b"))) < 2000
    artifacts = host.call("artifact/read", sessionId=thread, includeContent=True)["artifacts"]
    assert json.loads(artifacts[-1]["content"]) == both


def test_large_results_of_tools(host: Host, open_turn: tuple[str, str]) -> None:
    """Tool outputs that are no text are spilled too, and read as one."""
    thread, turn = open_turn
    result = {"content": [{"type": "text", "text": "r" * 100_000}], "n": 1.50}
    parts = [{"type": "inputText", "text": "p" * 100_000}]
    host.append(
        thread,
        turn,
        completed({"type": "mcpToolCall", "id": "a", "server": "s", "tool": "t", "result": result}),
        completed({"type": "dynamicToolCall", "id": "b", "tool": "t", "contentItems": parts}),
    )
    assert host.item(thread, "a")["outputRef"]["bytes"] > 100_000
    assert len(json.dumps(host.items(thread))) < 20_000
    found = host.call("artifact/read", sessionId=thread, includeContent=True)["artifacts"]
    assert [json.loads(a["content"]) for a in found] == [result, parts]
    one = host.call("artifact/read", sessionId=thread, artifactRef=found[1]["artifactRef"])["artifacts"]
    assert [a["artifactRef"] for a in one] == [found[1]["artifactRef"]] and "content" not in one[0]


def test_an_output_ref_that_a_host_makes_up(host: Host, open_turn: tuple[str, str]) -> None:
    """A host's own outputRef names nothing of ours: contentStatus says so, and no read fails."""
    thread, turn = open_turn
    for n, sha256 in enumerate(("0" * 64, "../../etc/passwd", "")):
        reference = {"artifactRef": "x", "sha256": sha256, "bytes": 1}
        host.append(
            thread, turn, completed({"type": "commandExecution", "id": f"c{n}", "command": "x", "outputRef": reference})
        )
    found = host.call("artifact/read", sessionId=thread, includeContent=True)["artifacts"]
    assert [a["contentStatus"] for a in found] == ["missing"] * 3
