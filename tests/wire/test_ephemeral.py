"""Ephemeral threads do all that others do, in memory, and leave nothing behind: the contract's section 4."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from tests.wire.host import Host

CHECKPOINT = "agentSession/fileCheckpoint"
MARKER = "6e1f-remember-nothing"


def traces(root: Path, *wanted: str) -> list[Path]:
    """Files below a directory whose name, bytes or unpacked bytes hold one of these texts."""
    spelled = [form for text in wanted for form in (text.encode(), base64.b64encode(text.encode())[:-3])]
    found: list[Path] = []
    for path in root.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        if path.suffix == ".z":
            data = zlib.decompress(data)
        if any(form in data or form in str(path.relative_to(root)).encode() for form in spelled):
            found.append(path)
    return found


def whole_life(host: Host, workspace: Path) -> str:
    """An ephemeral thread with everything in it that could be written somewhere: its id."""
    file = workspace / "notes.txt"
    file.write_bytes(b"one\n")
    extra = {"note": MARKER}
    thread = host.thread(cwd=str(workspace), ephemeral=True, name=MARKER, **extra)
    turn = host.turn(thread, f"please {MARKER}")
    host.append(thread, turn, ("message.delta", {"itemId": "m1", "delta": f"{MARKER} "}))
    host.append(thread, turn, ("message.delta", {"itemId": "m1", "delta": "and more"}))
    output = {"itemId": "c1", "exitCode": 0, "aggregatedOutput": MARKER * 10_000}
    host.append(thread, turn, ("command.started", {"itemId": "c1", "command": "ls", "cwd": "/"}))
    host.append(thread, turn, ("command.exited", output))
    host.call(f"{CHECKPOINT}/capture", sessionId=thread, paths=["notes.txt"])
    file.write_bytes(b"two\n")
    host.snapshot(thread, turn, {"path": "notes.txt", "title": MARKER})
    given = {"path": "given.txt", "content": MARKER * 500, "previousContent": f"{MARKER} before", "document": extra}
    host.snapshot(thread, turn, given)
    usage = {"inputTokens": 7, "cachedInputTokens": 0, "outputTokens": 3, "reasoningOutputTokens": 0}
    host.append(thread, turn, ("provider.usage", usage), ("own.kind", {"note": MARKER}), ("turn.completed", {}))
    return thread


def listed(host: Host) -> set[str]:
    """Every thread that a list shows."""
    found = {thread["id"] for thread in host.pages("thread/list", "data", limit=500)}
    found |= {thread["id"] for thread in host.pages("thread/list", "data", archived=True)}
    params = {"includeArchived": True}
    return found | {session["sessionId"] for session in host.pages("agentSession/list", "sessions", **params)}


def test_start_says_that_it_is_ephemeral(host: Host, workspace: Path) -> None:
    """`ephemeral` threads live in memory only and say so: no path, in no list."""
    opened = host.call("thread/start", ephemeral=True, cwd=str(workspace), model="m1")
    thread = opened["thread"]
    assert thread["ephemeral"] is True and "path" not in thread
    assert opened["model"] == "m1" and thread["cwd"] == str(workspace) and thread["lastSequence"] == 1
    told = host.heard("thread/started")
    assert told["thread"]["id"] == thread["id"] and told["thread"]["ephemeral"] is True
    assert host.read(thread["id"]) == thread
    assert thread["id"] not in listed(host)
    session = host.call("agentSession/start", ephemeral=True, sessionId="short-lived", title="once")
    assert session["thread"]["ephemeral"] is True and session["session"]["sessionId"] == "short-lived"
    assert host.call("agentSession/read", sessionId="SHORT-lived")["session"]["status"] == "idle"
    assert "short-lived" not in listed(host)
    stored = host.thread()
    assert host.read(stored)["ephemeral"] is False and stored in listed(host)


def test_it_is_read_like_any_other(host: Host, workspace: Path) -> None:
    """thread/read, turns, items, events, checkpoints, artifacts, receipts, resume: all of it, and complete."""
    thread = whole_life(host, workspace)
    read = host.read(thread, turns=True)
    assert read["status"] == {"type": "idle"} and read["preview"] == f"please {MARKER}"
    assert read["usage"]["inputTokens"] == 7 and read["fileCheckpointSummary"]["count"] == 3
    items = {item["id"]: item for item in read["turns"][0]["items"]}
    assert items["m1"]["text"] == f"{MARKER} and more" and "outputRef" in items["c1"]
    assert host.call("thread/turns/list", threadId=thread)["data"][0]["items"] == read["turns"][0]["items"]
    assert host.items(thread) == read["turns"][0]["items"]
    events = host.events(thread)
    assert [event["sequence"] for event in events] == list(range(1, read["lastSequence"] + 1))
    assert host.call("thread/resume", threadId=thread)["thread"]["turns"] == read["turns"]
    receipt = host.call("turn/receipt/read", threadId=thread, turnId=read["turns"][0]["id"])
    assert receipt["status"] == "completed" and receipt["counts"]["commands"] == 1
    detail = host.call("agentSession/read", sessionId=thread)["detail"]
    assert len(detail["items"]) == len(items) and detail["recentArtifacts"]
    artifacts = host.call("artifact/read", sessionId=thread, includeContent=True)["artifacts"]
    assert MARKER * 10_000 in {artifact.get("content") for artifact in artifacts}


def test_file_versions_are_kept_in_memory(host: Host, workspace: Path) -> None:
    """Checkpoints list, get, diff, capture; nothing of ours appears in the workspace."""
    thread = whole_life(host, workspace)
    given, second, first = host.checkpoints(thread)
    assert (first["source"], second["op"], second["versionNo"]) == ("capture", "modified", 2)
    assert all("snapshotPath" not in found for found in (given, second, first))
    got = host.call(f"{CHECKPOINT}/get", sessionId=thread, checkpointId=second["checkpointId"], side="before")
    assert got["content"] == "one\n" and got["liveState"] == "changed"
    got = host.call(f"{CHECKPOINT}/get", sessionId=thread, checkpointId=given["checkpointId"])
    assert got["content"] == MARKER * 500 and got["liveState"] == "missing"
    diff = host.call(f"{CHECKPOINT}/diff", sessionId=thread, checkpointId=second["checkpointId"])["diff"]
    assert diff["unified"].endswith("@@ -1 +1 @@\n-one\n+two\n")
    assert second["after"]["sha256"] == hashlib.sha256(b"two\n").hexdigest()
    same = host.call(f"{CHECKPOINT}/capture", sessionId=thread, paths=["notes.txt"])
    assert same["unchanged"] == ["notes.txt"] and same["captured"] == []
    assert [path.name for path in workspace.iterdir()] == ["notes.txt"]


def test_it_is_told_and_resumed_like_any_other(host: Host) -> None:
    """Notifications in order, the missed ones after a resume; deltas at once."""
    thread = host.thread(ephemeral=True)
    turn = host.turn(thread)
    stored = host.append(thread, turn, ("message.delta", {"itemId": "m1", "delta": "he"}))
    again = host.append(thread, turn, ("message.delta", {"itemId": "m1", "delta": "llo"}))
    assert "sequence" not in stored[0] and stored[0]["eventId"] == again[0]["eventId"]
    host.append(thread, turn, ("turn.completed", {}))
    told = host.notices(thread)
    expected = ["thread/started", "turn/started", "item/started", "item/completed", "item/started"]
    expected += ["item/agentMessage/delta"] * 2 + ["item/completed", "turn/completed"]
    assert [method for method, _ in told] == expected
    assert host.items(thread)[-1]["text"] == "hello"
    host.call("thread/unsubscribe", threadId=thread)
    last = host.read(thread)["lastSequence"]
    host.append(thread, None, ("own.kind", {"number": 1}))
    host.call("thread/resume", threadId=thread, afterSequence=last)
    (method, told_of), *rest = host.notices(thread)
    assert (method, told_of["event"]["payload"], rest) == ("agentSession/event", {"number": 1}, [])


def test_it_is_changed_like_any_other(host: Host, workspace: Path) -> None:
    """Names, metadata, steering, interrupts, rollback, repeats, conflicts of events."""
    thread = host.thread(ephemeral=True)
    assert host.call("thread/name/set", threadId=thread, name="n")["thread"]["name"] == "n"
    linked = host.call("thread/metadata/update", threadId=thread, extra={"a": 1}, workspace=str(workspace))["thread"]
    assert linked["extra"] == {"a": 1} and linked["workspaceLinked"] is True and linked["ephemeral"] is True
    turn = host.turn(thread)
    host.refused("turnActive", "turn/start", threadId=thread, input=[{"type": "text", "text": "no"}])
    steered = [{"type": "text", "text": "more"}]
    assert host.call("turn/steer", threadId=thread, input=steered, expectedTurnId=turn) == {"turnId": turn}
    event = {"type": "own.kind", "payload": {"a": 1}, "eventId": "e1"}
    first = host.append_result(thread, turn, event)
    assert host.append_result(thread, turn, event) == {**first, "duplicates": 1}
    params = {"sessionId": thread, "turnId": turn, "runtimeEvents": [{**event, "payload": {"a": 2}}]}
    host.refused("eventConflict", "agentSession/runtimeEvents/append", **params)
    assert host.call("turn/interrupt", threadId=thread, turnId=turn) == {}
    assert host.read(thread, turns=True)["turns"][0]["status"] == "interrupted"
    assert host.call("thread/rollback", threadId=thread, numTurns=1)["thread"]["turnCount"] == 0


def test_an_id_is_an_ephemeral_threads_or_a_stored_ones(host: Host) -> None:
    """A `threadId` that exists: -32013, whichever kind it is of; not even two requests at once slip through."""
    host.thread(threadId="Stored-1")
    host.refused("threadExists", "thread/start", threadId="stored-1", ephemeral=True)
    assert host.read("stored-1")["ephemeral"] is False
    host.thread(threadId="Fleeting-1", ephemeral=True)
    host.refused("threadExists", "thread/start", threadId="fleeting-1")
    host.refused("threadExists", "thread/start", threadId="fleeting-1", ephemeral=True)
    assert host.read("fleeting-1")["ephemeral"] is True
    for number, kinds in enumerate([(True, False), (False, True), (True, True)]):
        thread = f"raced-{number}"
        asked = [host.send("thread/start", {"threadId": thread, "ephemeral": kind}) for kind in kinds]
        first, second = (host.reply(id_) for id_ in asked)
        assert first["result"]["thread"]["ephemeral"] is kinds[0]
        assert second["error"]["data"]["kind"] == "threadExists"
        assert host.read(thread)["ephemeral"] is kinds[0]


def test_a_start_that_is_refused_ends_no_subscription(host: Host) -> None:
    """A thread that is watched is watched after a start with its id was refused."""
    for ephemeral in (False, True):
        thread = host.thread(ephemeral=ephemeral)
        host.refused("threadExists", "thread/start", threadId=thread, ephemeral=not ephemeral)
        host.refused("threadExists", "thread/start", threadId=thread, ephemeral=ephemeral)
        assert [method for method, _ in host.notices(thread)] == ["thread/started"]


def test_delete_removes_it_and_frees_its_id(host: Host) -> None:
    """delete → {} and `thread/deleted`, idempotent; the id can be used again, in either kind, at once."""
    host.thread(threadId="again", ephemeral=True)
    host.turn("again")
    for ephemeral in (False, True, True):
        assert host.call("thread/delete", threadId="AGAIN") == {}
        assert host.call("thread/start", threadId="again", ephemeral=ephemeral)["thread"]["ephemeral"] is ephemeral
        assert host.heard("thread/deleted", threadId="again")
        assert [method for method, _ in host.notices("again")][-1] == "thread/started"
    assert host.read("again")["turnCount"] == 0
    host.call("agentSession/delete", sessionId="again")
    host.refused("threadNotFound", "thread/read", threadId="again")
    params = {"sessionId": "again", "runtimeEvents": [{"type": "own.kind", "payload": {}}]}
    host.refused("threadNotFound", "agentSession/runtimeEvents/append", **params)
    assert host.call("thread/delete", threadId="again") == {}


@pytest.mark.parametrize("method", ["thread/archive", "thread/unarchive", "thread/fork"])
def test_what_makes_no_sense_in_memory_is_refused(host: Host, method: str) -> None:
    """archive, unarchive and fork of an ephemeral thread are refused and say why."""
    thread = host.thread(ephemeral=True)
    refused = host.refused("invalidRequest", method, threadId=thread)
    assert "memory only" in refused.message and refused.data["threadId"] == thread
    host.refused("invalidRequest", "agentSession/update", sessionId=thread, archived=True, title="no")
    assert "name" not in host.read(thread)


def test_restore_works_while_the_process_lives(host: Host, workspace: Path) -> None:
    """A restore and its undo; but a conflict is refused: memory is no backup of what nobody else has."""
    thread = whole_life(host, workspace)
    file = workspace / "notes.txt"
    checkpoint = host.checkpoints(thread, path="notes.txt")[0]["checkpointId"]
    params: dict[str, Any] = {"sessionId": thread, "checkpointId": checkpoint, "side": "before"}
    done = host.call(f"{CHECKPOINT}/restore", **params, confirmRestore=True)
    assert file.read_bytes() == b"one\n" and "backupPath" not in done
    undo = {"sessionId": thread, "restoreCheckpointId": done["restoreCheckpointId"], "confirmRestore": True}
    assert host.call(f"{CHECKPOINT}/undo", **undo)["applied"] is True
    assert file.read_bytes() == b"two\n"
    file.write_bytes(b"mine\n")
    host.refused("conflict", f"{CHECKPOINT}/restore", **params, confirmRestore=True)
    host.refused("invalidRequest", f"{CHECKPOINT}/restore", **params, confirmRestore=True, onConflict="backup")
    assert file.read_bytes() == b"mine\n"
    turn = host.read(thread, turns=True)["turns"][0]["id"]
    rewind = {"sessionId": thread, "toTurnId": turn, "position": "before", "confirmRestore": True}
    host.refused("conflict", f"{CHECKPOINT}/rewind", **rewind)
    assert [path.name for path in workspace.iterdir()] == ["notes.txt"]


def test_it_is_replayed_and_exported_into_replies_only(host: Host, workspace: Path) -> None:
    """Replay and the exports in a reply work; those that are files are refused, and leave none."""
    thread = whole_life(host, workspace)
    replayed = host.call("thread/replay", threadId=thread)
    assert replayed["eventCount"] == host.read(thread)["lastSequence"]
    document = host.call("thread/export", threadId=thread, format="jsonl", redact=False)
    assert [json.loads(line)["sequence"] for line in document["content"].split("\n")[:2]] == [1, 2]
    told = host.call("evidence/export", sessionId=thread, includeEvidencePack=False)
    assert len(told["events"]) == replayed["eventCount"]
    host.refused("invalidRequest", "evidence/export", sessionId=thread)
    host.refused("invalidRequest", "agentSession/replayCase/export", sessionId=thread)
    host.refused("invalidRequest", "thread/export", threadId=thread, format="markdown", path=str(workspace / "x.md"))
    assert [path.name for path in workspace.iterdir()] == ["notes.txt"]


def test_more_threads_than_the_writer_has_at_hand(host: Host) -> None:
    """A thread that was put aside goes on where it was: its sequences, turn and streamed text."""
    threads = [host.thread(ephemeral=True) for _ in range(70)]
    turns = [host.turn(thread, f"number {number}") for number, thread in enumerate(threads)]
    for thread, turn in zip(threads, turns, strict=True):
        host.append(thread, turn, ("message.delta", {"itemId": "m", "delta": "late"}))
        host.append(thread, turn, ("turn.completed", {}))
    for number, thread in enumerate(threads):
        read = host.read(thread, turns=True)
        assert read["preview"] == f"number {number}" and read["turns"][0]["items"][-1]["text"] == "late"
        assert [event["sequence"] for event in host.events(thread)] == list(range(1, read["lastSequence"] + 1))


@pytest.mark.parametrize("end", ["close", "kill"])
def test_nothing_of_it_is_left(tmp_path: Path, workspace: Path, end: str) -> None:
    """After the process ends it is gone, and not one byte of it was ever written anywhere."""
    root = tmp_path / "root"
    root.mkdir()
    with Host(root) as host:
        stored = host.thread(name="stored")
        thread = whole_life(host, workspace)
        open_turn = host.turn(thread, f"still open {MARKER}")
        host.append(thread, open_turn, ("message.delta", {"itemId": "m9", "delta": MARKER}))
        before = traces(root, thread, MARKER), traces(workspace, thread, MARKER)
        if end == "kill":
            host.kill()
        else:
            assert host.close() == 0
        assert MARKER.encode() not in host.log and thread.encode() not in host.log
    assert before == ([], [])
    assert traces(root, thread, MARKER) == [] and traces(workspace, thread, MARKER) == []
    assert traces(root, stored) != [], "the search finds what is there"
    with Host(root) as host:
        host.refused("threadNotFound", "thread/read", threadId=thread)
        host.refused("threadNotFound", "thread/resume", threadId=thread)
        assert listed(host) == {stored}
        assert host.thread(threadId=thread) == thread
        assert MARKER not in json.dumps(host.events(thread))
