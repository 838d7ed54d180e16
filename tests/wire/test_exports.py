"""CONTRACT section 8: evidence packs and replay cases, as a stranger finds them."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.wire.host import Host
from tests.wire.mutations import Folder

from lockstitch.exports.verify import verify
from lockstitch.operations.replay_case import projected

covers = pytest.mark.covers
EVIDENCE = "evidence/export"
CASE = "agentSession/replayCase/export"
VERIFY = "agentSession/replayCase/verify"

AWS = "AKIA" + "IOSFODNN7EXAMPLE"
GITHUB = "ghp_" + "a1B2" * 9
ANTHROPIC = "sk-ant-" + "api03-Zz09" * 4
PEM = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkq\n" * 8 + "-----END PRIVATE KEY-----\n"
SECRETS = (AWS, GITHUB, ANTHROPIC, "MIIEvQIBADANBgkq", "hunter2hunter2")


def lively(host: Host, workspace: Path | None) -> str:
    """A thread with a bit of everything: edits, commands, streams, a spilled output, a failed turn, an open one."""
    thread = host.thread(cwd=str(workspace)) if workspace else host.thread()
    turn = host.turn(thread, "please change a.txt")
    host.append(
        thread,
        turn,
        ("provider.usage", {"inputTokens": 3, "cachedInputTokens": 0, "outputTokens": 1, "reasoningOutputTokens": 0}),
        ("route.selected", {"provider": "p", "model": "m"}),
        ("command.started", {"itemId": "c", "command": "make"}),
        ("command.exited", {"itemId": "c", "exitCode": 0, "aggregatedOutput": "line\n" * 20_000}),
        ("artifact.snapshot", {"path": "a.txt", "content": "x\n", "beforeAbsent": True}),
        ("artifact.snapshot", {"path": "a.txt", "content": "y\n"}),
        ("artifact.snapshot", {"path": "gone.bin", "contentBase64": "AAEC", "op": "created"}),
        ("item.completed", {"item": {"type": "agentMessage", "id": "m", "text": "done ✓"}}),
        ("acme.note", {"n": 12345678901234567890123, "f": 1.0}),
        ("turn.completed", {}),
    )
    second = host.turn(thread, "again")
    host.append(thread, second, ("message.delta", {"itemId": "s", "delta": "half"}), durability="sync")
    host.append(thread, second, ("item.started", {"item": {"type": "commandExecution", "id": "cut", "command": "ls"}}))
    host.append(thread, second, ("turn.failed", {"error": {"message": "the model is gone"}}))
    host.turn(thread, "and again")
    return thread


def folder_of(result: dict[str, Any]) -> Path:
    pack = result.get("evidencePack")
    return Path(pack["packAbsoluteRoot"] if pack else result["replayAbsoluteRoot"])


def contents_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def no_secret_in(folder: Path) -> None:
    for name, data in contents_of(folder).items():
        for secret in SECRETS:
            assert secret.encode() not in data, f"{name} holds {secret[:8]}"


def verified(host: Host, folder: Path) -> dict[str, Any]:
    verdict = host.call(VERIFY, path=str(folder))
    assert verdict["ok"] is True and verdict["mismatches"] == [], verdict
    assert verdict["projectionDigest"] == verdict["expectedDigest"]
    return verdict


@covers("evidence/export", "threadNotFound", "turnNotFound")
def test_a_pack_can_be_checked_by_a_stranger(host: Host, workspace: Path) -> None:
    """evidence/export: files, manifest with digests, contents, the three fields; the events as they are listed."""
    thread = lively(host, workspace)
    result = host.call(EVIDENCE, sessionId=thread, redact=False)
    pack, folder = result["evidencePack"], folder_of(result)
    assert folder.parent.name == "evidence" and folder.parent.parent.name == thread
    assert result["events"] == host.events(thread) and "redactions" not in pack
    assert result["artifacts"] == host.call("artifact/read", sessionId=thread)["artifacts"]
    read = host.call("agentSession/read", sessionId=thread)
    assert result["session"] == read["session"] and result["turns"] == read["turns"]
    assert {entry["relativePath"] for entry in pack["artifacts"]} == {
        (folder / name).relative_to(workspace).as_posix() for name in contents_of(folder)
    }
    for entry in pack["artifacts"]:
        assert Path(entry["absolutePath"]).stat().st_size == entry["bytes"]
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert sha256((folder / "manifest.json").read_bytes()).hexdigest() == pack["manifestSha256"]
    digest = manifest.pop("digest")
    plain = json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert sha256(plain).hexdigest() == digest
    listed = {entry["path"]: entry for entry in manifest["files"]}
    assert listed.keys() == contents_of(folder).keys() - {"manifest.json"}
    for name, data in contents_of(folder).items():
        if name != "manifest.json":
            entry = listed[name]
            assert (entry["sha256"], entry["bytes"]) == (sha256(data).hexdigest(), len(data))
            assert entry["lines"] == data.count(b"\n")
    for name in contents_of(folder):
        if name.startswith("files/"):
            assert sha256((folder / name).read_bytes()).hexdigest() == name[6:]
    rollout = Path(host.read(thread)["path"]).read_bytes()
    assert (folder / "events.jsonl").read_bytes() == rollout
    assert manifest["rollout"]["lastSum"] == rollout[-19:-3].decode()
    for name in ("runtime.json", "artifacts.json"):
        body = json.loads((folder / name).read_bytes())
        assert body["fileCheckpoints"] == host.checkpoints(thread) and body["fileCheckpointCount"] == 3
        assert body["recentArtifacts"] == read["detail"]["recentArtifacts"]
    turns = host.pages("thread/turns/list", "data", threadId=thread, sortDirection="asc")
    assert json.loads((folder / "timeline.json").read_bytes())["turns"] == turns
    receipts = [host.call("turn/receipt/read", threadId=thread, turnId=turn["id"]) for turn in turns]
    assert json.loads((folder / "receipts.json").read_bytes())["receipts"] == receipts
    assert pack["completionAuditSummary"] == {"decision": "in_progress"}
    assert pack["observabilitySummary"]["event_count"] == len(result["events"])
    assert (pack["turnCount"], pack["itemCount"]) == (3, sum(len(turn["items"]) for turn in turns))
    verified(host, folder)
    again = host.call(EVIDENCE, sessionId=thread, redact=False)
    assert folder_of(again) != folder and contents_of(folder)["events.jsonl"] == rollout
    one = host.call(EVIDENCE, sessionId=thread, turnId=turns[1]["id"], includeEvents=False, includeArtifacts=False)
    assert one["events"] == [] == one["artifacts"] and len(one["turns"]) == 1
    lines = (folder_of(one) / "events.jsonl").read_bytes().split(b"\n")[:-1]
    assert {json.loads(line)["turnId"] for line in lines} == {turns[1]["id"]}
    assert all("originalSum" in json.loads(line) for line in lines)
    assert host.call(VERIFY, path=str(folder_of(one)))["ok"] is True
    assert "evidencePack" not in host.call(EVIDENCE, sessionId=thread, includeEvidencePack=False)
    host.refused("threadNotFound", EVIDENCE, sessionId="none")
    host.refused("turnNotFound", EVIDENCE, sessionId=thread, turnId="none")
    assert Path(host.read(thread)["path"]).read_bytes() == rollout


def test_without_a_workspace_or_with_a_link_in_it_exports_go_to_the_data_root(host: Host, place: Path) -> None:
    """evidence/export: relativePath is relative to the data root then; a link is not followed; delete removes it."""
    data = place / "data"
    for number, workspace in enumerate((None, place / "linked")):
        if workspace is not None:
            workspace.mkdir()
            (place / "elsewhere").mkdir()
            (workspace / ".lockstitch").symlink_to(place / "elsewhere", target_is_directory=True)
        thread = lively(host, workspace)
        pack = host.call(EVIDENCE, sessionId=thread)["evidencePack"]
        for entry in pack["artifacts"]:
            assert (data / entry["relativePath"]).stat().st_size == entry["bytes"]
        assert bool(pack["knownGaps"]) == bool(number), pack["knownGaps"]
        verified(host, Path(pack["packAbsoluteRoot"]))
        case = host.call(CASE, sessionId=thread)
        assert case["replayRelativeRoot"].startswith("exports/")
        host.call("thread/delete", threadId=thread)
        assert not (data / "exports" / thread).exists()
        assert workspace is None or list((place / "elsewhere").iterdir()) == []


@covers("agentSession/replayCase/export", "agentSession/replayCase/verify", "invalidParams")
def test_a_case_is_moved_and_still_verifies(host: Host, workspace: Path, tmp_path: Path) -> None:
    """replayCase/export, verify: self-contained; what differs is named by its item."""
    thread = lively(host, workspace)
    case = host.call(CASE, sessionId=thread, locale="de", redact=False)
    body = json.loads((folder_of(case) / "input.json").read_bytes())
    for holder in (body, body["runtimeContext"]):
        assert holder["fileCheckpoints"] == host.checkpoints(thread) and holder["fileCheckpointCount"] == 3
        assert "recentArtifacts" in holder
    assert body["schemaVersion"] == "agent-session-replay-case.v1" and body["locale"] == "de"
    kinds = [entry["kind"] for entry in case["artifacts"]]
    assert {*kinds} == {"input", "expected", "grader", "evidence_links", "events", "content"}
    for entry in case["artifacts"]:
        assert (workspace / entry["relativePath"]).stat().st_size == entry["bytes"]
    moved = tmp_path / "moved"
    shutil.move(folder_of(case), moved)
    shutil.rmtree(workspace / ".lockstitch")
    host.call("thread/delete", threadId=thread)
    verdict = verified(host, moved)
    assert verdict["itemCount"] == len(json.loads((moved / "expected.json").read_bytes())["digests"]["items"])
    events = (moved / "events.jsonl").read_bytes()
    (moved / "events.jsonl").write_bytes(events.replace("done ✓".encode(), "gone ✓".encode()))
    named = {(m["kind"], m["id"]) for m in host.call(VERIFY, path=str(moved))["mismatches"]}
    assert ("file", "events.jsonl") in named and ("item", "m") in named and ("projection", "projection") in named
    assert any(kind == "event" for kind, _ in named)
    host.refused("invalidParams", VERIFY, path=str(tmp_path))
    host.refused("invalidParams", VERIFY, path="relative")


def with_secrets(host: Host, workspace: Path) -> str:
    """A thread that holds secrets in every manner, also in pieces."""
    thread = host.thread(cwd=str(workspace), name=f"about {AWS}", gitInfo={"originUrl": "https://u:hunter2hunter2@h/x"})
    turn = host.turn(thread, "x" * 190 + f" {GITHUB} tail")
    big = "o" * 2040 + f" {AWS} " + "o" * 70_000
    host.append(
        thread,
        turn,
        ("command.started", {"itemId": "c", "command": f"curl -H 'x-api-key: {ANTHROPIC}'"}),
        ("command.exited", {"itemId": "c", "exitCode": 1, "aggregatedOutput": f"DB_PASSWORD=hunter2hunter2\n{PEM}"}),
        ("command.exited", {"itemId": "big", "command": "cat", "exitCode": 0, "aggregatedOutput": big}),
        ("item.completed", {"item": {"type": "agentMessage", "id": AWS, "text": "an id is no secret"}}),
        ("artifact.snapshot", {"path": ".env", "content": f"TOKEN={GITHUB}\n", "beforeAbsent": True}),
        ("artifact.snapshot", {"path": "key.pem", "content": "a\n" * 9 + PEM, "previousContent": "b\n" * 9 + PEM}),
        ("artifact.snapshot", {"path": "ok.txt", "content": "fine\n", "beforeAbsent": True}),
        ("item.updated", {"item": {"type": "agentMessage", "id": "s", "text": f"the key is {AWS[:7]}"}}),
    )
    for piece in (AWS[7:12], AWS[12:] + " and ", GITHUB[:9], GITHUB[9:]):
        host.append(thread, turn, ("message.delta", {"itemId": "s", "delta": piece}), durability="sync")
    host.append(thread, turn, ("turn.failed", {"error": {"message": f"bad key {ANTHROPIC}"}}))
    return thread


def test_b88_secrets_are_left_out_counted_and_ids_stay(host: Host, workspace: Path) -> None:
    """B88: AKIA.., ghp_.., sk-ant-.., PEM, user:pass@ URL: redacted by default, counted; ids and hashes untouched."""
    thread = with_secrets(host, workspace)
    before = host.events(thread)
    result = host.call(EVIDENCE, sessionId=thread)
    pack, folder = result["evidencePack"], folder_of(result)
    ids = [{key: event.get(key) for key in ("eventId", "sequence", "turnId", "itemId", "type")} for event in before]
    assert [{key: event.get(key) for key in ids[0]} for event in result["events"]] == ids
    assert pack["redactions"] == {"cloudKey": 1, "envAssignment": 1, "privateKey": 1, "token": 2, "urlPassword": 1}
    left = json.dumps(result).replace(f'"{AWS}"', "")
    assert not [secret for secret in SECRETS if secret in left]
    assert f'"id":"{AWS}"' in (folder / "timeline.json").read_text(), "an id was changed"
    for name, data in contents_of(folder).items():
        text = data.decode().replace(f'"{AWS}"', "").replace(f"items: {AWS}", "")
        for secret in SECRETS:
            assert secret not in text, f"{name} holds {secret[:8]}"
    runtime = json.loads((folder / "runtime.json").read_bytes())
    assert runtime["complete"] is False and len(runtime["fileCheckpoints"]) == 3
    assert sum("redacted" in gap for gap in pack["knownGaps"]) == 4
    fine = "files/" + sha256(b"fine\n").hexdigest()
    assert [name for name in contents_of(folder) if name.startswith("files/")] == [fine]
    hashes = [c["after"]["sha256"] for c in host.checkpoints(thread)]
    assert [c["after"]["sha256"] for c in runtime["fileCheckpoints"]] == hashes
    lines = [json.loads(line) for line in (folder / "events.jsonl").read_bytes().split(b"\n")[:-1]]
    sums = [json.loads(line)["sum"] for line in Path(host.read(thread)["path"]).read_bytes().split(b"\n")[:-1]]
    assert [line["originalSum"] for line in lines] == sums
    verified(host, folder)
    case = host.call(CASE, sessionId=thread)
    verified(host, folder_of(case))
    open_pack = host.call(EVIDENCE, sessionId=thread, redact=False)
    assert AWS.encode() in (folder_of(open_pack) / "events.jsonl").read_bytes()
    verified(host, folder_of(open_pack))
    assert host.events(thread) == before, "what is stored was changed"


def test_a_content_that_is_gone_is_named(host: Host, place: Path) -> None:
    """knownGaps: a missing content is named, and the pack marked incomplete; other sides say what they are."""
    thread = host.thread()
    turn = host.turn(thread)
    host.append(thread, turn, ("artifact.snapshot", {"path": "a", "content": "to be lost\n"}))
    lost = sha256(b"to be lost\n").hexdigest()
    (place / "data" / "artifacts" / lost[:2] / lost).unlink()
    result = host.call(EVIDENCE, sessionId=thread)
    gaps = result["evidencePack"]["knownGaps"]
    assert any(lost in gap and "missing" in gap for gap in gaps) and any("notCaptured" in gap for gap in gaps)
    folder = folder_of(result)
    assert json.loads((folder / "runtime.json").read_bytes())["complete"] is False
    assert lost in (folder / "summary.md").read_text()
    verified(host, folder)


@covers("messageTooLarge")
def test_a_reply_that_is_too_large_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with Host(tmp_path, maxMessageBytes=100_000) as host:
        thread = host.thread()
        for _ in range(10):
            host.append(thread, None, ("acme.big", {"text": "x" * 9000}))
        host.refused("messageTooLarge", EVIDENCE, sessionId=thread)
        assert not (tmp_path / "data" / "exports").exists()
        result = host.call(EVIDENCE, sessionId=thread, includeEvents=False)
        assert (folder_of(result) / "events.jsonl").stat().st_size > 90_000


def test_every_change_of_every_file_is_found(host: Host, workspace: Path) -> None:
    """Random changes of packs and cases: verify finds each. tests/soak_exports.py makes thousands."""
    thread = host.thread(cwd=str(workspace))
    turn = host.turn(thread, f"key {AWS}")
    host.append(thread, turn, ("artifact.snapshot", {"path": "a", "content": "x\n", "beforeAbsent": True}))
    host.append(thread, turn, ("message.delta", {"itemId": "s", "delta": "half"}), durability="sync")
    host.append(thread, turn, ("turn.completed", {}))
    chance = random.Random(6)
    for method in (EVIDENCE, CASE):
        for redact in (True, False):
            folder = Folder(folder_of(host.call(method, sessionId=thread, redact=redact)))
            for number in range(50):
                if made := folder.change(chance):
                    assert verify(str(folder.path), projected).mismatches, made
                    if number < 3:  # the same by the wire
                        assert host.call(VERIFY, path=str(folder.path))["ok"] is False, made
                folder.restore()
            verified(host, folder.path)


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="no sha256sum on this machine")
def test_a_stranger_checks_an_export_with_sha256sum_as_the_document_says(host: Host, workspace: Path) -> None:
    """docs/format.md: its shell lines accept packs and cases, redacted or not, and find what was changed."""
    document = (Path(__file__).parents[2] / "docs" / "format.md").read_text(encoding="utf-8")
    found = re.search(r"```sh\n(seal=.*?)```", document, re.DOTALL)
    assert found is not None
    rules = found[1]

    def holds(folder: Path) -> bool:
        done = subprocess.run(["sh", "-c", rules], cwd=folder, capture_output=True, check=False)
        return done.returncode == 0

    thread = with_secrets(host, workspace)
    chance = random.Random(7)
    for method in (EVIDENCE, CASE):
        for redact in (True, False):
            folder = Folder(folder_of(host.call(method, sessionId=thread, redact=redact)))
            assert holds(folder.path), method
            for _ in range(4):
                if made := folder.change(chance):
                    assert not holds(folder.path), made
                folder.restore()
            name, data = next((name, data) for name, data in folder.files.items() if name != "events.jsonl")
            (folder.path / name).unlink()
            (folder.path / name).symlink_to(workspace / "kept")
            (workspace / "kept").write_bytes(data)
            assert not holds(folder.path), "a link"
            folder.restore()
            assert holds(folder.path)


@covers("thread/export", "pathRefused", "invalidParams", "threadNotFound")
def test_a_thread_as_lines_and_as_markdown(host: Host, workspace: Path, tmp_path: Path) -> None:
    """thread/export: jsonl byte for byte with redact false; markdown to read; a path is a new file."""
    thread = with_secrets(host, workspace)
    rollout = Path(host.read(thread)["path"]).read_bytes()
    export = "thread/export"
    found = host.call(export, threadId=thread, format="jsonl", redact=False)
    assert found["content"].encode() == rollout and "redactions" not in found
    assert (found["bytes"], found["sha256"]) == (len(rollout), sha256(rollout).hexdigest())
    target = tmp_path / "out.jsonl"
    written = host.call(export, threadId=thread, format="jsonl", redact=False, path=str(target))
    assert written["path"] == str(target) and "content" not in written and target.read_bytes() == rollout
    assert target.stat().st_mode & 0o777 == 0o600
    refused = host.refused("pathRefused", export, threadId=thread, format="jsonl", path=str(target))
    assert refused.data["reason"] == "exists"
    assert target.read_bytes() == rollout and sorted(tmp_path.iterdir()) == [target, workspace]
    host.refused("pathRefused", export, threadId=thread, format="jsonl", path=str(tmp_path / ".git" / "x"))
    host.refused("storageFailed", export, threadId=thread, format="jsonl", path=str(tmp_path / "none" / "x"))
    host.refused("invalidParams", export, threadId=thread, format="jsonl", path="relative")
    host.refused("invalidParams", export, threadId=thread, format="docx")
    host.refused("threadNotFound", export, threadId="none", format="jsonl")
    clean = host.call(export, threadId=thread, format="jsonl")
    lines = clean["content"].split("\n")[:-1]
    assert len(lines) == len(host.events(thread)) and all("originalSum" in json.loads(line) for line in lines)
    text = host.call(export, threadId=thread, format="markdown")
    for document in (clean, text):
        assert document["redactions"]["cloudKey"] == 1
        left = document["content"].replace(f'"{AWS}"', "")
        assert not [secret for secret in SECRETS if secret in left]
    lively_one = lively(host, workspace)
    markdown = host.call(export, threadId=lively_one, format="markdown")["content"]
    assert markdown.startswith("# please change a.txt\n") and "> again" in markdown and "done ✓" in markdown
    assert "\n+++ b/a.txt\n@@ -0,0 +1 @@\n+x\n```" in markdown and "**Error:** the model is gone" in markdown
    assert "interrupted: no result was recorded" in markdown and "- `a.txt` created (+2 -1)" in markdown


def test_b11_a_damaged_thread_says_so_in_every_export(tmp_path: Path) -> None:
    """B11: partial, with place and reason, in packs and documents; what can be read verifies."""
    with Host(tmp_path) as host:
        thread = host.thread()
        turn = host.turn(thread)
        for number in range(6):
            host.append(thread, turn, ("plan.final", {"text": f"step {number}", "itemId": f"p{number}"}))
        host.append(thread, turn, ("turn.completed", {}))
        rollout = Path(host.read(thread)["path"])
    rollout.write_bytes(rollout.read_bytes().replace(b"step 3", b"step\x00\xff"))
    with Host(tmp_path) as host:
        host.call("thread/read", threadId=thread, includeTurns=True)
        damaged = rollout.read_bytes()
        pack = host.call(EVIDENCE, sessionId=thread)["evidencePack"]
        assert any("partial" in gap for gap in pack["knownGaps"]), pack["knownGaps"]
        assert any("Damage: bytes" in gap and "quarantine" in gap for gap in pack["knownGaps"])
        verified(host, Path(pack["packAbsoluteRoot"]))
        case = host.call(CASE, sessionId=thread, redact=False)
        verified(host, folder_of(case))
        host.refused("invalidRequest", "thread/export", threadId=thread, format="jsonl", redact=False)
        whole = tmp_path / "whole.jsonl"
        found = host.call("thread/export", threadId=thread, format="jsonl", redact=False, path=str(whole))
        assert found["partial"] is True and whole.read_bytes() == rollout.read_bytes()
        assert whole.read_bytes().startswith(damaged[:200])
        markdown = host.call("thread/export", threadId=thread, format="markdown")
        assert markdown["partial"] is True and "Partial: events of this thread are lost" in markdown["content"]
        assert "step 2" in markdown["content"] and "step 4" in markdown["content"]


@covers("invalidRequest")
def test_an_ephemeral_thread_is_told_but_never_written(host: Host, place: Path) -> None:
    """Ephemeral threads: replies and replays as of any thread; no pack, case or file."""
    thread = host.thread(ephemeral=True)
    turn = host.turn(thread)
    host.append(thread, turn, ("artifact.snapshot", {"path": "a", "content": f"{AWS}\n"}), ("turn.completed", {}))
    result = host.call(EVIDENCE, sessionId=thread, includeEvidencePack=False)
    assert len(result["events"]) == len(host.events(thread)) and len(result["artifacts"]) == 1
    replay = host.call("thread/replay", threadId=thread)
    assert replay["eventCount"] == len(result["events"])
    assert "## Turn 1" in host.call("thread/export", threadId=thread, format="markdown")["content"]
    host.refused("invalidRequest", EVIDENCE, sessionId=thread)
    host.refused("invalidRequest", CASE, sessionId=thread)
    host.refused("invalidRequest", "thread/export", threadId=thread, format="markdown", path=str(place / "x.md"))
    assert not (place / "data" / "exports" / thread).exists()


def test_a_cancelled_export_leaves_nothing(host: Host, workspace: Path) -> None:
    """$/cancelRequest: the staged folder is removed; progress was told; the next export is whole."""
    thread = host.thread(cwd=str(workspace))
    turn = host.turn(thread)
    for number in range(40):
        host.append(thread, turn, ("artifact.snapshot", {"path": f"f{number}", "content": f"{number}\n"}))
    asked = host.send(EVIDENCE, {"sessionId": thread, "includeEvents": False, "progressToken": "cancel"})
    host.heard("$/progress", token="cancel")
    host.signal("$/cancelRequest", {"id": asked})
    reply = host.reply(asked)
    folder = next((workspace / ".lockstitch").glob("*/exports/*/evidence"))
    if "error" in reply:
        assert reply["error"]["data"]["kind"] == "requestCancelled"
        assert list(folder.iterdir()) == []
    verified(host, folder_of(host.call(EVIDENCE, sessionId=thread)))
