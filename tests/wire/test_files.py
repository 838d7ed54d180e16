"""CONTRACT sections 3, 5 and 6: file events, their checkpoints, contents and differences; receipts."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.wire.host import Host

covers = pytest.mark.covers
APPEND = "agentSession/runtimeEvents/append"
GET, DIFF = "agentSession/fileCheckpoint/get", "agentSession/fileCheckpoint/diff"
LIST, CAPTURE = "agentSession/fileCheckpoint/list", "agentSession/fileCheckpoint/capture"
NOT_CAPTURED = {"contentStatus": "notCaptured"}


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def thread(host: Host, workspace: Path) -> str:
    return host.thread(cwd=str(workspace))


def got(host: Host, thread: str, checkpoint: dict[str, Any], **params: Any) -> dict[str, Any]:
    return host.call(GET, sessionId=thread, checkpointId=checkpoint["checkpointId"], **params)


def refused(host: Host, kind: str, thread: str, payload: dict[str, Any]) -> Any:
    return host.refused(
        kind, APPEND, sessionId=thread, runtimeEvents=[{"type": "artifact.snapshot", "payload": payload}]
    )


@covers("artifact.snapshot", LIST, GET)
def test_a_snapshot_with_content(host: Host, thread: str, workspace: Path) -> None:
    """content, beforeAbsent, mode, title, kind, preview, metadata, artifactId: all of S, and the document."""
    turn = host.turn(thread)
    made = host.snapshot(
        thread,
        turn,
        {
            "path": "src/a.py",
            "content": "one\r\n",
            "beforeAbsent": True,
            "mode": "0755",
            "checkpointId": "my.ckpt:1",
            "artifactId": "theirs",
            "title": "T",
            "kind": "code",
            "preview": "one",
            "metadata": {"n": 1.5},
            "document": {"d": 1},
        },
    )
    assert made["checkpointId"] == "my.ckpt:1" and made["turnId"] == turn and made["path"] == "src/a.py"
    assert (made["source"], made["op"], made["status"], made["versionNo"]) == ("agent", "created", "ready", 1)
    assert (made["title"], made["kind"], made["previewText"]) == ("T", "code", "one")
    assert made["before"] is None and made["validationIssueCount"] == 0 and made["additions"] == 1
    assert made["after"] == {
        "sha256": sha(b"one\r\n"),
        "bytes": 5,
        "encoding": "utf-8",
        "eol": "crlf",
        "mode": "0755",
        "contentStatus": "available",
    }
    found = got(host, thread, made)
    assert found["content"] == "one\r\n" and found["side"] == "after" and found["livePath"] == "src/a.py"
    assert found["metadata"] == {"n": 1.5} and found["truncated"] is False and found["liveState"] == "missing"
    document = json.loads((workspace / found["snapshotPath"]).read_bytes())
    assert document["schemaVersion"] == "artifact_document.v1" and document["versionNo"] == 1
    assert document["document"] == {"d": 1} and document["before"] is None and document["path"] == "src/a.py"
    assert found["checkpointDocument"]["checkpointId"] == "my.ckpt:1" == document["checkpointId"]
    current = json.loads(
        (workspace / found["snapshotPath"]).parent.parent.joinpath("current.artifact.json").read_bytes()
    )
    assert [v["versionNo"] for v in current["artifactVersions"]] == [1]
    before = got(host, thread, made, side="before")
    assert before["contentStatus"] == "missing" and "content" not in before
    item = host.item(thread, "my.ckpt:1")
    assert item["type"] == "fileChange" and item["checkpointId"] == "my.ckpt:1" and item["status"] == "completed"
    assert item["changes"][0]["path"] == "src/a.py" and item["changes"][0]["kind"] == {"type": "add"}


NESTED: list[tuple[str, dict[str, Any]]] = [
    ("plain", {"path": "a", "content": "new", "previousContent": "old"}),
    (
        "base64",
        {
            "path": "a",
            "contentBase64": base64.b64encode(b"new").decode(),
            "previousContentBase64": base64.b64encode(b"old").decode(),
        },
    ),
    ("artifact", {"artifact": {"path": "a", "content": "new", "previousContent": "old"}}),
    ("change", {"change": {"path": "a", "content": "new", "beforeContent": "old"}}),
    ("oldContent", {"path": "a", "content": "new", "oldContent": "old"}),
    ("snake", {"path": "a", "content_base64": base64.b64encode(b"new").decode(), "previous_content": "old"}),
    ("top first", {"path": "a", "content": "new", "artifact": {"path": "b", "content": "x", "before_content": "old"}}),
    (
        "exact",
        {
            "path": "a",
            "content": "approximate",
            "contentBase64": base64.b64encode(b"new").decode(),
            "previousContent": "old",
        },
    ),
]


@covers("artifact.snapshot", "file.changed")
@pytest.mark.parametrize("type_", ["artifact.snapshot", "file.changed"])
@pytest.mark.parametrize(("name", "payload"), NESTED, ids=[name for name, _ in NESTED])
def test_spellings(host: Host, thread: str, type_: str, name: str, payload: dict[str, Any]) -> None:
    """also nested in artifact or change, also beforeContent, oldContent, snake_case."""
    del name
    stored = host.append(
        thread,
        None,
        (type_, payload),
        *([("file.changed", {**payload, "checkpointId": None}), ("artifact.snapshot", payload)]),
    )[0]
    made = host.checkpoints(thread)[-1]
    assert made["path"] == "a" and made["sequence"] == stored["sequence"]
    assert made["after"]["sha256"] == sha(b"new") and made["before"]["sha256"] == sha(b"old")
    text = json.dumps(stored["payload"])
    assert "new" not in text.replace("newStart", "") or '"diff"' in text
    for key in ("content", "contentBase64", "previousContent", "beforeContent", "oldContent", "previous_content"):
        assert key not in stored["payload"] and key not in stored["payload"].get("artifact", {})
    assert stored["payload"]["checkpoint"]["checkpointId"] == made["checkpointId"]


def test_bytes_are_sacred(host: Host, thread: str, workspace: Path) -> None:
    """No decoding, no newline change, no trimming; text in UTF-8 or marked is in content, else contentBase64."""
    samples = {
        "crlf": (b"a\r\nb", "utf-8", "crlf"),
        "mixed": (b"a\r\nb\nc\rd", "utf-8", "mixed"),
        "cr": (b"a\rb", "utf-8", "cr"),
        "empty": (b"", "utf-8", "none"),
        "noeol": (b"x", "utf-8", "none"),
        "spaces": (b"  x \n\n \n", "utf-8", "lf"),
        "cp1252": (b"caf\x99 \xe9\n", "binary", None),
        "bin": (bytes(range(256)), "binary", None),
        "bom": ("\ufeffhé\n".encode(), None, None),
        "utf16": ("\ufeffhé\n".encode("utf-16-le"), None, None),
        "公共 é.txt": (b"n\n", "utf-8", "lf"),
        "-dash": (b"d\n", "utf-8", "lf"),
    }
    for name, (data, _, _) in samples.items():
        (workspace / name).write_bytes(data)
        host.append(thread, None, ("artifact.snapshot", {"path": name}))
    for made in host.checkpoints(thread):
        data, encoding, eol = samples[made["path"]]
        assert made["after"]["sha256"] == sha(data) and made["after"]["bytes"] == len(data)
        if encoding is not None:
            assert made["after"]["encoding"] == encoding, made
        if eol is not None:
            assert made["after"]["eol"] == eol, made
        found = got(host, thread, made, **{"as": "base64"})
        assert base64.b64decode(found["contentBase64"]) == data and found["liveState"] == "same"
        plain = got(host, thread, made)
        if made["path"] in ("cp1252", "bin"):
            assert base64.b64decode(plain["contentBase64"]) == data and "content" not in plain
        elif made["path"] not in ("bom", "utf16"):
            assert plain["content"].encode() == data
        else:
            assert "hé\n" in plain["content"]


def test_sides_that_are_assumed_or_not_captured(host: Host, thread: str, workspace: Path) -> None:
    """before: the event's own, else the last version, assumed unless a capture confirmed it; else notCaptured."""
    first = host.snapshot(thread, None, {"path": "a", "content": "1"})
    assert first["before"] == NOT_CAPTURED and first["op"] == "modified"
    second = host.snapshot(thread, None, {"path": "a", "content": "2"})
    assert second["before"]["sha256"] == sha(b"1") and second["before"]["assumed"] is True
    (workspace / "a").write_bytes(b"2")
    found = host.call(CAPTURE, sessionId=thread, paths=["a"])
    assert found == {"captured": [], "unchanged": ["a"], "failed": []}
    third = host.snapshot(thread, None, {"path": "a", "content": "3"})
    assert third["before"]["sha256"] == sha(b"2") and "assumed" not in third["before"]
    assert [c["versionNo"] for c in host.checkpoints(thread)] == [3, 2, 1]
    assert [c["sequence"] for c in host.checkpoints(thread)] == sorted(
        (c["sequence"] for c in host.checkpoints(thread)), reverse=True
    )


