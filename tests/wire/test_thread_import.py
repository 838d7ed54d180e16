"""CONTRACT section 8: a thread handed over, as lines or as a bundle, is the same thread elsewhere."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from tests.wire.host import Host
from tests.wire.test_exports import lively

covers = pytest.mark.covers
EXPORT, IMPORT = "thread/export", "thread/import"
SHARED = Path(__file__).parents[3] / "shared" / "data" / "sessions"
OURS = Path(__file__).parent.parent / "fixtures" / "imports"
ELSEWHERE = {"path", "workspaceLinked", "snapshotPath", "livePath", "liveState"}
"""Fields that say where something is on this machine."""


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """A process on another data root."""
    with Host(tmp_path_factory.mktemp("other").resolve()) as found:
        yield found


def told(host: Host, thread: str, *, sides: bool = True) -> dict[str, Any]:
    """Every answer about a thread, without the places of this machine; `sides`: each content by its checkpoint too."""
    turns = host.pages("thread/turns/list", "data", threadId=thread, sortDirection="asc")
    checkpoints = host.checkpoints(thread)
    answers = {
        "thread": host.read(thread, turns=True),
        "turns": turns,
        "items": host.pages("thread/items/list", "data", threadId=thread),
        "events": host.events(thread),
        "checkpoints": checkpoints,
        "contents": [
            {
                side: host.call(
                    "agentSession/fileCheckpoint/get", sessionId=thread, checkpointId=found["checkpointId"], side=side
                )
                for side in ("before", "after")
                if found[side] is not None and found[side]["contentStatus"] == "available"
            }
            for found in checkpoints
            if sides
        ],
        "artifacts": host.pages("artifact/read", "artifacts", sessionId=thread, includeContent=True),
        "receipts": [host.call("turn/receipt/read", threadId=thread, turnId=turn["id"]) for turn in turns],
        "session": host.call("agentSession/read", sessionId=thread),
        "rollout": sha256(Path(host.read(thread)["path"]).read_bytes()).hexdigest(),
    }
    found: dict[str, Any] = json.loads(json.dumps(answers))
    found["thread"].pop("path")
    return without(found)


def without(value: Any) -> Any:
    """A path of a changed file is no place of this machine; it is in `changes` and in what has a checkpointId."""
    if isinstance(value, dict):
        local = ELSEWHERE - {"path"}
        return {name: without(inner) for name, inner in value.items() if name not in local}
    return [without(inner) for inner in value] if isinstance(value, list) else value


def tree(host: Host) -> dict[str, bytes]:
    root = Path(host.call("server/status")["dataRoot"])
    kept = ("sessions", "archived_sessions", "artifacts", "trash")
    return {str(path): path.read_bytes() for name in kept for path in (root / name).rglob("*") if path.is_file()}


@covers("thread/import", "thread/export", "threadExists")
def test_a_bundle_is_the_same_thread_elsewhere(host: Host, other: Host, workspace: Path, tmp_path: Path) -> None:
    """thread/import: ids kept, every answer the same, no workspace until it is linked; twice is once."""
    thread = lively(host, workspace)
    host.call("turn/interrupt", threadId=thread, turnId=host.read(thread, turns=True)["turns"][-1]["id"])
    host.call("thread/archive", threadId=thread)
    bundle = tmp_path / "thread.zip"
    written = host.call(EXPORT, threadId=thread, format="bundle", path=str(bundle))
    assert written["sha256"] == sha256(bundle.read_bytes()).hexdigest() and written["bytes"] == bundle.stat().st_size
    assert "Secrets were not looked for" in written["warning"] and "redactions" not in written
    again = host.call(EXPORT, threadId=thread, format="bundle", path=str(tmp_path / "again.zip"))
    assert again["sha256"] == written["sha256"], "the same thread gives the same bytes"
    with zipfile.ZipFile(bundle) as archive:
        names = archive.namelist()
        rollout = Path(host.read(thread)["path"]).read_bytes()
        assert archive.read("rollout.jsonl") == rollout and names[-1] == "manifest.json"
        assert all(sha256(archive.read(name)).hexdigest() == name[6:] for name in names if name.startswith("files/"))
    count = len(host.events(thread))
    result = other.call(IMPORT, path=str(bundle))
    assert (result["imported"], result["duplicates"]) == (count, 0)
    assert result["thread"]["id"] == thread and result["thread"]["archived"] is True
    assert result["thread"]["workspaceLinked"] is False and result["thread"]["cwd"] == str(workspace)
    assert told(other, thread) == told(host, thread)
    twice = other.call(IMPORT, path=str(bundle))
    assert (twice["imported"], twice["duplicates"]) == (0, count)
    here = host.call(IMPORT, path=str(bundle))
    assert (here["imported"], here["duplicates"]) == (0, count) and here["thread"]["workspaceLinked"] is True
    other.call("thread/unarchive", threadId=thread)
    for checkpoint in other.checkpoints(thread)[:1]:
        other.refused(
            "workspaceNotLinked",
            "agentSession/fileCheckpoint/restore",
            sessionId=thread,
            checkpointId=checkpoint["checkpointId"],
            confirmRestore=True,
        )
    other.call("thread/metadata/update", threadId=thread, workspace=str(workspace))
    assert other.read(thread)["workspaceLinked"] is True
    different = other.refused("threadExists", IMPORT, path=str(written_elsewhere(host, thread, tmp_path)))
    assert different.code == -32013 and different.data["threadId"] == thread


def written_elsewhere(host: Host, thread: str, tmp_path: Path) -> Path:
    """The same thread id with other content."""
    bundle = tmp_path / "different.zip"
    host.call("thread/unarchive", threadId=thread)
    host.append(thread, None, ("acme.other", {"n": 1}))
    host.call(EXPORT, threadId=thread, format="bundle", path=str(bundle))
    return bundle


@covers("thread/import")
def test_b90_a_ten_megabyte_thread_comes_back_with_the_same_count_and_hash(
    host: Host, other: Host, workspace: Path, tmp_path: Path
) -> None:
    """B90: export as lines, import into a fresh data root: same events, same hash; what grew adds what is new."""
    thread = host.thread(cwd=str(workspace))
    turn = host.turn(thread)
    text = "wörd " * 180_000
    for number in range(10):
        host.append(
            thread, turn, ("item.completed", {"item": {"type": "agentMessage", "id": f"m{number}", "text": text}})
        )
    lines = tmp_path / "thread.jsonl"
    written = host.call(EXPORT, threadId=thread, format="jsonl", redact=False, path=str(lines))
    assert written["bytes"] > 10 << 20
    count = host.read(thread)["lastSequence"]
    result = other.call(IMPORT, path=str(lines))
    assert (result["imported"], result["duplicates"]) == (count, 0)
    assert sha256(Path(result["thread"]["path"]).read_bytes()[: written["bytes"]]).hexdigest() == written["sha256"]
    host.append(thread, turn, ("turn.completed", {}))
    fresh = tmp_path / "fresh"
    with Host(fresh) as third:
        closed = tmp_path / "closed.jsonl"
        grown = host.call(EXPORT, threadId=thread, format="jsonl", redact=False, path=str(closed))
        assert third.call(IMPORT, path=str(closed))["imported"] == count + 1
        assert third.read(thread)["lastSequence"] == count + 1
        back = third.call(EXPORT, threadId=thread, format="jsonl", redact=False, path=str(fresh / "back.jsonl"))
        assert back["sha256"] == grown["sha256"] == sha256(closed.read_bytes()).hexdigest()
        host.turn(thread, "more")
        host.append(thread, None, ("turn.completed", {}), turnId=host.read(thread, turns=True)["turns"][-1]["id"])
        more = tmp_path / "more.jsonl"
        host.call(EXPORT, threadId=thread, format="jsonl", redact=False, path=str(more))
        third.call("thread/resume", threadId=thread, excludeTurns=True)
        result = third.call(IMPORT, path=str(more))
        assert (result["imported"], result["duplicates"]) == (3, count + 1)
        third.heard("turn/completed", threadId=thread)
        assert sha256(Path(result["thread"]["path"]).read_bytes()).hexdigest() == sha256(more.read_bytes()).hexdigest()
        assert third.read(thread)["turnCount"] == 2
        before = third.call(IMPORT, path=str(closed))
        assert (before["imported"], before["duplicates"]) == (0, count + 1)


@covers("invalidParams", "threadExists")
def test_what_is_not_sound_changes_nothing(host: Host, other: Host, workspace: Path, tmp_path: Path) -> None:
    """thread/import: refused with the reason, and not one file is written."""
    thread = lively(host, workspace)
    data = tmp_path / "bundle.zip"
    host.call(EXPORT, threadId=thread, format="bundle", path=str(data))
    lines = tmp_path / "lines.jsonl"
    host.call(EXPORT, threadId=thread, format="jsonl", redact=False, path=str(lines))
    before = tree(other)
    rotten = BytesIO(data.read_bytes())
    with zipfile.ZipFile(rotten, "a") as archive:
        archive.writestr("../../evil", b"x")
    for number, bad in enumerate(
        (data.read_bytes()[:-40], rotten.getvalue(), lines.read_bytes()[:-10], lines.read_bytes()[300:], b"{}\n", b"")
    ):
        path = tmp_path / f"bad{number}"
        path.write_bytes(bad)
        error = other.refused("invalidParams", IMPORT, path=str(path))
        assert error.code == -32602 and error.data["errors"][0]["path"] == "path", number
    clean = host.call(EXPORT, threadId=thread, format="bundle", redact=True, path=str(tmp_path / "clean.zip"))
    assert clean["redactions"] == {} and "warning" not in clean
    assert "without secrets" in other.refused("invalidParams", IMPORT, path=str(tmp_path / "clean.zip")).message
    for path in ("relative.zip", str(tmp_path / "none"), str(tmp_path)):
        other.refused("invalidParams", IMPORT, path=path)
    assert tree(other) == before
    other.call("thread/start", threadId=thread)
    before = tree(other)
    assert other.refused("threadExists", IMPORT, path=str(data)).code == -32013
    assert tree(other) == before


def test_a_thread_that_is_imported_where_it_was_deleted_has_no_workspace(
    host: Host, workspace: Path, tmp_path: Path
) -> None:
    """thread/import: also in the data root whose link its lines hold; a rebuild says the same."""
    thread = host.thread(cwd=str(workspace))
    events = host.events(thread)
    bundle = host.call(EXPORT, threadId=thread, format="bundle")
    from base64 import b64decode

    (tmp_path / "x.zip").write_bytes(b64decode(bundle["contentBase64"]))
    host.call("thread/delete", threadId=thread)
    result = host.call(IMPORT, path=str(tmp_path / "x.zip"))
    assert result["thread"]["workspaceLinked"] is False and host.events(thread)[: len(events)] == events
    assert host.call(IMPORT, path=str(tmp_path / "x.zip"))["duplicates"] == len(events)


def test_every_imported_session_survives_a_round_trip_by_bundle(tmp_path: Path) -> None:
    """Each session that other tools wrote, through a bundle, into a fresh data root: every answer is the same.

    The sessions are those that lie beside the repository, where they do, else our own.
    """
    sources = sorted(path for path in (SHARED if SHARED.is_dir() else OURS).rglob("*.json*") if path.is_file())
    with Host(tmp_path / "first") as first, Host(tmp_path / "second") as second:
        jobs: list[str] = []
        for source in sources:
            asked = first.reply(first.send("conversationImport/thread/commit", commit(source)))
            if "result" in asked:
                jobs.append(asked["result"]["job"]["jobId"])
        threads = [thread for job in jobs if (thread := ended(first, job))]
        assert len(threads) >= len(sources) // 2
        for thread in dict.fromkeys(threads):
            bundle = tmp_path / "bundle.zip"
            bundle.unlink(missing_ok=True)
            first.call(EXPORT, threadId=thread, format="bundle", path=str(bundle))
            result = second.call(IMPORT, path=str(bundle))
            assert result["imported"] == first.read(thread)["lastSequence"]
            assert told(second, thread, sides=False) == told(first, thread, sides=False), thread
        # What the rows say is what a rebuild would say.
        listed = second.pages("thread/list", "data", sortKey="created_at")
        second.close()
        shutil.rmtree(tmp_path / "second" / "data" / "sqlite")
        with Host(tmp_path / "second") as rebuilt:
            assert rebuilt.pages("thread/list", "data", sortKey="created_at") == listed


def commit(source: Path) -> dict[str, Any]:
    return {"sourcePath": str(source), "confirmed": True}


def ended(host: Host, job: str) -> str | None:
    while True:
        found = host.call("conversationImport/job/read", jobId=job)["job"]
        if found["status"] in ("completed", "failed"):
            return found.get("result", {}).get("threadId")
