"""CONTRACT section 4: turns, rollback and fork."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.wire.host import Host

covers = pytest.mark.covers


def text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


def answered(host: Host, thread: str, words: str, **params: Any) -> str:
    """A whole turn: its id."""
    turn = host.turn(thread, words, **params)
    host.append(
        thread,
        turn,
        ("item.completed", {"item": {"type": "agentMessage", "id": f"to-{turn}", "text": words}}),
        ("provider.usage", usage(1)),
        ("turn.completed", {}),
    )
    return turn


def usage(n: int) -> dict[str, int]:
    return {"inputTokens": 10 * n, "cachedInputTokens": n, "outputTokens": 2 * n, "reasoningOutputTokens": n}


@covers("turn/start", "turn/started", "turn.started", "item.completed", "item/started", "item/completed")
def test_start(host: Host) -> None:
    """turn/start {threadId, input, clientUserMessageId?, turnId?} → {turn} + turn/started; records the message."""
    thread = host.thread()
    host.notices(thread)
    parts = [
        {"type": "text", "text": "look at ☃"},
        {"type": "image", "url": "data:image/png;base64,AA=="},
        {"type": "localImage", "path": "/x/y.png"},
        {"type": "skill", "name": "s", "path": "p"},
        {"type": "mention", "name": "m", "path": "q"},
    ]
    turn = host.call(
        "turn/start",
        threadId=thread,
        turnId="my.turn:1",
        input=parts,
        clientUserMessageId="c1",
        model="m2",
        effort="high",
    )["turn"]
    assert turn["id"] == "my.turn:1" and turn["status"] == "inProgress"
    assert [e["type"] for e in host.events(thread)][-2:] == ["turn.started", "item.completed"]
    item = host.items(thread)[0]
    assert item["type"] == "userMessage" and item["content"] == parts and item["clientId"] == "c1"
    told = host.notices(thread)
    assert [method for method, _ in told] == ["turn/started", "item/started", "item/completed"]
    assert told[0][1]["turn"]["id"] == "my.turn:1"
    assert told[2][1]["item"] == item
    assert host.read(thread)["preview"] == "look at ☃"


@covers("turnActive", "turnExists", "invalidParams", "threadNotFound")
def test_starts_that_are_refused(host: Host) -> None:
    """-32012 when one is open; -32013 for a turn id that exists; input is not empty."""
    thread = host.thread()
    for wrong in ([], None, "x", [{"type": "text"}], [{"type": "video", "url": "x"}], [{"text": "x"}], [None]):
        host.refused("invalidParams", "turn/start", threadId=thread, input=wrong)
    for wrong_id in ("", "-x", "a" * 129, "a b"):
        host.refused("invalidParams", "turn/start", threadId=thread, input=text("x"), turnId=wrong_id)
    assert host.read(thread)["lastSequence"] == 1
    turn = host.turn(thread, turnId="T" + "x" * 127)
    error = host.refused("turnActive", "turn/start", threadId=thread, input=text("x"))
    assert error.code == -32012 and error.data["turnId"] == turn
    host.append(thread, turn, ("turn.completed", {}))
    error = host.refused("turnExists", "turn/start", threadId=thread, input=text("x"), turnId="t" + "X" * 127)
    assert error.code == -32013
    host.refused("threadNotFound", "turn/start", threadId="nope", input=text("x"))


@covers("turn/interrupt", "turn.canceled", "turnNotActive", "turnNotFound", "turn/completed")
def test_interrupt(host: Host) -> None:
    """turn/interrupt → {}; records turn.canceled, which is terminal; cancelled turns read interrupted."""
    thread = host.thread()
    turn = host.turn(thread)
    host.notices(thread)
    assert host.call("turn/interrupt", threadId=thread, turnId=turn.upper()) == {}
    told = host.notices(thread)
    assert told[-1][0] == "turn/completed" and told[-1][1]["turn"]["status"] == "interrupted"
    assert host.events(thread)[-2]["type"] == "turn.canceled"
    assert host.read(thread, turns=True)["turns"][0]["status"] == "interrupted"
    assert host.refused("turnNotActive", "turn/interrupt", threadId=thread, turnId=turn).code == -32011
    assert host.refused("turnNotFound", "turn/interrupt", threadId=thread, turnId="nope").code == -32010


@covers("turn/steer", "noActiveTurn", "turnNotActive")
def test_steer(host: Host) -> None:
    """turn/steer {threadId, input, expectedTurnId} → {turnId}: a further user message in the open turn."""
    thread = host.thread()
    first = answered(host, thread, "one")
    host.refused("noActiveTurn", "turn/steer", threadId=thread, input=text("x"), expectedTurnId=first)
    turn = host.turn(thread)
    found = host.call("turn/steer", threadId=thread, input=text("and"), expectedTurnId=turn, clientUserMessageId="c")
    assert found == {"turnId": turn}
    assert [i["content"][0]["text"] for i in host.items(thread, turnId=turn)] == ["go on", "and"]
    assert host.items(thread, turnId=turn)[1]["clientId"] == "c"
    host.refused("turnNotActive", "turn/steer", threadId=thread, input=text("x"), expectedTurnId=first)
    host.refused("turnNotFound", "turn/steer", threadId=thread, input=text("x"), expectedTurnId="nope")
    host.refused("invalidParams", "turn/steer", threadId=thread, input=[], expectedTurnId=turn)


@covers("turn.started", "turn.completed", "turn.failed", "turn.canceled", "turnTerminal", "turnNotActive")
def test_turns_by_events(host: Host) -> None:
    """turn.started / .completed / .failed / .canceled {usage?, error?, …}: turn state."""
    thread = host.thread()
    for number, (end, payload, status) in enumerate(
        (
            ("turn.completed", {"usage": usage(2)}, "completed"),
            ("turn.failed", {"error": {"message": "out of road", "additionalDetails": "cliff"}}, "failed"),
            ("turn.failed", {"error": "as text"}, "failed"),
            ("turn.failed", {}, "failed"),
            ("turn.canceled", {"reason": "user"}, "interrupted"),
        )
    ):
        turn = f"t{number}"
        host.append(thread, turn, ("turn.started", {}), (end, payload))
        read = host.read(thread, turns=True)["turns"][number]
        assert read["status"] == status and read["id"] == turn
        assert read["completedAt"] >= read["startedAt"] and read["durationMs"] >= 0
        for again, kind in (
            (end, "turnNotActive"),
            ("turn.started", "turnTerminal"),
            ("acme.x", "turnTerminal"),
            ("provider.usage", "turnTerminal"),
        ):
            event = {"type": again, "payload": usage(1) if again == "provider.usage" else {}}
            host.refused(
                kind, "agentSession/runtimeEvents/append", sessionId=thread, turnId=turn, runtimeEvents=[event]
            )
    turns = host.read(thread, turns=True)["turns"]
    assert turns[0]["usage"] == usage(2)
    assert turns[1]["error"] == {"message": "out of road", "additionalDetails": "cliff"}
    assert turns[2]["error"] == {"message": "as text"}
    assert "error" not in turns[0] and turns[3]["error"]["message"]


def test_whatever_a_failed_turn_says_can_be_read(host: Host) -> None:
    """error?{message, additionalDetails?}: details that are no text are shown as JSON; no read fails."""
    thread = host.thread()
    for n, (error, expected) in enumerate(
        (
            ({"additionalDetails": {"n": 1.5}, "code": 3}, {"additionalDetails": '{"n":1.5}', "code": 3}),
            ({"message": None, "additionalDetails": None}, {}),
        )
    ):
        host.append(thread, f"t{n}", ("turn.started", {}), ("turn.failed", {"error": error}))
        read = host.read(thread, turns=True)["turns"][n]["error"]
        assert read.pop("message") and read == expected


def test_input_comes_back_as_sent(host: Host) -> None:
    """Unknown fields of a message's parts are kept, with the digits that were sent."""
    thread = host.thread()
    part = b'{"type":"text","text":"x","text_elements":[],"n":1.50,"big":1180591620717411303424}'
    host.post("turn/start", b'{"threadId":"%s","input":[%s]}' % (thread.encode(), part))
    assert b'"content":[%s]' % part in host.raw_reply("thread/items/list", threadId=thread)