def test_the_users_own_edits_become_versions(host: Host, thread: str, workspace: Path) -> None:
    """previousContent that is not the last version, or a disk that holds neither: recorded as source external."""
    host.snapshot(thread, None, {"path": "a", "content": "1\n", "beforeAbsent": True})
    host.append(thread, None, ("artifact.snapshot", {"path": "a", "content": "2\n", "previousContent": "user\n"}))
    made = host.checkpoints(thread, path="a")[::-1]
    assert [(c["source"], c["op"], c["versionNo"]) for c in made] == [
        ("agent", "created", 1),
        ("external", "external", 2),
        ("agent", "modified", 3),
    ]
    assert got(host, thread, made[1])["content"] == "user\n"
    assert made[2]["before"]["sha256"] == sha(b"user\n") and "assumed" not in made[2]["before"]
    (workspace / "a").write_bytes(b"disk\n")
    host.append(thread, None, ("artifact.snapshot", {"path": "a", "content": "3\n"}))
    made = host.checkpoints(thread, path="a")[::-1]
    assert [(c["source"], c["after"]["sha256"]) for c in made[3:]] == [
        ("external", sha(b"disk\n")),
        ("agent", sha(b"3\n")),
    ]
    (workspace / "a").write_bytes(b"4\n")
    host.append(thread, None, ("artifact.snapshot", {"path": "a", "content": "4\n", "previousContent": "3\n"}))
    assert len(host.checkpoints(thread, path="a")) == 6, "the disk holds the new content: nothing external"
    history = got(host, thread, host.checkpoints(thread)[0])["versionHistory"]
    assert [v["versionNo"] for v in history] == [1, 2, 3, 4, 5, 6] and [v["op"] for v in history][1] == "external"


