"""Sessions that share lines: resumed under another id, copied again, or two files of one session that went apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.wire.cli_scene import Root
from tests.wire.host import Host
from tests.wire.test_conversation_import import COMMIT, SCAN, Transcript, added, commit, read, result

covers = pytest.mark.covers


def original(folder: Path) -> Transcript:
    """Two turns, one of which writes a file."""
    source = Transcript(folder, str(uuid4()))
    source.ask("please make a file")
    source.write_file("a.txt", "one\n")
    source.answer("made it")
    source.ask("is it well")
    source.answer("it is")
    return source


def resumed(source: Transcript, *, rewritten: bool = True) -> Transcript:
    """The same lines under another id, as Claude Code begins a session that goes on from one."""
    session = str(uuid4())
    copy = Transcript(source.path.parents[2], session)
    lines = [json.loads(line) for line in source.path.read_bytes().splitlines()]
    if rewritten:
        lines = [{**line, "sessionId": session} for line in lines]
    copy.path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    copy.follow(source)
    return copy


def texts(host: Host, thread: str) -> list[str]:
    found: list[str] = []
    for turn in read(host, thread)["turns"]:
        for item in turn["items"]:
            text = item.get("text") or "".join(part["text"] for part in item.get("content", []))
            found += [text] if text else []
    return found


def go_on(copy: Transcript, text: str) -> str:
    turn = copy.ask(text)
    copy.write_file("a.txt", f"{text}\n", before="one\n")
    copy.answer(f"done: {text}")
    return turn


FIRST = ["please make a file", "made it", "is it well", "it is"]


@covers(COMMIT)
@pytest.mark.parametrize("rewritten", [True, False], ids=["rewritten ids", "old ids"])
def test_a_resumed_copy_holds_only_what_is_new(host: Host, tmp_path: Path, *, rewritten: bool) -> None:
    """Behind the original, its copy is a thread that goes on from it: new turns, its own usage and file versions."""
    source = original(tmp_path)
    first = added(result(host, source.path))
    before = read(host, source.session)
    copy = resumed(source, rewritten=rewritten)
    turn = go_on(copy, "more")
    found = result(host, copy.path)
    assert (added(found), found["forkedFromId"], found["sharedItems"]) == ((1, 3, 1), source.session, sum(first) - 2)
    thread = read(host, copy.session)
    assert (thread["forkedFromId"], thread["forkRootId"]) == (source.session, source.session)
    assert [t["id"] for t in thread["turns"]] == [turn]
    assert texts(host, copy.session) == ["more", "done: more"]
    assert thread["usage"]["outputTokens"] == 14
    assert thread["createdAt"] > before["createdAt"]
    versions = host.call("agentSession/fileCheckpoint/list", sessionId=copy.session)["checkpoints"]
    assert [(entry["op"], entry["additions"], entry["deletions"]) for entry in versions] == [("modified", 1, 1)]
    assert read(host, source.session) == before
    started = host.call("thread/events/list", threadId=copy.session, limit=1)["data"][0]["payload"]
    assert started["importedFrom"]["shared"] == {
        "threadId": source.session, "items": sum(first) - 2, "lastTurnId": before["turns"][-1]["id"],
    }  # fmt: skip
    hits = host.call("thread/search", query="well")["data"]
    assert [hit["threadId"] for hit in hits if hit["threadId"] in (source.session, copy.session)] == [source.session]
    assert added(result(host, copy.path)) == added(result(host, source.path)) == (0, 0, 0)


@covers(COMMIT)
def test_the_order_of_imports_decides_only_who_holds_what_is_shared(host: Host, tmp_path: Path) -> None:
    """The copy first: it is whole; the original behind it has no line of its own until it grows."""
    source = original(tmp_path)
    copy = resumed(source)
    go_on(copy, "more")
    assert added(result(host, copy.path)) == (3, 8, 2)
    found = result(host, source.path)
    assert (added(found), found["forkedFromId"]) == ((0, 0, 0), copy.session)
    assert read(host, source.session)["turns"] == []
    assert texts(host, copy.session) == [*FIRST, "more", "done: more"]
    go_on(source, "elsewhere")
    assert added(result(host, source.path)) == (1, 3, 1)
    assert texts(host, source.session) == ["elsewhere", "done: elsewhere"]
    assert added(result(host, copy.path)) == (0, 0, 0)


@covers(COMMIT, SCAN)
def test_copies_of_copies_in_one_go(host: Host, tmp_path: Path) -> None:
    """Three sessions, each begun from the one before and imported at once: every text is there once."""
    source = original(tmp_path)
    copy = resumed(source)
    go_on(copy, "more")
    second = resumed(copy)
    go_on(second, "most")
    go_on(source, "elsewhere")
    go_on(copy, "later")
    paths = [entry["sourcePath"] for entry in host.call(SCAN, sourceRoot=str(tmp_path))["threads"]]
    jobs = [host.call(COMMIT, sourcePath=path, confirmed=True)["job"]["jobId"] for path in paths]
    while {host.call("conversationImport/job/read", jobId=job)["job"]["status"] for job in jobs} != {"completed"}:
        pass
    told = [text for thread in (source.session, copy.session, second.session) for text in texts(host, thread)]
    new = [text for word in ("more", "most", "elsewhere", "later") for text in (word, f"done: {word}")]
    assert sorted(told) == sorted([*FIRST, *new])
    roots = {read(host, thread).get("forkRootId", thread) for thread in (source.session, copy.session, second.session)}
    assert len(roots) == 1


@covers(COMMIT)
def test_a_copy_that_goes_on_in_the_middle_of_a_turn(host: Host, tmp_path: Path) -> None:
    """The turn is there twice with one id, each of its items once; a call's result goes where the file has it."""
    source = original(tmp_path)
    source.ask("run it")
    source.add("assistant", [{"type": "tool_use", "id": "toolu_x", "name": "Bash", "input": {"command": "make"}}])
    copy = resumed(source)
    result(host, source.path)
    done = [{"type": "tool_result", "tool_use_id": "toolu_x", "content": "built"}]
    copy.add("user", done, toolUseResult={"stdout": "built", "stderr": "", "interrupted": False})
    copy.answer("it runs")
    found = result(host, copy.path)
    assert (added(found), found["forkedFromId"]) == ((1, 2, 0), source.session)
    (turn,) = read(host, copy.session)["turns"]
    assert turn["id"] == read(host, source.session)["turns"][-1]["id"]
    assert [item["type"] for item in turn["items"]] == ["commandExecution", "agentMessage"]
    assert turn["items"][0]["aggregatedOutput"] == "built"