def test_a_host_announces_again_what_turn_start_opened(host: Host) -> None:
    """turn.started for the open turn is kept as an event and opens nothing."""
    thread = host.thread()
    turn = host.turn(thread)
    host.append(thread, turn, ("turn.started", {"acme": 1}))
    assert host.read(thread)["turnCount"] == 1
    assert host.events(thread)[-1]["payload"] == {"acme": 1}
    host.refused(
        "turnActive",
        "agentSession/runtimeEvents/append",
        sessionId=thread,
        turnId="other",
        runtimeEvents=[{"type": "turn.started", "payload": {}}],
    )


def test_a_turn_id_in_the_payload(host: Host) -> None:
    """turn.started takes its id from the request, else from the payload, else one is made."""
    thread = host.thread()
    stored = host.append(thread, None, ("turn.started", {"turnId": "from-payload"}), ("turn.completed", {}))
    assert [e["turnId"] for e in stored] == ["from-payload"] * 2
    stored = host.append(thread, None, ("turn.started", {}), ("turn.completed", {}))
    assert stored[0]["turnId"] == stored[1]["turnId"] != "from-payload"


@covers("provider.usage", "thread/tokenUsage/updated")
def test_usage(host: Host) -> None:
    """provider.usage adds to turn and thread; thread/tokenUsage/updated tells total and last."""
    thread = host.thread()
    turn = host.turn(thread)
    host.notices(thread)
    host.append(thread, turn, ("provider.usage", {**usage(1), "model": "m", "costUsd": 0.5}))
    host.append(
        thread, turn, ("provider.usage", {**usage(2), "costUsd": 0.25}), ("turn.completed", {"usage": usage(9)})
    )
    told = [params for method, params in host.notices(thread) if method == "thread/tokenUsage/updated"]
    assert [t["turnId"] for t in told] == [turn, turn]
    assert told[1]["tokenUsage"]["total"] == {**usage(3), "costUsd": 0.75}
    assert told[1]["tokenUsage"]["last"] == {**usage(2), "costUsd": 0.25}
    read = host.read(thread, turns=True)
    assert read["usage"] == read["turns"][0]["usage"] == {**usage(3), "costUsd": 0.75}, "an end repeats the sum"
    for wrong in ({}, {**usage(1), "inputTokens": -1}, {**usage(1), "costUsd": "1"}, {**usage(1), "outputTokens": 1.5}):
        host.refused(
            "invalidParams",
            "agentSession/runtimeEvents/append",
            sessionId=thread,
            runtimeEvents=[{"type": "provider.usage", "payload": wrong}],
        )