def test_deleted(host: Host, thread: str, workspace: Path) -> None:
    """A file that is missing at a snapshot without content or op means deleted."""
    host.snapshot(thread, None, {"path": "a", "content": "1\n"})
    made = host.snapshot(thread, None, {"path": "a"})
    assert made["op"] == "deleted" and made["after"] is None and made["before"]["sha256"] == sha(b"1\n")
    found = got(host, thread, made)
    assert found["side"] == "before" and found["content"] == "1\n"
    assert got(host, thread, made, side="after")["contentStatus"] == "missing"
    assert got(host, thread, made, side="after")["liveState"] == "same"
    made = host.snapshot(thread, None, {"path": "b", "op": "deleted", "previousContent": "was\n"})
    assert made["op"] == "deleted" and made["after"] is None
    again = host.snapshot(thread, None, {"path": "a", "content": "back\n"})
    assert again["op"] == "created" and again["before"] is None and again["versionNo"] == 3


def test_renamed(host: Host, thread: str) -> None:
    """op renamed, oldPath: the item shows the move."""
    turn = host.turn(thread)
    host.snapshot(thread, turn, {"path": "old name", "content": "x\n"})
    made = host.snapshot(
        thread, turn, {"path": "new", "oldPath": "old name", "content": "y\n", "previousContent": "x\n"}
    )
    assert made["op"] == "renamed" and made["oldPath"] == "old name"
    change = host.item(thread, made["checkpointId"])["changes"][0]
    assert change["path"] == "old name" and change["kind"] == {"type": "update", "move_path": "new"}
    diff = host.call(DIFF, sessionId=thread, checkpointId=made["checkpointId"])["diff"]
    assert diff["renamed"] is True and "rename from old name" in diff["unified"]
    refused(host, "pathRefused", thread, {"path": "a", "oldPath": "../b", "content": "x"})


