"""CONTRACT section 8, conversationImport: scan, preview, commit as a job, once only, grown and changed sources."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest
from tests.wire.host import Host, Refused, difference

covers = pytest.mark.covers
COMMIT, JOB = "conversationImport/thread/commit", "conversationImport/job/read"
CANCEL = "conversationImport/job/cancel"
SCAN, PREVIEW = "conversationImport/source/scan", "conversationImport/thread/preview"
FIXTURES = Path(__file__).parents[1] / "fixtures" / "imports"
SHARED = Path(__file__).parents[3] / "shared" / "data" / "sessions"
SESSION = "11111111-2222-4333-8444-555555555555"
CWD = "/home/ada/project"


class Transcript:
    """A small Claude Code session that a test writes line by line."""

    def __init__(self, folder: Path, session: str = SESSION) -> None:
        self.session = session
        self.path = folder / "projects" / "-home-ada-project" / f"{session}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.count = 0
        self.stem = uuid5(NAMESPACE_URL, session).hex

    def add(self, kind: str, content: Any, **rest: Any) -> str:
        self.count += 1
        uuid = f"{self.count:08d}-0000-4000-8000-{self.stem[:12]}"
        message: dict[str, Any] = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {
                "id": f"msg_{self.stem}_{self.count}",
                "model": "claude-x",
                "usage": {"input_tokens": 5, "output_tokens": 7},
            }
        line = {"parentUuid": None, "isSidechain": False, "userType": "external", "cwd": CWD, "version": "2.0.1",
                "sessionId": self.session, "gitBranch": "trunk", "type": kind, "message": message, "uuid": uuid,
                "timestamp": f"2026-01-02T03:04:{self.count:02d}.000Z", **rest}  # fmt: skip
        with self.path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
        return uuid

    def follow(self, other: Transcript) -> None:
        """Go on counting where that one is, behind its lines, with uuids of our own."""
        self.count = other.count
        self.stem = uuid5(NAMESPACE_URL, f"{other.stem} {self.path}").hex

    def ask(self, text: str) -> str:
        return self.add("user", text)

    def answer(self, text: str) -> str:
        return self.add("assistant", [{"type": "text", "text": text}])

    def write_file(self, name: str, content: str, before: str | None = None) -> None:
        path = f"{CWD}/{name}"
        call = f"toolu_{self.stem}_{self.count}"
        arguments = {"file_path": path, "content": content}
        self.add("assistant", [{"type": "tool_use", "id": call, "name": "Write", "input": arguments}])
        kind = "create" if before is None else "update"
        told = {"type": kind, "filePath": path, "content": content, "structuredPatch": [], "originalFile": before}
        self.add("user", [{"type": "tool_result", "tool_use_id": call, "content": "ok"}], toolUseResult=told)


def commit(host: Host, path: Path, **params: Any) -> dict[str, Any]:
    """Import and wait for the end of the job."""
    found = host.call(COMMIT, sourcePath=str(path), confirmed=True, **params)["job"]
    while found["status"] in ("queued", "running"):
        found = host.call(JOB, jobId=found["jobId"])["job"]
    return found


def result(host: Host, path: Path, **params: Any) -> dict[str, Any]:
    found = commit(host, path, **params)
    assert found["status"] == "completed", found
    assert found["progress"]["phase"] == "completed"
    assert found["progress"]["completedItems"] == found["progress"]["totalItems"]
    return found["result"]


def added(found: dict[str, Any]) -> tuple[int, int, int]:
    return found["turns"], found["items"], found["checkpoints"]


def read(host: Host, thread: str) -> dict[str, Any]:
    return host.call("thread/read", threadId=thread, includeTurns=True)["thread"]


def told(host: Host, thread: str) -> Any:
    """All that reads tell of a thread, without what may differ between two data roots."""
    found = read(host, thread)
    for name in ("path", "lastSequence"):
        del found[name]
    checkpoints = host.call("agentSession/fileCheckpoint/list", sessionId=thread)["checkpoints"]
    for entry in [*checkpoints, found["fileCheckpointSummary"].get("latestCheckpoint", {})]:
        entry.pop("sequence", None)
    receipts = [host.call("turn/receipt/read", threadId=thread, turnId=turn["id"]) for turn in found["turns"]]
    for receipt in receipts:
        for name in ("sequenceRange", "rolloutSum"):
            receipt.pop(name, None)
        for artifact in receipt["artifacts"]:
            artifact.pop("sequence", None)
    return found, checkpoints, receipts


@covers(COMMIT, JOB)
def test_a_session_becomes_a_thread_with_its_own_ids_and_times(host: Host, tmp_path: Path) -> None:
    """Source ids are kept as thread and turn ids; times, directory, git, model and usage are the source's."""
    source = Transcript(tmp_path)
    first = source.ask("please make a file")
    source.write_file("a.txt", "one\n")
    source.answer("made it")
    assert added(result(host, source.path)) == (1, 3, 1)
    thread = read(host, SESSION)
    assert thread["createdAt"] == 1767323041 and thread["updatedAt"] == 1767323044
    assert (thread["cwd"], thread["workspaceLinked"]) == (CWD, False)
    assert (thread["modelProvider"], thread["cliVersion"], thread["gitInfo"]) == (
        "anthropic",
        "2.0.1",
        {"branch": "trunk"},
    )
    assert [turn["id"] for turn in thread["turns"]] == [first]
    assert thread["turns"][0]["status"] == "completed"
    assert [item["type"] for item in thread["turns"][0]["items"]] == [
        "userMessage", "dynamicToolCall", "fileChange", "agentMessage",
    ]  # fmt: skip
    assert thread["usage"] == {
        "inputTokens": 10,
        "cachedInputTokens": 0,
        "outputTokens": 14,
        "reasoningOutputTokens": 0,
    }
    assert SESSION in [found["id"] for found in host.call("thread/list", cwd=CWD + "/")["data"]]