def test_usage_outside_a_turn(host: Host) -> None:
    """A usage event with no turn open counts for the thread."""
    thread = host.thread()
    host.append(thread, None, ("provider.usage", usage(4)))
    assert host.read(thread)["usage"] == usage(4)


def test_huge_counts(host: Host) -> None:
    """Counts beyond 64 bits do not end anything."""
    thread = host.thread()
    turn = host.turn(thread)
    big = {**usage(1), "inputTokens": 2**70}
    host.append(thread, turn, ("provider.usage", big), ("provider.usage", {**usage(1), "inputTokens": 2**63 - 1}))
    assert host.events(thread)[-2]["payload"] == big
    assert host.read(thread, turns=True)["usage"]["inputTokens"] > 0


@covers("route.selected", "authority.set")
def test_route_and_authority(host: Host) -> None:
    """route.selected {provider, model, wireFormat?}, authority.set {mode, …}: on the turn."""
    thread = host.thread()
    turn = host.turn(thread)
    route = {"provider": "acme", "model": "m", "wireFormat": "responses", "more": 1.50}
    authority = {"mode": "auto", "trust": "high", "sandbox": {"x": 1}, "allowed": ["a"]}
    host.append(
        thread,
        turn,
        ("route.selected", {**route, "model": "old"}),
        ("route.selected", route),
        ("authority.set", authority),
    )
    read = host.read(thread, turns=True)["turns"][0]
    assert read["route"] == route and read["authority"] == authority


@covers("action.required", "action.resolved", "action.cancelled")
def test_actions(host: Host) -> None:
    """action.required / .resolved / .cancelled {requestId, …}: approvals, pending until the turn ends."""
    thread = host.thread()
    turn = host.turn(thread)
    host.append(thread, turn, ("action.required", {"requestId": "a"}), ("action.required", {"requestId": "b"}))
    waiting = {"type": "active", "activeFlags": ["waitingOnApproval"]}
    assert host.read(thread)["status"] == waiting
    host.append(thread, turn, ("action.cancelled", {"requestId": "a"}))
    assert host.read(thread)["status"] == waiting
    host.append(thread, turn, ("action.resolved", {"requestId": "b"}))
    assert host.read(thread)["status"] == {"type": "active", "activeFlags": []}
    host.append(thread, turn, ("action.required", {"requestId": "c"}), ("turn.completed", {}))
    assert host.read(thread)["status"] == {"type": "idle"}
    assert host.call("turn/receipt/read", threadId=thread, turnId=turn)["counts"]["approvals"] == 3
    host.refused(
        "invalidParams",
        "agentSession/runtimeEvents/append",
        sessionId=thread,
        runtimeEvents=[{"type": "action.required", "payload": {}}],
    )