def test_unreadable_and_too_large(host: Host, thread: str, workspace: Path) -> None:
    """A file that is unreadable or too large becomes a checkpoint of status failed, which says why."""
    (workspace / "big").touch()
    os.truncate(workspace / "big", (64 << 20) + 1)
    made = host.snapshot(thread, None, {"path": "big"})
    assert made["status"] == "failed" and made["after"]["contentStatus"] == "tooLarge" and "versionNo" not in made
    assert made["validationIssueCount"] >= 1
    found = got(host, thread, made)
    assert found["contentStatus"] == "tooLarge" and found["validationIssues"] and "content" not in found
    host.refused("contentUnavailable", DIFF, sessionId=thread, checkpointId=made["checkpointId"])
    if os.geteuid() != 0:
        (workspace / "secret").write_bytes(b"x")
        (workspace / "secret").chmod(0)
        made = host.snapshot(thread, None, {"path": "secret"})
        assert made["status"] == "failed" and made["after"]["contentStatus"] == "unreadable"


@covers("workspaceNotLinked")
def test_without_a_workspace(host: Host) -> None:
    """Without cwd, checkpoints need content in the event and live in the data root."""
    thread = host.thread()
    assert refused(host, "workspaceNotLinked", thread, {"path": "a"}).code == -32020
    made = host.snapshot(thread, None, {"path": "a", "content": "x\n"})
    found = got(host, thread, made)
    assert found["content"] == "x\n" and "snapshotPath" not in found and found["liveState"] == "missing"
    host.refused("workspaceNotLinked", CAPTURE, sessionId=thread, paths=["a"])
    refused(host, "pathRefused", thread, {"path": "/etc/passwd", "content": "x"})
    refused(host, "pathRefused", thread, {"path": "../x", "content": "x"})


REFUSED = [
    "../out",
    "a/../../out",
    "link",
    "dir/x",
    "C:\\x",
    "c:x",
    "a\x00b",
    "",
    ".",
    "..",
    "/",
    "~",
    "~/x",
    "~user/x",
    ".git/config",
    "a/.GIT/hooks/x",
    "x/.git",
    ".lockstitch/x",
    "a/.Lockstitch/y",
    "\\\\server\\share",
    "fifo",
    "CON",
    "a/nul.txt",
    "/etc/passwd",
]


@covers("pathRefused")
@pytest.mark.parametrize("path", REFUSED)
def test_paths_that_are_refused(host: Host, thread: str, workspace: Path, path: str) -> None:
    """pathRefused: outside, under .git or .lockstitch, links, special files, reserved names, drives, NUL, empty."""
    outside = workspace.parent / "out"
    outside.write_bytes(b"secret\n")
    (workspace / "link").symlink_to(outside)
    (workspace / "dir").symlink_to(workspace.parent)
    os.mkfifo(workspace / "fifo")
    last = host.read(thread)["lastSequence"]
    for payload in ({"path": path}, {"path": path, "content": "x"}, {"path": path, "op": "deleted"}):
        error = refused(host, "pathRefused", thread, payload)
        assert error.code == -32020 and error.data["reason"]
    found = host.call(CAPTURE, sessionId=thread, paths=["fine", path])
    assert [entry["path"] for entry in found["failed"]] == [path] and found["failed"][0]["reason"]
    assert host.read(thread)["lastSequence"] == last + 1 and outside.read_bytes() == b"secret\n"


def test_absolute_paths_inside(host: Host, thread: str, workspace: Path) -> None:
    """A path inside the workspace may be absolute and is made relative."""
    (workspace / "d").mkdir()
    (workspace / "d" / "a.txt").write_bytes(b"x")
    assert host.snapshot(thread, None, {"path": f"{workspace}/d/a.txt"})["path"] == "d/a.txt"
    assert host.call(CAPTURE, sessionId=thread, paths=[f"{workspace}/d/a.txt"])["unchanged"] == ["d/a.txt"]
    assert host.snapshot(thread, None, {"path": "./d//a.txt", "content": "y"})["path"] == "d/a.txt"


def test_names_that_are_not_unicode(host: Host, thread: str, workspace: Path) -> None:
    """A name that is not valid Unicode has pathBase64 beside an approximate path, and either is accepted."""
    name = b"caf\xe9.txt"
    with open(os.path.join(os.fsencode(workspace), name), "wb") as file:
        file.write(b"x\n")
    made = host.snapshot(thread, None, {"pathBase64": base64.b64encode(name).decode()})
    assert base64.b64decode(made["pathBase64"]) == name and made["path"].startswith("caf")
    assert got(host, thread, made)["content"] == "x\n" and got(host, thread, made)["liveState"] == "same"


