"""CONTRACT section 4: the same facts by the names of agentSession/*."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.wire.host import Host

covers = pytest.mark.covers
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


@covers("agentSession/start", "agentSession/read", "threadExists")
def test_start(host: Host, workspace: Path) -> None:
    """agentSession/start: a thread, keyed by sessionId; AgentSession's times are RFC 3339."""
    found = host.call(
        "agentSession/start",
        sessionId="Sess-1",
        title="t",
        appId="my-app",
        workspaceId="w1",
        cwd=str(workspace),
        acme=1,
    )
    session = found["session"]
    assert session["sessionId"] == session["threadId"] == "Sess-1" == found["thread"]["id"]
    assert (session["appId"], session["workspaceId"], session["status"]) == ("my-app", "w1", "idle")
    assert MOMENT.fullmatch(session["createdAt"]) and MOMENT.fullmatch(session["updatedAt"])
    assert found["thread"]["name"] == "t" and found["thread"]["extra"]["acme"] == 1
    host.refused("threadExists", "agentSession/start", sessionId="sess-1")
    assert host.call("agentSession/start")["session"]["appId"] == "agent-chat"
    read = host.call("agentSession/read", sessionId="SESS-1")
    assert read["session"] == session and read["turns"] == [] and read["detail"]["items"] == []
    assert read["detail"]["session_id"] == read["detail"]["thread_id"] == "Sess-1"
    assert read["detail"]["working_dir"] == str(workspace) and read["detail"]["file_checkpoint_summary"] == {"count": 0}


@covers("agentSession/turn/start", "agentSession/turn/cancel", "turnActive", "turnNotActive")
def test_turns(host: Host) -> None:
    """agentSession/turn/start, turn/cancel: statuses of AgentTurn and AgentSession."""
    session = host.call("agentSession/start")["session"]["sessionId"]

    def status() -> tuple[str, str]:
        read = host.call("agentSession/read", sessionId=session)
        return read["session"]["status"], read["turns"][-1]["status"]

    turn = host.call(
        "agentSession/turn/start",
        sessionId=session,
        turnId="t1",
        clientUserMessageId="c",
        input={
            "text": "look",
            "attachments": [{"kind": "image", "uri": "data:x"}, {"kind": "file", "uri": "/a/b.txt"}],
        },
    )["turn"]
    assert turn["turnId"] == "t1" and turn["status"] == "running" and MOMENT.fullmatch(turn["startedAt"])
    item = host.items(session)[0]
    assert item["content"] == [
        {"type": "text", "text": "look"},
        {"type": "image", "url": "data:x"},
        {"type": "mention", "name": "b.txt", "path": "/a/b.txt"},
    ]
    assert item["clientId"] == "c" and status() == ("running", "running")
    host.refused("turnActive", "agentSession/turn/start", sessionId=session, input={"text": "x"})
    host.append(session, "t1", ("action.required", {"requestId": "r"}))
    assert status() == ("waitingAction", "waitingAction")
    assert host.call("agentSession/turn/cancel", sessionId=session, turnId="t1") == {}
    assert status() == ("canceled", "canceled")
    host.refused("turnNotActive", "agentSession/turn/cancel", sessionId=session, turnId="t1")
    host.refused("turnNotFound", "agentSession/turn/cancel", sessionId=session, turnId="t9")
    for end, expected in (("turn.completed", "completed"), ("turn.failed", "failed")):
        turn = host.call("agentSession/turn/start", sessionId=session, input=[{"type": "text", "text": "x"}])["turn"]
        host.append(session, turn["turnId"], (end, {}))
        assert status() == (expected, expected)
    for wrong in ({"text": ""}, [], {"text": 5}, "x", {}):
        host.refused("invalidParams", "agentSession/turn/start", sessionId=session, input=wrong)


@covers("agentSession/read", "artifact.snapshot")
def test_read(host: Host, workspace: Path) -> None:
    """read {historyLimit?, historyOffset?} → {session, turns, detail}; a checkpoint is an item file_artifact."""
    session = host.thread(cwd=str(workspace))
    turn = host.turn(session)
    outside = {"path": "x", "content": "x"}
    host.append(
        session,
        turn,
        ("artifact.snapshot", {"path": "a", "content": "1\n", "beforeAbsent": True, "kind": "code", "preview": "p"}),
        ("turn.completed", {}),
    )
    host.append(session, None, ("artifact.snapshot", outside))
    detail = host.call("agentSession/read", sessionId=session)["detail"]
    assert [i["type"] for i in detail["items"]] == ["userMessage", "file_artifact", "file_artifact"]
    made, item = host.checkpoints(session)[1], detail["items"][1]
    assert item["id"] == made["checkpointId"] and item["turn_id"] == turn and item["path"] == "a"
    assert (item["source"], item["status"]) == ("agent", "ready") and MOMENT.fullmatch(item["updated_at"])
    metadata = item["metadata"]
    assert metadata["artifactVersionNo"] == 1 and metadata["artifactVersionId"] == made["versionId"]
    assert metadata["artifactKind"] == "code" and metadata["previewText"] == "p" and metadata["artifactId"]
    assert "+1" in metadata["artifactVersionDiff"] and metadata["artifactStatus"] == "ready"
    assert "turn_id" not in detail["items"][2]
    assert [a["path"] for a in detail["recentArtifacts"]] == ["x", "a"]
    assert detail["file_checkpoint_summary"]["count"] == 2

    def items(**params: Any) -> list[str]:
        return [i["id"] for i in host.call("agentSession/read", sessionId=session, **params)["detail"]["items"]]

    whole = [i["id"] for i in detail["items"]]
    for limit in range(5):
        for offset in range(5):
            end = max(0, len(whole) - offset)
            assert items(historyLimit=limit, historyOffset=offset) == whole[max(0, end - limit) : end]
    assert items(historyOffset=1) == whole[:-1]
    host.refused("invalidParams", "agentSession/read", sessionId=session, historyLimit=-1)