# -- rollback -----------------------------------------------------------------------------------------------------
@covers("thread/rollback", "thread.rolledBack")
def test_rollback(host: Host) -> None:
    """An event, not an edit: the turns leave reads, counts, usage, and stay in thread/events/list."""
    thread = host.thread()
    turns = [answered(host, thread, f"q{n}") for n in range(4)]
    before = host.events(thread)
    found = host.call("thread/rollback", threadId=thread, numTurns=2)["thread"]
    assert found["turnCount"] == 2 and found["usage"] == usage(2) and found["preview"] == "q0"
    assert [t["id"] for t in host.read(thread, turns=True)["turns"]] == turns[:2]
    assert [t["id"] for t in host.pages("thread/turns/list", "data", threadId=thread, limit=1)] == turns[1::-1]
    assert len(host.items(thread)) == 4
    assert host.events(thread)[: len(before)] == before and host.events(thread)[-1]["type"] == "thread.rolledBack"
    detail = host.call("agentSession/read", sessionId=thread)
    assert [t["turnId"] for t in detail["turns"]] == turns[:2] and len(detail["detail"]["items"]) == 4
    newest = host.call("agentSession/read", sessionId=thread, historyLimit=3)["detail"]["items"]
    assert newest == detail["detail"]["items"][1:], "a page of history is full, though turns were rolled back"
    assert (
        host.call("agentSession/read", sessionId=thread, historyLimit=2, historyOffset=1)["detail"]["items"]
        == (detail["detail"]["items"][1:3])
    )
    overview = next(s for s in host.call("agentSession/list")["sessions"] if s["sessionId"] == thread)
    assert overview["messagesCount"] == 4
    new = answered(host, thread, "again")
    assert [t["id"] for t in host.read(thread, turns=True)["turns"]] == [*turns[:2], new]
    host.refused("turnExists", "turn/start", threadId=thread, input=text("x"), turnId=turns[3])
    found = host.call("thread/rollback", threadId=thread, toTurnId=turns[0])["thread"]
    assert found["turnCount"] == 1 and found["usage"] == usage(1)
    host.refused("turnNotFound", "thread/rollback", threadId=thread, toTurnId=turns[1])
    assert host.call("thread/rollback", threadId=thread, numTurns=0)["thread"]["turnCount"] == 1
    for wrong in ({}, {"numTurns": 2}, {"numTurns": -1}, {"numTurns": 1.0}):
        host.refused("invalidParams", "thread/rollback", threadId=thread, **wrong)
    assert host.call("thread/rollback", threadId=thread, numTurns=1)["thread"]["turnCount"] == 0
    assert host.items(thread) == [] and host.read(thread)["preview"] == ""


def test_the_preview_leaves_with_its_turn(host: Host) -> None:
    """Rolled back turns leave the preview."""
    thread = host.thread()
    host.append(thread, "first", ("turn.started", {}), ("turn.completed", {}))
    answered(host, thread, "the secret")
    assert host.read(thread)["preview"] == "the secret"
    assert host.call("thread/rollback", threadId=thread, numTurns=1)["thread"]["preview"] == ""
    assert host.call("thread/list", searchTerm="the secret")["data"] == []
    answered(host, thread, "anew")
    assert host.read(thread)["preview"] == "anew"


def test_rollback_with_a_turn_open(host: Host) -> None:
    """With a turn open: -32012."""
    thread = host.thread()
    answered(host, thread, "one")
    turn = host.turn(thread)
    assert host.refused("turnActive", "thread/rollback", threadId=thread, numTurns=1).data["turnId"] == turn


def test_checkpoints_of_rolled_back_turns_stay(host: Host, workspace: Path) -> None:
    """Their checkpoints stay listed, since files are untouched."""
    thread = host.thread(cwd=str(workspace))
    turn = host.turn(thread)
    host.append(thread, turn, ("artifact.snapshot", {"path": "a", "content": "1"}), ("turn.completed", {}))
    host.call("thread/rollback", threadId=thread, numTurns=1)
    assert [c["path"] for c in host.checkpoints(thread)] == ["a"]
    assert host.read(thread)["fileCheckpointSummary"]["count"] == 1
    assert host.items(thread) == []
    assert host.snapshot(thread, None, {"path": "a", "content": "2"})["versionNo"] == 2