@covers("checkpointExists", "checkpointNotFound")
def test_checkpoint_ids(host: Host, thread: str) -> None:
    """A checkpointId that exists: -32013; unknown: -32010; without regard to case."""
    host.snapshot(thread, None, {"path": "a", "content": "1", "checkpointId": "Ck-1"})
    for payload in (
        {"path": "a", "content": "2", "checkpointId": "cK-1"},
        {"path": "b", "content": "1", "checkpointId": "Ck-1"},
    ):
        assert refused(host, "checkpointExists", thread, payload).code == -32013
    event = {"type": "artifact.snapshot", "payload": {"path": "c", "content": "1", "checkpointId": "x1"}}
    host.refused("checkpointExists", APPEND, sessionId=thread, runtimeEvents=[event, event])
    turn = host.turn(thread)
    host.append(thread, turn, ("item.completed", {"item": {"type": "agentMessage", "id": "taken", "text": ""}}))
    refused(host, "checkpointExists", thread, {"path": "a", "content": "2", "checkpointId": "TAKEN"})
    assert got(host, thread, {"checkpointId": "CK-1"})["checkpoint"]["checkpointId"] == "Ck-1"
    for method in (GET, DIFF):
        error = host.refused("checkpointNotFound", method, sessionId=thread, checkpointId="nope")
        assert error.code == -32010
    host.refused("checkpointNotFound", DIFF, sessionId=thread, checkpointId="Ck-1", against="nope")
    for wrong in ("-x", "a b", "x" * 129):
        refused(host, "invalidParams", thread, {"path": "a", "content": "2", "checkpointId": wrong})


@covers(CAPTURE, "artifact.confirmed")
def test_capture(host: Host, thread: str, workspace: Path) -> None:
    """capture → {captured[S], unchanged[], failed[{path, reason}]}; absent is a fact; outside or inside a turn."""
    (workspace / "a").write_bytes(b"1\n")
    (workspace / "d").mkdir()
    turn = host.turn(thread)
    found = host.call(CAPTURE, sessionId=thread, paths=["a", "none", "d", "../x"], reason="before the edit")
    assert [c["path"] for c in found["captured"]] == ["a"] and found["unchanged"] == ["none"]
    assert {entry["path"] for entry in found["failed"]} == {"d", "../x"}
    made = found["captured"][0]
    assert made["source"] == "capture" and made["turnId"] == turn and made["before"] == NOT_CAPTURED
    assert got(host, thread, made)["metadata"] == {"reason": "before the edit"}
    (workspace / "none").write_bytes(b"new\n")
    (workspace / "a").unlink()
    found = host.call(CAPTURE, sessionId=thread, turnId=turn, paths=["a", "none"])
    assert [(c["path"], c["op"]) for c in found["captured"]] == [("a", "deleted"), ("none", "created")]
    assert found["captured"][0]["after"] is None and found["captured"][1]["before"] is None
    assert host.call(CAPTURE, sessionId=thread, paths=["a", "none"])["unchanged"] == ["a", "none"]
    assert [e["type"] for e in host.events(thread)][-2:] == ["artifact.confirmed"] * 2
    assert len(host.checkpoints(thread)) == host.call(LIST, sessionId=thread)["checkpointCount"]
    for wrong in ({"paths": []}, {"paths": ["a", "a"]}, {"paths": "a"}, {}):
        host.refused("invalidParams", CAPTURE, sessionId=thread, **wrong)
    host.refused("turnNotFound", CAPTURE, sessionId=thread, turnId="nope", paths=["a"])
    host.refused("threadNotFound", CAPTURE, sessionId="nope", paths=["a"])