@covers(COMMIT)
def test_a_second_file_of_a_session_becomes_a_fork_of_its_own(host: Host, tmp_path: Path) -> None:
    """A conflict copy: shared lines once, the rest beside it under an id made from it; again and grown is as ever."""
    source = original(tmp_path)
    conflict = tmp_path / "projects" / "conflict.jsonl"
    conflict.write_bytes(source.path.read_bytes())
    go_on(source, "here")
    result(host, source.path)
    assert added(result(host, conflict)) == (0, 0, 0)  # only an older copy so far
    other = Transcript(tmp_path, source.session)
    other.path = conflict
    other.follow(source)
    go_on(other, "there")
    found = result(host, conflict)
    branch = found["threadId"]
    assert (added(found), found["forkedFromId"]) == ((1, 3, 1), source.session)
    assert texts(host, branch) == ["there", "done: there"]
    assert texts(host, source.session) == [*FIRST, "here", "done: here"]
    assert added(result(host, conflict)) == (0, 0, 0)
    go_on(other, "later")
    again = result(host, conflict)
    assert (again["threadId"], added(again)) == (branch, (1, 3, 1))
    assert added(result(host, source.path)) == (0, 0, 0)
    listed = host.call(SCAN, sourceRoot=str(tmp_path))["threads"]
    assert sorted(entry["sourcePath"] for entry in listed) == sorted([str(source.path), str(conflict)])


@covers(COMMIT)
@pytest.mark.parametrize(
    ("number", "change"),
    [(4, {"message": {"role": "user", "content": "other"}}), (0, {"message": "other"}), (0, {"version": "9.9.9"})],
    ids=["in its middle", "at its start", "in nothing that is kept"],
)
def test_a_source_that_changed_says_so(host: Host, tmp_path: Path, number: int, change: dict[str, Any]) -> None:
    """What is the same on both sides of a change is no fork: the error says what to do, and nothing was written."""
    source = original(tmp_path)
    result(host, source.path)
    before = read(host, source.session)
    lines: list[dict[str, Any]] = [json.loads(line) for line in source.path.read_bytes().splitlines()]
    lines[number] |= change
    source.path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    found = commit(host, source.path)
    assert (found["status"], found["error"]["reason"]) == ("failed", "sourceChanged")
    assert "replaceExisting" in found["error"]["message"]
    assert read(host, source.session) == before


def test_the_command_line_says_where_a_session_goes_on_from(tmp_path: Path) -> None:
    """A folder of a session, its copy and the copy's: each comes in behind the one before, and says which that is."""
    source = original(tmp_path / "home")
    copy = resumed(source)
    go_on(copy, "more")
    second = resumed(copy)
    go_on(second, "most")
    root = Root(tmp_path / "data", tmp_path)
    told = root.run("import", str(tmp_path / "home")).out
    assert told.count("goes on from") == 2
    assert f"goes on from {source.session[:13]}" in told and f"goes on from {copy.session[:13]}" in told
    assert f"forked from {copy.session}" in root.run("show", second.session).out