@covers("agentSession/fileCheckpoint/get", "agentSession/fileCheckpoint/diff")
def test_a_pre_image_that_is_not_our_version_is_an_external_one(host: Host, tmp_path: Path) -> None:
    """What somebody else wrote between two edits is a version of its own; contents come back byte for byte."""
    source = Transcript(tmp_path, "22222222-2222-4333-8444-555555555555")
    source.ask("edit")
    source.write_file("a.txt", "one\n")
    source.write_file("a.txt", "three\n", before="two\r\n")
    result(host, source.path)
    found = host.call("agentSession/fileCheckpoint/list", sessionId=source.session)["checkpoints"]
    assert [(entry["op"], entry["versionNo"], entry["source"]) for entry in found] == [
        ("modified", 3, "import"), ("external", 2, "external"), ("created", 1, "import"),
    ]  # fmt: skip
    assert all(entry["updatedAt"].startswith("2026-01-02T03:04") for entry in found)
    got = [host.call("agentSession/fileCheckpoint/get", sessionId=source.session, checkpointId=entry["checkpointId"])
           for entry in found]  # fmt: skip
    assert [entry["content"] for entry in got] == ["three\n", "two\r\n", "one\n"]
    diff = host.call("agentSession/fileCheckpoint/diff", sessionId=source.session,
                     checkpointId=found[0]["checkpointId"])  # fmt: skip
    assert (diff["diff"]["additions"], diff["diff"]["deletions"]) == (1, 1)


@covers("artifact/read")
def test_a_picture_that_the_person_sent_is_in_the_store(host: Host, tmp_path: Path) -> None:
    """A large image is not in the line: it is an artifact, as its own bytes."""
    source = Transcript(tmp_path, "23222222-2222-4333-8444-555555555555")
    picture = b"\x89PNG" + bytes(100_000)
    block = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(picture).decode()}
    source.add("user", [{"type": "text", "text": "look"}, {"type": "image", "source": block}])
    result(host, source.path)
    (artifact,) = host.call("artifact/read", sessionId=source.session, includeContent=True)["artifacts"]
    assert base64.b64decode(artifact["contentBase64"]) == picture
    thread = read(host, source.session)
    assert thread["turns"][0]["items"][0]["content"][1]["sha256"] == artifact["sha256"]
    assert Path(thread["path"]).stat().st_size < 5000


def test_twice_is_once_and_a_grown_source_adds_only_what_is_new(host: Host, tmp_path: Path) -> None:
    """Field report B31. The second import adds no event at all; lines that came since add what they tell."""
    source = Transcript(tmp_path, "33333333-2222-4333-8444-555555555555")
    source.ask("first")
    source.answer("done")
    assert added(result(host, source.path)) == (1, 2, 0)
    before = host.call("thread/events/list", threadId=source.session)
    assert added(result(host, source.path)) == (0, 0, 0)
    assert host.call("thread/events/list", threadId=source.session) == before
    second = source.ask("second")
    source.answer("done again")
    assert added(result(host, source.path)) == (1, 2, 0)
    events = host.call("thread/events/list", threadId=source.session, afterSequence=before["lastSequence"])["data"]
    assert events[0]["turnId"] == second, "nothing of the first turn is told again"
    assert [turn["status"] for turn in read(host, source.session)["turns"]] == ["completed", "completed"]