def test_list(host: Host, thread: str) -> None:
    """list {path?, turnId?, cursor?, limit?}: checkpointCount is all that match; newest first."""
    turns = []
    for n in range(3):
        turns.append(host.turn(thread))
        host.append(
            thread,
            turns[-1],
            *[("artifact.snapshot", {"path": p, "content": f"{n}"}) for p in "abc"],
            ("turn.completed", {}),
        )
    whole = host.call(LIST, sessionId=thread)
    assert whole["checkpointCount"] == 9 and whole["nextCursor"] is None and whole["threadId"] == thread
    for limit in (1, 2, 4, 9):
        assert host.checkpoints(thread, limit=limit) == whole["checkpoints"]
        assert [c["path"] for c in host.checkpoints(thread, limit=limit, path="b")] == ["b"] * 3
        assert host.checkpoints(thread, limit=limit, turnId=turns[1]) == whole["checkpoints"][3:6]
    page = host.call(LIST, sessionId=thread, path="b", turnId=turns[1], limit=1)
    assert page["checkpointCount"] == 1 and page["nextCursor"] is None
    host.refused("turnNotFound", LIST, sessionId=thread, turnId="nope")
    summary = host.read(thread)["fileCheckpointSummary"]
    assert summary == {"count": 9, "latestCheckpoint": whole["checkpoints"][0]}


def test_get_cuts(host: Host, thread: str) -> None:
    """maxBytes cuts between characters and says truncated; as: text | base64."""
    made = host.snapshot(thread, None, {"path": "a", "content": "é☃" * 100})
    for most in (0, 1, 2, 3, 4, 5, 100, 499, 500, 501):
        found = got(host, thread, made, maxBytes=most)
        assert found["truncated"] == (most < 500) and len(found["content"].encode()) <= most
        assert (("é☃" * 100).startswith(found["content"]) and most - len(found["content"].encode()) < 3) or most > 500
        found = got(host, thread, made, maxBytes=most, **{"as": "base64"})
        assert base64.b64decode(found["contentBase64"]) == ("é☃" * 100).encode()[:most]
    for wrong in ({"maxBytes": -1}, {"as": "hex"}, {"side": "left"}):
        host.refused("invalidParams", GET, sessionId=thread, checkpointId=made["checkpointId"], **wrong)


@covers("contentUnavailable")
def test_contents_that_are_gone(host: Host, thread: str, workspace: Path) -> None:
    """contentUnavailable: missing, corrupt, notCaptured: data.contentStatus."""
    made = host.snapshot(thread, None, {"path": "a", "content": "kept\n"})
    blobs = [
        p
        for root in (workspace / ".lockstitch", host.root / "data" / "artifacts")
        for p in root.rglob("*")
        if p.is_file() and p.name.startswith(sha(b"kept\n"))
    ]
    assert blobs
    for blob in blobs:
        blob.chmod(0o600)
        blob.write_bytes(b"other\n")
    assert got(host, thread, made)["contentStatus"] == "corrupt"
    for blob in blobs:
        blob.unlink()
    found = got(host, thread, made)
    assert found["contentStatus"] == "missing" and found["validationIssues"]
    (listed,) = host.checkpoints(thread, path="a")
    assert listed["after"]["contentStatus"] == found["checkpoint"]["after"]["contentStatus"] == "missing"
    error = host.refused(
        "contentUnavailable", DIFF, sessionId=thread, checkpointId=made["checkpointId"], against="live"
    )
    assert error.code == -32022 and error.data["contentStatus"] == "missing"
    read = host.call("artifact/read", sessionId=thread, includeContent=True)["artifacts"]
    assert [a["contentStatus"] for a in read] == ["missing"]
    error = host.refused("contentUnavailable", DIFF, sessionId=thread, checkpointId=made["checkpointId"])
    assert error.data["contentStatus"] == "notCaptured"


def test_live_state(host: Host, thread: str, workspace: Path) -> None:
    """liveState: same | changed | missing | unreadable."""
    made = host.snapshot(thread, None, {"path": "a", "content": "x\n"})
    for act, state in (
        (lambda: None, "missing"),
        (lambda: (workspace / "a").write_bytes(b"x\n"), "same"),
        (lambda: (workspace / "a").write_bytes(b"y\n"), "changed"),
        ((workspace / "a").unlink, "missing"),
        (lambda: (workspace / "a").symlink_to("/etc/hostname"), "unreadable"),
    ):
        act()
        assert got(host, thread, made)["liveState"] == state