# -- fork ---------------------------------------------------------------------------------------------------------
def shape(host: Host, thread: str) -> list[tuple[str, str, list[dict[str, Any]]]]:
    return [(t["id"], t["status"], t["items"]) for t in host.read(thread, turns=True)["turns"]]


@covers("thread/fork", "thread/started")
def test_fork_at_every_turn(host: Host, workspace: Path) -> None:
    """thread/fork {lastTurnId? | beforeTurnId?}: same turn and item ids, forkedFromId; the parent is unchanged."""
    thread = host.thread(cwd=str(workspace), model="m", modelProvider="p", acme=1)
    turns = []
    for n in range(4):
        turns.append(host.turn(thread, f"q{n}"))
        host.append(
            thread,
            turns[n],
            ("artifact.snapshot", {"path": "a.txt", "content": f"{n}\n"}),
            ("acme.n", {"n": n}),
            ("turn.completed", {}),
        )
    rollout = Path(host.read(thread)["path"])
    before, whole, checkpoints = rollout.read_bytes(), shape(host, thread), host.checkpoints(thread)
    for n, turn in enumerate(turns):
        for params, count in (({"lastTurnId": turn.upper()}, n + 1), ({"beforeTurnId": turn}, n)):
            found = host.call("thread/fork", threadId=thread, **params)
            fork = found["thread"]
            assert fork["forkedFromId"] == fork["forkRootId"] == thread and fork["sessionId"] == fork["id"] != thread
            assert found["model"] == "m" and found["modelProvider"] == "p" and fork["extra"] == {"acme": 1}
            assert fork["turnCount"] == count and [t["id"] for t in fork["turns"]] == turns[:count]
            assert shape(host, fork["id"]) == whole[:count]
            mine = host.checkpoints(fork["id"])
            assert [c["checkpointId"] for c in mine] == [c["checkpointId"] for c in checkpoints[4 - count :]]
            for checkpoint in mine:
                document = workspace / checkpoint["snapshotPath"]
                assert json.loads(document.read_text(encoding="utf-8"))["threadId"] == fork["id"]
            assert [e["sequence"] for e in host.events(fork["id"])] == list(range(1, fork["lastSequence"] + 1))
            assert ("thread/started", fork["id"]) in [
                (m, p["thread"]["id"]) for m, p in host.notices(fork["id"]) if m == "thread/started"
            ]
    assert rollout.read_bytes() == before
    excluded = host.call("thread/fork", threadId=thread, excludeTurns=True)["thread"]
    assert excluded["turns"] == [] and excluded["turnCount"] == 4
    host.refused("turnNotFound", "thread/fork", threadId=thread, lastTurnId="nope")
    host.refused("invalidParams", "thread/fork", threadId=thread, lastTurnId=turns[0], beforeTurnId=turns[1])
    host.refused("threadNotFound", "thread/fork", threadId="nope")


def test_a_fork_is_announced_and_watched(host: Host) -> None:
    """as thread/start + thread/started."""
    thread = host.thread()
    answered(host, thread, "q")
    fork = host.call("thread/fork", threadId=thread)["thread"]["id"]
    told = host.notices(fork)
    assert told[0][0] == "thread/started" and told[0][1]["thread"]["forkedFromId"] == thread
    turn = host.turn(fork)
    assert ("turn/started", turn) in [(m, p["turn"]["id"]) for m, p in host.notices(fork) if "turn" in p]


def test_fork_of_a_fork(host: Host) -> None:
    """A fork's tree is in forkedFromId and forkRootId."""
    thread = host.thread()
    answered(host, thread, "q")
    one = host.call("thread/fork", threadId=thread)["thread"]["id"]
    answered(host, one, "r")
    two = host.call("thread/fork", threadId=one)["thread"]
    assert two["forkedFromId"] == one and two["forkRootId"] == thread and two["turnCount"] == 2
    assert shape(host, two["id"]) == shape(host, one)