@pytest.mark.parametrize("name", ["claude_edits.jsonl", "codex_g4.jsonl", "gemini_lines.jsonl", "gemini_document.json"])
def test_a_source_imported_in_pieces_reads_as_one_imported_at_once(tmp_path: Path, name: str) -> None:
    """Cut at every line: turns, items and their order, usage, checkpoints and receipts are the same.

    The property tests cut at any byte, without a process.
    """
    whole = (FIXTURES / name).read_bytes()
    path = tmp_path / "sessions" / name
    path.parent.mkdir()
    path.write_bytes(whole)
    with Host(tmp_path / "one") as host:
        thread = result(host, path)["threadId"]
        expected = told(host, thread)
    lines = whole.split(b"\n")
    found_yet = False
    with Host(tmp_path / "two") as host:
        # A document of many short lines is cut at some of them.
        for end in [*range(1, len(lines), 1 + len(lines) // 50), len(lines)]:
            path.write_bytes(b"\n".join(lines[:end]) + (b"\n" if end < len(lines) else b""))
            try:
                commit(host, path)
            except Refused as error:
                assert (error.code, found_yet) == (-32602, False), "only a beginning that tells nothing is refused"
            else:
                found_yet = True
        found = told(host, thread)
    assert difference([*expected], [*found]) is None


@covers("threadExists")
def test_what_is_in_the_way_is_said(host: Host, tmp_path: Path) -> None:
    """Another thread of that id is never touched; a changed source names replaceExisting, which makes it anew."""
    source = Transcript(tmp_path, "44444444-2222-4333-8444-555555555555")
    source.ask("first")
    source.answer("done")
    host.call("thread/start", threadId=source.session)
    error = host.refused("threadExists", COMMIT, sourcePath=str(source.path), confirmed=True, replaceExisting=True)
    assert error.code == -32013
    host.call("thread/delete", threadId=source.session)
    result(host, source.path)
    source.path.write_bytes(source.path.read_bytes().replace(b"first", b"other"))
    failed = commit(host, source.path)
    assert (failed["status"], failed["error"]["kind"]) == ("failed", "threadExists")
    assert "replaceExisting" in failed["error"]["message"]
    assert read(host, source.session)["preview"] == "first"
    assert added(result(host, source.path, replaceExisting=True)) == (1, 2, 0)
    assert read(host, source.session)["preview"] == "other"


@covers("invalidParams", "threadNotFound")
def test_what_cannot_be_imported_is_refused_at_once(host: Host, tmp_path: Path) -> None:
    """confirmed must be true; a path must be absolute, exist, and hold a session."""
    source = Transcript(tmp_path, "55555555-2222-4333-8444-555555555555")
    source.ask("x")
    host.refused("invalidParams", COMMIT, sourcePath=str(source.path))
    host.refused("invalidParams", COMMIT, sourcePath=str(source.path), confirmed=False)
    host.refused("invalidParams", COMMIT, confirmed=True)
    host.refused("invalidParams", COMMIT, sourcePath="relative.jsonl", confirmed=True)
    host.refused("invalidParams", COMMIT, sourcePath=str(tmp_path / "none.jsonl"), confirmed=True)
    other = tmp_path / "other.jsonl"
    other.write_text("not a session\n", encoding="utf-8")
    error = host.refused("invalidParams", COMMIT, sourcePath=str(other), confirmed=True)
    assert "not JSON" in error.message
    host.refused("invalidParams", JOB, jobId="import_none")
    host.refused("threadNotFound", COMMIT, sourceThreadId="nobody", sourceRoot=str(tmp_path), confirmed=True)


@covers(SCAN, PREVIEW)
def test_scan_pages_and_says_what_is_in_already(host: Host, tmp_path: Path) -> None:
    """Newest first, a page at a time, filtered by project and text; what was imported is named."""
    names = [f"{n}6666666-2222-4333-8444-555555555555" for n in range(3)]
    for name in names:
        source = Transcript(tmp_path, name)
        source.ask(f"question {name[0]}")
        source.answer("yes")
    result(host, source.path)
    root = str(tmp_path)
    page = host.call(SCAN, sourceClient="claude", sourceRoot=root, limit=2)
    assert page["source"] == {"sourceClient": "claude", "sourceRoot": root, "status": "ready"}
    rest = host.call(SCAN, sourceClient="claude", sourceRoot=root, limit=2, cursor=page["nextCursor"])
    assert rest["nextCursor"] is None
    found = page["threads"] + rest["threads"]
    assert [entry["sourceThreadId"] for entry in found] == names[::-1]
    assert [entry.get("importedThreadId") for entry in found] == [names[2], None, None]
    assert found[0]["title"] == "question 2" and found[0]["projectPath"] == CWD
    assert found[0]["bytes"] == source.path.stat().st_size
    assert len(host.call(SCAN, sourceRoot=root, query="QUESTION 1")["threads"]) == 1
    assert host.call(SCAN, sourceRoot=root, projectPath="/elsewhere")["threads"] == []
    assert host.call(SCAN, sourceRoot=str(tmp_path / "none"))["source"]["status"] == "missing"
    host.refused("invalidParams", SCAN, sourceRoot=root, cursor="bad")
    shown = host.call(PREVIEW, sourcePath=str(source.path), limit=1)
    assert shown["summary"] == {"turns": 1, "items": 2, "edits": 0, "damagedLines": 0}
    assert [message["text"] for message in shown["messages"]] == ["question 2"]
    by_id = host.call(COMMIT, sourceThreadId=names[0], sourceClient="claude", sourceRoot=root, confirmed=True)
    assert by_id["job"]["sourceThreadId"] == names[0]


@covers("$/progress")
def test_progress_goes_on_after_the_answer(host: Host, tmp_path: Path) -> None:
    """The commit is answered at once; $/progress comes until the job ends."""
    source = Transcript(tmp_path, "77777777-2222-4333-8444-555555555555")
    source.ask("x")
    host.call(COMMIT, sourcePath=str(source.path), confirmed=True, progressToken="p1")
    kinds = [host.heard("$/progress", token="p1")["value"]["kind"]]
    while kinds[-1] != "end":
        kinds.append(host.heard("$/progress", token="p1")["value"]["kind"])
    assert kinds[0] == "begin"


def long_session(folder: Path, session: str) -> Transcript:
    """A session of nine hundred lines: several appends."""
    source = Transcript(folder, session)
    for number in range(15):
        source.ask(f"question {number}")
        for part in range(60):
            source.answer(f"answer {number}.{part} " + "x" * 200)
            source.count %= 59
    data = source.path.read_bytes().split(b"\n")
    lines = [json.loads(line) for line in data if line]
    for number, line in enumerate(lines):
        line["uuid"] = f"{number:08d}-0000-4000-8000-000000000000"
        line["timestamp"] = f"2026-01-02T{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
        if line["type"] == "assistant":
            line["message"]["id"] = f"msg_{number}"
    source.path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    return source


def test_an_import_that_is_killed_goes_on_without_doubling(tmp_path: Path) -> None:
    """SIGKILL in the middle, several times: the thread reads in the end as if it had been imported at once."""
    source = long_session(tmp_path, "88888888-2222-4333-8444-555555555555")
    with Host(tmp_path / "one") as host:
        result(host, source.path)
        expected = told(host, source.session)
    for _ in range(4):
        killed = Host(tmp_path / "two")
        job = killed.call(COMMIT, sourcePath=str(source.path), confirmed=True)["job"]
        had = killed.call(JOB, jobId=job["jobId"])["job"]["progress"]["completedItems"]
        now = had
        while now == had:
            found = killed.call(JOB, jobId=job["jobId"])["job"]
            if found["status"] == "completed":
                break
            now = found["progress"]["completedItems"]
        killed.kill()
    with Host(tmp_path / "two") as host:
        result(host, source.path)
        assert difference([*expected], [*told(host, source.session)]) is None
        events = host.call("thread/events/list", threadId=source.session, limit=5000)["data"]
        assert len({event["eventId"] for event in events}) == len(events)


@covers("conversationImport/job/cancel")
def test_a_cancelled_import_stops_and_goes_on_later(host: Host, tmp_path: Path) -> None:
    """It ends as failed; the next one completes the thread without doubling anything; an ended job stays ended."""
    source = long_session(tmp_path, "98888888-2222-4333-8444-555555555555")
    job = host.call(COMMIT, sourcePath=str(source.path), confirmed=True)["job"]
    host.call(CANCEL, jobId=job["jobId"])
    while job["status"] in ("queued", "running"):
        job = host.call(JOB, jobId=job["jobId"])["job"]
    assert job["status"] == "completed" or job["error"]["kind"] == "requestCancelled"
    result(host, source.path)
    messages = [item["id"] for turn in read(host, source.session)["turns"] for item in turn["items"]]
    assert len(messages) == len(set(messages)) == 915
    ended = commit(host, source.path)
    assert host.call(CANCEL, jobId=ended["jobId"])["job"]["status"] == "completed"
    host.refused("invalidParams", CANCEL, jobId="import_none")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared session files are not beside the repository")
def test_real_sessions_import_twice_and_read(tmp_path: Path) -> None:
    """Every Codex, Claude and Gemini file of the shared set; the second run adds nothing."""
    with Host(tmp_path) as host:
        for path in sorted(path for tool in ("codex", "claude", "gemini") for path in (SHARED / tool).glob("*.json*")):
            thread = result(host, path)["threadId"]
            before = host.call("thread/events/list", threadId=thread, limit=5000)
            assert added(result(host, path)) == (0, 0, 0)
            assert host.call("thread/events/list", threadId=thread, limit=5000) == before
            told(host, thread)