@covers(DIFF)
def test_diff(host: Host, thread: str, workspace: Path) -> None:
    """diff against previous | live | another checkpoint; unified applies with patch -p1 and git apply."""
    texts = [f"{n}\n".join("abcdefghij") + "no end" * (n % 2) for n in range(3)]
    made = [
        host.snapshot(thread, None, {"path": "src/é a.py", "content": t, **({} if n else {"beforeAbsent": True})})
        for n, t in enumerate(texts)
    ]
    ids = [c["checkpointId"] for c in made]

    def apply(diff: dict[str, Any], before: str | None, after: str) -> None:
        target = workspace.parent / "target"
        subprocess.run(["rm", "-rf", str(target)], check=True)
        (target / "src").mkdir(parents=True)
        if before is not None:
            (target / "src/é a.py").write_bytes(before.encode())
        subprocess.run(["git", "apply", "-p1", "-"], input=diff["unified"].encode(), cwd=target, check=True)
        assert (target / "src/é a.py").read_bytes() == after.encode()
        assert diff["additions"] == sum(line["kind"] == "add" for h in diff["hunks"] for line in h["lines"])
        assert diff["deletions"] == sum(line["kind"] == "remove" for h in diff["hunks"] for line in h["lines"])
        assert not diff["binary"] and not diff["truncated"]

    for n, before in enumerate([None, *texts[:2]]):
        found = host.call(DIFF, sessionId=thread, checkpointId=ids[n])
        assert found["currentVersionId"] == made[n]["versionId"] and found["checkpoint"] == made[n]
        assert found.get("previousVersionId") == (made[n - 1]["versionId"] if n else None)
        apply(found["diff"], before, texts[n])
    found = host.call(DIFF, sessionId=thread, checkpointId=ids[2], against=ids[0])
    assert found["previousVersionId"] == made[0]["versionId"]
    apply(found["diff"], texts[0], texts[2])
    (workspace / "src").mkdir()
    (workspace / "src/é a.py").write_bytes(b"live\n")
    found = host.call(DIFF, sessionId=thread, checkpointId=ids[1], against="live", contextLines=0)
    apply(found["diff"], texts[1], "live\n")
    found = host.call(DIFF, sessionId=thread, checkpointId=ids[2], maxBytes=30)
    assert found["diff"]["truncated"] is True
    for wrong in ({"contextLines": -1}, {"against": 5}, {"maxBytes": "x"}):
        host.refused("invalidParams", DIFF, sessionId=thread, checkpointId=ids[0], **wrong)


def test_diff_flags(host: Host, thread: str, workspace: Path) -> None:
    """binary, encodingChanged, eolChanged, modeChanged."""
    made = host.snapshot(thread, None, {"path": "a", "content": "a\r\nb\r\n", "previousContent": "a\nb\n"})
    diff = host.call(DIFF, sessionId=thread, checkpointId=made["checkpointId"])["diff"]
    assert diff["eolChanged"] is True
    assert [(diff[side]["encoding"], diff[side]["eol"]) for side in ("before", "after")] == [
        ("utf-8", "lf"),
        ("utf-8", "crlf"),
    ]
    data = base64.b64encode(b"\x00\x01\xff").decode()
    made = host.snapshot(thread, None, {"path": "a", "contentBase64": data})
    diff = host.call(DIFF, sessionId=thread, checkpointId=made["checkpointId"])["diff"]
    assert diff["binary"] is True and diff["encodingChanged"] is True and diff["hunks"] == []
    assert diff["before"] == {"bytes": 6, "encoding": "utf-8", "eol": "crlf"}
    assert diff["after"] == {"bytes": 3, "encoding": "binary"}
    host.snapshot(thread, None, {"path": "m", "content": "x\n", "mode": "0644", "beforeAbsent": True})
    made = host.snapshot(thread, None, {"path": "m", "content": "x\n", "mode": "0755"})
    diff = host.call(DIFF, sessionId=thread, checkpointId=made["checkpointId"])["diff"]
    assert diff["modeChanged"] is True and (diff["before"]["mode"], diff["after"]["mode"]) == ("0644", "0755")
    document = json.loads((workspace / made["snapshotPath"]).read_bytes())
    assert document["artifactVersionDiff"] == diff["unified"] and "new mode 100755" in diff["unified"]