@covers("turn.interrupted")
def test_fork_of_an_open_turn(host: Host) -> None:
    """An open turn is interrupted in the fork; the parent goes on."""
    thread = host.thread()
    answered(host, thread, "q")
    turn = host.turn(thread, "r")
    host.append(thread, turn, ("message.delta", {"itemId": "m", "delta": "half a "}))
    host.append(thread, turn, ("item.started", {"item": {"type": "commandExecution", "id": "c", "command": "x"}}))
    fork = host.call("thread/fork", threadId=thread)["thread"]
    assert fork["status"] == {"type": "idle"} and fork["turns"][1]["status"] == "interrupted"
    assert host.item(fork["id"], "m")["text"] == "half a "
    command = host.item(fork["id"], "c")
    assert command["status"] == "failed" and command["interrupted"] is True
    assert host.events(fork["id"])[-1]["type"] == "turn.interrupted"
    host.append(thread, turn, ("message.delta", {"itemId": "m", "delta": "word"}), ("turn.completed", {}))
    assert host.item(thread, "m")["text"] == "half a word"
    assert host.item(fork["id"], "m")["text"] == "half a "
    assert host.call("thread/fork", threadId=thread, beforeTurnId=turn)["thread"]["turnCount"] == 1
    answered(host, fork["id"], "another way")


def test_fork_of_an_archived_thread(host: Host) -> None:
    """A fork is not archived because its parent is."""
    thread = host.thread()
    answered(host, thread, "q")
    host.call("thread/archive", threadId=thread)
    fork = host.call("thread/fork", threadId=thread)["thread"]
    assert fork["archived"] is False and fork["turnCount"] == 1
    overview = next(s for s in host.call("agentSession/list")["sessions"] if s["sessionId"] == fork["id"])
    assert "archivedAt" not in overview
    answered(host, fork["id"], "r")


def test_a_fork_keeps_its_own_name_and_workspace(host: Host, workspace: Path) -> None:
    """name, cwd of the fork stand, whatever the parent was renamed to before."""
    thread = host.thread(name="one", extra_field=1)
    host.call("thread/name/set", threadId=thread, name="two")
    host.call("thread/metadata/update", threadId=thread, workspace=str(workspace), extra={"k": 1})
    plain = host.call("thread/fork", threadId=thread)["thread"]
    assert plain["name"] == "two" and plain["cwd"] == str(workspace) and plain["extra"] == {"extra_field": 1, "k": 1}
    other = workspace.parent / "other"
    other.mkdir()
    found = host.call("thread/fork", threadId=thread, name="mine", cwd=str(other))
    assert found["thread"]["name"] == "mine" and found["cwd"] == found["thread"]["cwd"] == str(other)
    host.refused("invalidParams", "thread/fork", threadId=thread, cwd="relative")


def test_fork_after_rollback(host: Host) -> None:
    """What was rolled back stays out of the fork's reads; one cannot fork from it."""
    thread = host.thread()
    turns = [answered(host, thread, f"q{n}") for n in range(3)]
    host.call("thread/rollback", threadId=thread, numTurns=1)
    turns.append(answered(host, thread, "q3"))
    for params, expected in (
        ({}, [0, 1, 3]),
        ({"lastTurnId": turns[1]}, [0, 1]),
        ({"beforeTurnId": turns[3]}, [0, 1]),
        ({"beforeTurnId": turns[0]}, []),
        ({"lastTurnId": turns[3]}, [0, 1, 3]),
    ):
        fork = host.call("thread/fork", threadId=thread, **params)["thread"]
        assert [t["id"] for t in fork["turns"]] == [turns[n] for n in expected], params
        assert fork["turnCount"] == len(expected) and fork.get("usage", usage(0)) == usage(len(expected))
    host.refused("turnNotFound", "thread/fork", threadId=thread, lastTurnId=turns[2])


def test_a_fork_is_its_own(host: Host) -> None:
    """Ids are unique per thread, not over threads: both go on with the same ids; deleting one spares the other."""
    thread = host.thread()
    answered(host, thread, "q")
    event = {"type": "acme.x", "payload": {"n": 1}, "eventId": "shared-1"}
    host.append(thread, None, event)
    fork = host.call("thread/fork", threadId=thread)["thread"]["id"]
    for where in (thread, fork):
        assert host.append_result(where, None, event)["duplicates"] == 1
        host.turn(where, turnId="same")
    host.call("thread/delete", threadId=thread)
    assert host.read(fork)["forkedFromId"] == thread
    assert len(shape(host, fork)) == 2