@covers("agentSession/list")
def test_list(host: Host, workspace: Path) -> None:
    """list → {sessions[AgentSessionOverview], nextCursor}: the last updated first, archived ones if asked."""
    made = [
        host.call("agentSession/start", workspaceId=f"w{n % 2}", cwd=str(workspace))["session"]["sessionId"]
        for n in range(5)
    ]
    turn = host.turn(made[0], "the title")
    host.append(made[0], turn, ("message.created", {"role": "assistant", "content": "x"}))
    host.call("thread/archive", threadId=made[4])

    def ids(**params: Any) -> list[str]:
        return [s["sessionId"] for s in host.pages("agentSession/list", "sessions", cwd=str(workspace), **params)]

    for limit in (1, 2, 100):
        assert ids(limit=limit) == [made[0], made[3], made[2], made[1]]
        assert ids(limit=limit, includeArchived=True) == [made[4], made[0], made[3], made[2], made[1]]
        assert ids(limit=limit, archivedOnly=True) == [made[4]]
        assert ids(limit=limit, workspaceId="w0") == [made[0], made[2]]
    found = host.call("agentSession/list", cwd=[str(workspace)], includeArchived=True)["sessions"]
    archived, first = found[0], found[1]
    assert MOMENT.fullmatch(archived["archivedAt"]) and "archivedAt" not in first
    assert first["title"] == "the title" and first["messagesCount"] == 2 and first["activeTurnId"] == turn
    assert first["threadStatus"] == first["latestTurnStatus"] == "running" and first["workingDir"] == str(workspace)
    assert "title" not in found[2] and found[2]["threadStatus"] == "idle" and found[2]["queuedTurnCount"] == 0


@covers("agentSession/update", "agentSession/delete", "threadNotFound", "thread/archived", "thread/deleted")
def test_update_and_delete(host: Host) -> None:
    """update {sessionId, title?, providerName?, modelName?, …} → {session}; delete as thread/delete."""
    session = host.call("agentSession/start", acme=1)["session"]["sessionId"]
    found = host.call("agentSession/update", sessionId=session, title="new", providerName="p", modelName="m", mood="ok")
    assert found["session"]["title"] == "new" and found["session"]["model"] == "m"
    thread = host.read(session)
    assert thread["name"] == "new" and thread["modelProvider"] == "p" and thread["extra"] == {"acme": 1, "mood": "ok"}
    assert "archivedAt" in host.call("agentSession/update", sessionId=session, archived=True)["session"]
    host.heard("thread/archived", threadId=session)
    assert "archivedAt" not in host.call("agentSession/update", sessionId=session, archived=False)["session"]
    assert host.call("agentSession/delete", sessionId=session) == {"sessionId": session, "deleted": True}
    host.heard("thread/deleted", threadId=session)
    for method in ("agentSession/read", "agentSession/update", "agentSession/thread/resume"):
        host.refused("threadNotFound", method, sessionId=session)


@covers("agentSession/thread/resume")
def test_resume(host: Host) -> None:
    """agentSession/thread/resume: as thread/resume, subscribes."""
    session = host.call("agentSession/start")["session"]["sessionId"]
    turn = host.turn(session)
    host.notices(session)
    host.call("thread/unsubscribe", threadId=session)
    found = host.call("agentSession/thread/resume", sessionId=session, afterSequence=2)
    assert found["resumed"] is True and [t["turnId"] for t in found["turns"]] == [turn]
    assert found["session"]["status"] == "running" and found["thread"]["id"] == session
    assert [m for m, _ in host.notices(session)] == ["item/started", "item/completed", "agentSession/event"]
    assert host.call("agentSession/thread/resume", sessionId=session, excludeTurns=True)["turns"] == []


@covers("session.create", "session.list", "session.resume", "session.rename", "session.fork", "session.archive")
@covers("session.delete")
def test_the_facade_of_older_clients(host: Host, workspace: Path) -> None:
    """session.*: params and results of the matching thread/*, `session_id` in place of `threadId` accepted."""
    made = host.call("session.create", session_id="old-client", cwd=str(workspace), name="before")
    assert made == host.call("thread/resume", threadId="old-client")
    assert host.call("session.list", limit=1) == host.call("thread/list", limit=1)
    turn = host.turn("old-client")
    for key in ("session_id", "threadId", "sessionId"):
        one = {key: "old-client"}
        assert host.call("session.rename", **one, name=key)["thread"]["name"] == key
        assert host.call("session.resume", **one)["thread"]["turns"][0]["id"] == turn
        fork = host.call("session.fork", **one, lastTurnId=turn)["thread"]
        assert fork["forkedFromId"] == "old-client"
        host.call("session.delete", **{key: fork["id"]})
        host.refused("threadNotFound", "thread/read", threadId=fork["id"])
    host.call("session.archive", session_id="old-client")
    assert host.read("old-client")["archived"]
    host.refused("invalidParams", "session.archive")
    host.refused("threadNotFound", "session.resume", session_id="none")
    host.refused("threadExists", "session.create", session_id="old-client")