@covers("artifact/read", "turnNotFound")
def test_artifact_read(host: Host, thread: str) -> None:
    """artifact/read {turnId?, artifactRef?, includeContent?, cursor?, limit?}: file versions and spilled outputs."""
    turns = []
    for n in range(3):
        turns.append(host.turn(thread))
        output = {"type": "commandExecution", "id": f"c{n}", "command": "x", "aggregatedOutput": f"{n}" * 70_000}
        host.append(
            thread,
            turns[-1],
            ("artifact.snapshot", {"path": "a", "content": f"{n}", "metadata": {"n": n}}),
            ("item.completed", {"item": output}),
            ("turn.completed", {}),
        )
    whole = host.call("artifact/read", sessionId=thread, includeContent=True)["artifacts"]
    assert [a["kind"] for a in whole] == ["file", "output"] * 3
    assert [a["content"] for a in whole[::2]] == ["0", "1", "2"] and whole[0]["metadata"] == {"n": 0}
    assert [a["sequence"] for a in whole] == sorted(a["sequence"] for a in whole)
    bare = host.call("artifact/read", sessionId=thread)["artifacts"]
    assert [{k: v for k, v in a.items() if k != "content"} for a in whole] == bare
    for limit in (1, 2, 5):
        assert host.pages("artifact/read", "artifacts", sessionId=thread, limit=limit) == bare
        mine = host.pages("artifact/read", "artifacts", sessionId=thread, limit=limit, turnId=turns[1])
        assert mine == bare[2:4]
        for one in bare:
            assert host.pages(
                "artifact/read", "artifacts", sessionId=thread, limit=limit, artifactRef=one["artifactRef"]
            ) == [one]
    host.refused("turnNotFound", "artifact/read", sessionId=thread, turnId="nope")


@covers("turn/receipt/read")
def test_receipt(host: Host, thread: str) -> None:
    """turn/receipt/read: status, usage, counts and files, from durable facts only."""
    host.snapshot(thread, None, {"path": "a", "content": "old\n"})
    turn = host.turn(thread)
    open_ = host.call("turn/receipt/read", threadId=thread, turnId=turn)
    assert open_["status"] == "inProgress" and open_["completedAt"] is None
    usage = {"inputTokens": 5, "cachedInputTokens": 0, "outputTokens": 2, "reasoningOutputTokens": 1}
    host.append(
        thread,
        turn,
        ("route.selected", {"provider": "p", "model": "m"}),
        ("authority.set", {"mode": "auto"}),
        ("artifact.snapshot", {"path": "a", "content": "new\n", "previousContent": "old\n"}),
        ("artifact.snapshot", {"path": "b", "content": "b\n", "beforeAbsent": True}),
        ("item.completed", {"item": {"type": "commandExecution", "id": "c", "command": "x"}}),
        ("item.completed", {"item": {"type": "mcpToolCall", "id": "t", "server": "s", "tool": "t"}}),
        ("item.started", {"item": {"type": "commandExecution", "id": "cut", "command": "x"}}),
        ("runtime.warning", {"message": "careful"}),
        ("action.required", {"requestId": "r"}),
        ("provider.usage", {**usage, "costUsd": 0.5}),
        ("turn.completed", {}),
    )
    receipt = host.call("turn/receipt/read", threadId=thread, turnId=turn)
    assert receipt["status"] == "completed" and receipt["durationMs"] >= 0
    assert receipt["usage"] == {**usage, "costUsd": 0.5} and receipt["cost"] == 0.5
    assert receipt["counts"] == {
        "items": 6,
        "toolCalls": 1,
        "commands": 2,
        "approvals": 1,
        "fileCheckpoints": 2,
        "workers": 0,
    }
    assert [(f["path"], f["op"], f.get("beforeSha256"), f["afterSha256"]) for f in receipt["filesChanged"]] == [
        ("a", "modified", sha(b"old\n"), sha(b"new\n")),
        ("b", "created", None, sha(b"b\n")),
    ]
    assert [g["itemId"] for g in receipt["gaps"]] == ["cut"] and receipt["diagnostics"] == ["careful"]
    assert receipt["route"]["provider"] == "p" and receipt["authority"] == {"mode": "auto"}
    assert receipt["sequenceRange"][1] == host.read(thread)["lastSequence"] and len(receipt["rolloutSum"]) == 16
    host.refused("turnNotFound", "turn/receipt/read", threadId=thread, turnId="nope")
    host.refused("threadNotFound", "turn/receipt/read", threadId="nope", turnId=turn)
