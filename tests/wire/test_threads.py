"""CONTRACT section 4: threads, how they are opened, read, named and put away."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.wire.host import Host, Refused

covers = pytest.mark.covers


@covers("initialize", "initialized", "thread/start", "thread/started", "thread.started")
def test_start_returns_the_thread_and_announces_it(host: Host, workspace: Path) -> None:
    """thread/start → {thread, model, modelProvider, cwd, runtimeWorkspaceRoots[], …}; then thread/started."""
    with Host(workspace.parent) as own:
        found = own.call(
            "thread/start",
            cwd=str(workspace),
            model="m1",
            modelProvider="acme",
            runtimeWorkspaceRoots=["/other"],
            serviceName="svc",
            threadSource="user",
            name="first",
            gitInfo={"sha": "abc", "branch": "main", "originUrl": "https://x.invalid/r"},
        )
        thread = found["thread"]
        assert (found["model"], found["modelProvider"], found["cwd"]) == ("m1", "acme", str(workspace))
        assert found["runtimeWorkspaceRoots"] == ["/other"] and found["instructionSources"] == []
        assert (found["approvalPolicy"], found["approvalsReviewer"], found["sandbox"]) == (None, None, None)
        assert thread["sessionId"] == thread["id"] and thread["name"] == "first"
        assert thread["historyMode"] == "paginated" and thread["ephemeral"] is False
        assert thread["status"] == {"type": "idle"} and thread["turns"] == [] and thread["workspaceLinked"] is True
        assert thread["gitInfo"] == {"sha": "abc", "branch": "main", "originUrl": "https://x.invalid/r"}
        assert thread["threadSource"] == "user" and thread["archived"] is False
        assert thread["turnCount"] == 0 and thread["lastSequence"] == 1
        assert thread["fileCheckpointSummary"] == {"count": 0}
        told = own.heard("thread/started")
        assert told["thread"]["id"] == thread["id"] and told["sequence"] == 1
        assert [event["type"] for event in own.events(thread["id"])] == ["thread.started"]


def test_start_keeps_unknown_fields_as_extra_and_the_three_policies(host: Host) -> None:
    """…stored as extra; approvalPolicy, approvalsReviewer, sandbox null unless given."""
    found = host.call(
        "thread/start", approvalPolicy="never", sandbox={"mode": "x"}, acme={"n": [1, None, 2.50]}, config="c"
    )
    assert found["approvalPolicy"] == "never" and found["sandbox"] == {"mode": "x"}
    assert found["thread"]["extra"] == {"acme": {"n": [1, None, 2.5]}, "config": "c"}
    again = host.call("thread/resume", threadId=found["thread"]["id"])
    assert again["approvalPolicy"] == "never" and again["sandbox"] == {"mode": "x"}


def test_a_thread_without_cwd(host: Host) -> None:
    """thread.cwd is "" where there is none."""
    found = host.call("thread/start")
    assert found["thread"]["cwd"] == "" and found["cwd"] == "" and found["thread"]["workspaceLinked"] is False


@covers("invalidParams")
def test_cwd_must_be_absolute(host: Host) -> None:
    """`cwd` is the workspace root: absolute."""
    assert host.refused("invalidParams", "thread/start", cwd="relative/dir").data["errors"][0]["path"] == "cwd"


@covers("threadExists")
def test_a_given_thread_id(host: Host) -> None:
    """A threadId that exists: -32013; thread ids are unique in the root without regard to case."""
    assert host.thread(threadId="My-Thread_1") == "My-Thread_1"
    error = host.refused("threadExists", "thread/start", threadId="my-thread_1")
    assert error.code == -32013
    assert host.call("thread/read", threadId="MY-THREAD_1")["thread"]["id"] == "My-Thread_1"


@pytest.mark.parametrize("given", ["", "a.b", "a:b", "-a", "_a", "a" * 101, "a/b", "..", "a b", "é", "a\n", 7])
def test_thread_ids_that_cannot_be(host: Host, given: Any) -> None:
    """Thread ids at most 100, without `.` and `:`, since they are in file names."""
    assert host.refused("invalidParams", "thread/start", threadId=given).data["errors"][0]["path"] == "threadId"


def test_the_longest_thread_id(host: Host) -> None:
    """Thread ids at most 100."""
    name = "L" + "x" * 99
    assert host.thread(threadId=name) == name
    turn = host.turn(name)
    host.append(name, turn, ("artifact.snapshot", {"path": "a.txt", "content": "x", "beforeAbsent": True}))
    assert host.read(name, turns=True)["turns"][0]["id"] == turn


@covers("thread/read", "threadNotFound")
def test_read(host: Host) -> None:
    """thread/read: with turns if asked; archived ones too; an unknown one is -32010."""
    thread = host.thread()
    turn = host.turn(thread, "hello")
    assert host.read(thread)["turns"] == []
    whole = host.read(thread, turns=True)
    assert whole["status"] == {"type": "active", "activeFlags": []}
    assert [t["id"] for t in whole["turns"]] == [turn] and whole["turns"][0]["itemsView"] == "full"
    assert whole["turns"][0]["items"][0]["content"] == [{"type": "text", "text": "hello"}]
    host.append(thread, turn, ("turn.completed", {}))
    host.call("thread/archive", threadId=thread)
    assert host.read(thread, turns=True)["turns"][0]["status"] == "completed"
    error = host.refused("threadNotFound", "thread/read", threadId="nope")
    assert error.code == -32010 and error.data["threadId"] == "nope"


def test_waiting_for_approval_is_an_active_flag(host: Host) -> None:
    """status {type: "active", activeFlags[]}."""
    thread = host.thread()
    turn = host.turn(thread)
    host.append(thread, turn, ("action.required", {"requestId": "r1"}))
    assert host.read(thread)["status"] == {"type": "active", "activeFlags": ["waitingOnApproval"]}
    host.append(thread, turn, ("action.resolved", {"requestId": "r1", "decision": "allow"}))
    assert host.read(thread)["status"] == {"type": "active", "activeFlags": []}


@covers("thread/name/set", "thread.updated", "agentSession/event")
def test_name(host: Host) -> None:
    """thread/name/set {threadId, name} → {thread}; the event that no other notification covers is told whole."""
    thread = host.thread()
    host.notices(thread)
    assert host.call("thread/name/set", threadId=thread, name="new ☃")["thread"]["name"] == "new ☃"
    told = host.notices(thread)
    assert [(m, p["event"]["type"]) for m, p in told] == [("agentSession/event", "thread.updated")]
    assert host.events(thread)[-2]["type"] == "thread.updated"
    host.refused("threadNotFound", "thread/name/set", threadId="nope", name="x")


@covers("thread/metadata/update")
def test_metadata(host: Host, workspace: Path) -> None:
    """thread/metadata/update {threadId, gitInfo?, extra?, workspace?} → {thread}; workspace links it."""
    thread = host.thread(acme=1)
    found = host.call("thread/metadata/update", threadId=thread, gitInfo={"branch": "b"}, extra={"k": {"n": 1.50}})
    assert found["thread"]["gitInfo"] == {"branch": "b"} and found["thread"]["extra"] == {"acme": 1, "k": {"n": 1.5}}
    found = host.call("thread/metadata/update", threadId=thread, extra={"acme": None}, workspace=str(workspace))
    assert found["thread"]["extra"] == {"k": {"n": 1.5}} and found["thread"]["gitInfo"] == {"branch": "b"}
    assert found["thread"]["cwd"] == str(workspace) and found["thread"]["workspaceLinked"] is True
    (workspace / "a.txt").write_bytes(b"now readable\n")
    host.append(thread, None, ("artifact.snapshot", {"path": "a.txt"}))


@covers("workspaceUnavailable")
def test_a_workspace_that_is_not_there_cannot_be_linked(host: Host, workspace: Path) -> None:
    """workspaceUnavailable: data.path, data.reason."""
    thread = host.thread()
    gone = str(workspace / "none")
    host.refused("invalidParams", "thread/metadata/update", threadId=thread, workspace="")
    error = host.refused("workspaceUnavailable", "thread/metadata/update", threadId=thread, workspace=gone)
    assert error.code == -32020 and host.read(thread)["workspaceLinked"] is False


@covers("thread/archive", "thread/unarchive", "thread/archived", "thread/unarchived", "threadArchived")
@covers("thread.archived", "thread.unarchived")
def test_archive_and_back(host: Host) -> None:
    """archive · unarchive → {} · {thread}, notifications, idempotent; an archived thread takes no work."""
    thread = host.thread()
    turn = host.turn(thread)
    host.append(thread, turn, ("turn.completed", {}))
    host.notices(thread)
    path = Path(host.read(thread)["path"])
    assert host.call("thread/archive", threadId=thread) == {}
    assert host.call("thread/archive", threadId=thread) == {}
    told = host.heard("thread/archived", threadId=thread)
    read = host.read(thread)
    assert read["archived"] is True and read["lastSequence"] == told["sequence"]
    assert Path(read["path"]).parent.name == "archived_sessions" and not path.exists()
    for method, params in (
        ("agentSession/runtimeEvents/append", {"sessionId": thread, "runtimeEvents": [{"type": "a.b"}]}),
        ("turn/start", {"threadId": thread, "input": [{"type": "text", "text": "x"}]}),
        ("thread/resume", {"threadId": thread}),
    ):
        assert host.refused("threadArchived", method, **params).code == -32600
    found = host.call("thread/unarchive", threadId=thread)["thread"]
    assert found["archived"] is False and Path(found["path"]) == path
    assert host.call("thread/unarchive", threadId=thread)["thread"]["archived"] is False
    host.heard("thread/unarchived", threadId=thread)
    assert [e["type"] for e in host.events(thread)][-2:] == ["thread.archived", "thread.unarchived"]
    for method in ("thread/archive", "thread/unarchive"):
        host.refused("threadNotFound", method, threadId="nope")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads /proc")
def test_an_archived_thread_is_not_kept_open(host: Host) -> None:
    """It takes no more events: a host that archives what it is done with does not gather open files."""
    thread, other = host.thread(), host.thread()
    held = Path(f"/proc/{host.process.pid}/fd")

    def is_open() -> bool:
        found = False
        for each in held.iterdir():
            with suppress(FileNotFoundError):  # closed since
                found = found or thread in os.readlink(each)
        return found

    host.append(thread, None, ("a.b", {}))
    assert is_open()
    host.call("thread/archive", threadId=thread)
    host.append(other, None, ("a.b", {}))  # the writer has let go of what came before
    assert not is_open()
    host.call("thread/unarchive", threadId=thread)
    host.append(thread, None, ("a.b", {}))
    assert is_open()


def test_archive_with_an_open_turn(host: Host) -> None:
    """An archived thread takes no append; taken out again, its open turn goes on."""
    thread = host.thread()
    turn = host.turn(thread)
    host.call("thread/archive", threadId=thread)
    host.refused(
        "threadArchived",
        "agentSession/runtimeEvents/append",
        sessionId=thread,
        turnId=turn,
        runtimeEvents=[{"type": "turn.completed", "payload": {}}],
    )
    assert host.read(thread, turns=True)["turns"][0]["status"] == "inProgress"
    host.call("thread/unarchive", threadId=thread)
    host.append(thread, turn, ("turn.completed", {}))
    assert host.read(thread)["status"] == {"type": "idle"}


@covers("thread/delete", "thread/deleted")
def test_delete(host: Host, workspace: Path) -> None:
    """Delete removes rollout, contents, documents, rows; idempotent; notified to those who watch."""
    thread = host.thread(cwd=str(workspace))
    turn = host.turn(thread)
    host.append(thread, turn, ("artifact.snapshot", {"path": "a.txt", "content": "only mine\n"}))
    big = "x" * 100_000
    host.append(
        thread,
        turn,
        ("item.completed", {"item": {"type": "commandExecution", "id": "c", "command": "y", "aggregatedOutput": big}}),
    )
    path = Path(host.read(thread)["path"])
    documents = [p for p in (workspace / ".lockstitch").rglob("*") if p.is_file() and p.name != ".gitignore"]
    assert documents and path.exists()
    assert host.call("thread/delete", threadId=thread.upper()) == {}
    host.heard("thread/deleted", threadId=thread)
    assert not path.exists()
    left = [p for p in (workspace / ".lockstitch").rglob("*") if p.is_file() and p.name != ".gitignore"]
    assert left == []
    assert host.call("thread/delete", threadId=thread) == {}
    host.refused("threadNotFound", "thread/read", threadId=thread)
    assert thread not in [t["id"] for t in host.pages("thread/list", "data")]


def test_delete_spares_what_another_thread_refers_to(host: Host, workspace: Path) -> None:
    """Delete removes contents no other thread refers to."""
    one, two = host.thread(cwd=str(workspace)), host.thread(cwd=str(workspace))
    for thread in (one, two):
        host.append(thread, None, ("artifact.snapshot", {"path": "a.txt", "content": "shared\n"}))
    host.call("thread/delete", threadId=one)
    kept = host.checkpoints(two)[0]
    got = host.call("agentSession/fileCheckpoint/get", sessionId=two, checkpointId=kept["checkpointId"])
    assert got["content"] == "shared\n"


def test_what_was_told_before_a_delete_is_not_lost(host: Host) -> None:
    """Notifications once each, in order: those of earlier events come before thread/deleted."""
    thread = host.thread()
    host.notices(thread)
    events = [("acme.n", {"n": n}) for n in range(200)]
    ids = [
        host.send(
            "agentSession/runtimeEvents/append", {"sessionId": thread, "runtimeEvents": [{"type": t, "payload": p}]}
        )
        for t, p in events
    ]
    last = host.send("thread/delete", {"threadId": thread})
    for id_ in [*ids, last]:
        host.result(id_)
    host.heard("thread/deleted", threadId=thread)
    told = [
        p["event"]["payload"]["n"]
        for m, p in host.unread
        if m == "agentSession/event" and p["event"]["threadId"] == thread and "n" in p["event"]["payload"]
    ]
    assert told == list(range(200))


def test_a_deleted_thread_id_can_be_given_again(host: Host) -> None:
    """Ids are unique in the root: what is deleted is gone from it."""
    host.thread(threadId="again-1")
    host.call("thread/delete", threadId="again-1")
    assert host.thread(threadId="Again-1") == "Again-1"
    assert len(host.events("again-1")) == 1


@covers("messageTooLarge")
def test_a_client_that_takes_little(tmp_path: Path) -> None:
    """maxMessageBytes: thread/read is refused with use: thread/turns/list; pages are shorter; too large an item."""
    with Host(tmp_path.resolve()) as own:
        thread = own.thread()
        turn = own.turn(thread)
        for n in range(6):
            text = str(n) * 20_000
            own.append(
                thread, turn, ("item.completed", {"item": {"type": "agentMessage", "id": f"m{n}", "text": text}})
            )
        own.append(thread, turn, ("turn.completed", {}))
        second = own.turn(thread)
        text = "z" * 60_000
        own.append(thread, second, ("item.completed", {"item": {"type": "agentMessage", "id": "huge", "text": text}}))
    with Host(tmp_path.resolve(), maxMessageBytes=50_000) as own:
        error = own.refused("messageTooLarge", "thread/read", threadId=thread, includeTurns=True)
        assert error.code == -32600 and error.data["use"] == "thread/turns/list"
        page = own.call("thread/items/list", threadId=thread, turnId=turn)
        assert 1 < len(page["data"]) < 6 and page["nextCursor"]
        got = own.items(thread, turnId=turn)
        assert [item["id"] for item in got][1:] == [f"m{n}" for n in range(6)]
        error = own.refused(
            "messageTooLarge", "thread/events/list", threadId=thread, types=["item.completed"], afterSequence=12
        )
        names: list[str] = []
        cursor = None
        while True:
            try:
                page = own.call("thread/items/list", threadId=thread, limit=3, **({"cursor": cursor} if cursor else {}))
            except Refused as refusal:
                assert refusal.kind == "messageTooLarge" and refusal.data["itemId"] == "huge", refusal
                cursor = refusal.data["nextCursor"]
                continue
            names += [entry["item"]["id"] for entry in page["data"]]
            cursor = page["nextCursor"]
            if cursor is None:
                break
        assert len(names) == 8 and "huge" not in names
        assert len(json.dumps(page)) < 50_000


@covers("messageTooLarge")
def test_pages_of_every_list_fit_a_client_that_takes_little(tmp_path: Path) -> None:
    """No message is above maxMessageBytes, every page goes on behind what is too large, and a fork is told."""
    most = 20_000
    with Host(tmp_path.resolve(), maxMessageBytes=most) as own:
        for n in range(30):
            own.call("thread/start", name=str(n) * 400, cwd=str(tmp_path))
        thread = own.thread(cwd=str(tmp_path))
        for n in range(8):
            turn = own.turn(thread, "q" * 500)
            for k in range(4):
                item = {"type": "agentMessage", "id": f"m{n}_{k}", "text": "w" * 500}
                own.append(thread, turn, ("item.completed", {"item": item}))
            snapshot = {"path": f"f{n}.txt", "content": "x" * 4000, "beforeAbsent": True, "title": "t" * 2500}
            own.append(thread, turn, ("artifact.snapshot", snapshot), ("turn.completed", {}))
        lists: list[tuple[str, str, dict[str, Any], int]] = [
            ("thread/list", "data", {"limit": 500}, 31),
            ("agentSession/list", "sessions", {"limit": 500}, 31),
            ("thread/turns/list", "data", {"threadId": thread}, 8),
            ("thread/items/list", "data", {"threadId": thread}, 48),
            ("agentSession/fileCheckpoint/list", "checkpoints", {"sessionId": thread}, 8),
            ("artifact/read", "artifacts", {"sessionId": thread, "includeContent": True}, 8),
        ]
        for method, key, params, count in lists:
            found: list[Any] = []
            cursor: str | None = None
            pages = 0
            while pages == 0 or cursor is not None:
                page = own.call(method, **params, **({"cursor": cursor} if cursor else {}))
                found += page[key]
                cursor, pages = page["nextCursor"], pages + 1
            assert len(found) == count and pages > 1, (method, len(found), pages)
        assert len(own.events(thread)) > 50
        fork = own.call("thread/fork", threadId=thread)["thread"]
        assert fork["turns"] == [] and fork["turnCount"] == 8
        error = own.refused("messageTooLarge", "thread/resume", threadId=thread)
        assert error.data["use"] == "thread/turns/list"
        page = own.call("thread/resume", threadId=thread, initialTurnsPage={"limit": 25})["initialTurnsPage"]
        assert 0 < len(page["data"]) < 8 and page["nextCursor"]
        error = own.refused(
            "messageTooLarge",
            "agentSession/runtimeEvents/append",
            sessionId=thread,
            runtimeEvents=[{"type": "x.large", "payload": {"text": "h" * 30_000}}],
        )
        assert error.data["stored"] is True
        error = own.refused("messageTooLarge", "thread/events/list", threadId=thread, types=["x.large"])
        after = error.data["afterSequence"]
        assert own.call("thread/events/list", threadId=thread, afterSequence=after)["hasMore"] is False


@covers("thread/list")
def test_an_empty_list_of_directories_lets_all_pass(tmp_path: Path) -> None:
    with Host(tmp_path.resolve()) as own:
        own.thread()
        assert len(own.call("thread/list", cwd=[])["data"]) == 1
        assert len(own.call("agentSession/list", cwd=[])["sessions"]) == 1


def test_a_database_taken_away_with_its_directory_is_built_again(tmp_path: Path) -> None:
    with Host(tmp_path.resolve()) as own:
        thread = own.thread()
        before = own.events(thread)
        shutil.rmtree(own.root / "data" / "sqlite")
        assert own.events(thread) == before
        own.append(thread, None, ("x.later", {}))
        assert own.events(thread)[-1]["type"] == "x.later"
