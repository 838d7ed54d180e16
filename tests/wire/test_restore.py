"""Restore, rewind and undo respect the user: section F of the field reports, and the contract's section 6."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.wire.host import Host

covers = pytest.mark.covers

CHECKPOINT = "agentSession/fileCheckpoint"


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def tree(root: Path) -> dict[str, tuple[bytes | str, int, int]]:
    """Every file of a workspace but ours: bytes, mode, mtime."""
    found: dict[str, tuple[bytes | str, int, int]] = {}
    for folder, folders, names in os.walk(root):
        if folder == str(root) and ".lockstitch" in folders:
            folders.remove(".lockstitch")
        for name in [*names, *folders]:
            path = Path(folder) / name
            status = path.lstat()
            if path.is_symlink():
                data: bytes | str = os.readlink(path)
            else:
                data = path.read_bytes() if path.is_file() else b""
            mtime = 0 if path.is_dir() else status.st_mtime_ns
            found[path.relative_to(root).as_posix()] = (data, status.st_mode, mtime)
    return found


class Scene:
    """A thread with a workspace."""

    def __init__(self, host: Host, workspace: Path) -> None:
        self.host, self.workspace = host, workspace
        self.thread = host.thread(cwd=str(workspace))
        self.turns: list[str] = []

    def turn(self) -> str:
        self.turns.append(self.host.turn(self.thread))
        return self.turns[-1]

    def end(self) -> None:
        self.host.append(self.thread, self.turns[-1], ("turn.completed", {}))

    def write(self, path: str, data: bytes, mode: int | None = None) -> None:
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        if mode is not None:
            file.chmod(mode)

    def agent(self, path: str, data: bytes | None, mode: int | None = None, **payload: Any) -> dict[str, Any]:
        """The agent writes a file (or removes it) and reports it."""
        if data is None:
            (self.workspace / path).unlink()
        else:
            self.write(path, data, mode)
        return self.host.snapshot(self.thread, self.turns[-1], {"path": path, **payload})

    def data(self, path: str) -> bytes:
        return (self.workspace / path).read_bytes()

    def restore(self, checkpoint: dict[str, Any], **params: Any) -> dict[str, Any]:
        params = {"confirmRestore": True, **params}
        return self.host.call(
            f"{CHECKPOINT}/restore", sessionId=self.thread, checkpointId=checkpoint["checkpointId"], **params
        )

    def rewind(self, turn: str, **params: Any) -> dict[str, Any]:
        return self.host.call(
            f"{CHECKPOINT}/rewind", sessionId=self.thread, toTurnId=turn, **{"confirmRestore": True, **params}
        )

    def undo(self, **params: Any) -> dict[str, Any]:
        return self.host.call(f"{CHECKPOINT}/undo", sessionId=self.thread, **{"confirmRestore": True, **params})

    def refused(self, kind: str, method: str, **params: Any) -> dict[str, Any]:
        """A refusal, after which nothing at all has changed, and which a dry run had foretold or shared."""
        before, events = tree(self.workspace), len(self.host.events(self.thread))
        data = self.host.refused(
            kind, f"{CHECKPOINT}/{method}", sessionId=self.thread, **{"confirmRestore": True, **params}
        ).data
        assert tree(self.workspace) == before
        assert len(self.host.events(self.thread)) == events
        return data

    def sources(self, path: str) -> list[tuple[str, str | None]]:
        """(source, hash) of every version, oldest first."""
        found = self.host.checkpoints(self.thread, path=path)
        return [(c["source"], (c["after"] or {}).get("sha256")) for c in reversed(found)]


@pytest.fixture
def scene(host: Host, workspace: Path) -> Scene:
    return Scene(host, workspace)


def actions(result: dict[str, Any]) -> dict[str, str]:
    return {entry["path"]: entry["action"] for entry in result["plan"]}


# -- section F ----------------------------------------------------------------------------------------------------
def test_b56_ignored_and_untracked_files_stay(scene: Scene) -> None:
    """B56: a .gitignore that the user changed, and what it ignores, are none of a rewind's business."""
    scene.turn()
    scene.agent("a.txt", b"1\n", beforeAbsent=True)
    scene.end()
    scene.write(".gitignore", b"data/\n")
    scene.write("data/x", b"precious")
    scene.write("untracked.bin", bytes(range(256)))
    scene.turn()
    scene.agent("a.txt", b"2\n")
    scene.end()
    before = tree(scene.workspace)
    assert scene.rewind(scene.turns[0])["applied"] is True
    after = tree(scene.workspace)
    assert scene.data("a.txt") == b"1\n"
    assert {name: value for name, value in after.items() if name != "a.txt"} == {
        name: value for name, value in before.items() if name != "a.txt"
    }, "something else was touched, if only its mtime"


@covers("contentUnavailable")
def test_b57_b58_a_capture_that_failed_is_never_restored(scene: Scene) -> None:
    """B57, B58: a version that could not be captured says so in the list, and a restore of it changes nothing."""
    scene.turn()
    scene.agent("big.bin", b"small\n", beforeAbsent=True)
    with open(scene.workspace / "big.bin", "wb") as file:
        file.truncate((64 << 20) + 1)  # over the limit, and sparse
    failed = scene.host.snapshot(scene.thread, scene.turns[0], {"path": "big.bin"})
    assert failed["status"] == "failed" and failed["after"]["contentStatus"] == "tooLarge"
    scene.end()
    scene.turn()
    os.truncate(scene.workspace / "big.bin", 0)
    scene.agent("big.bin", b"other\n")
    scene.end()
    data = scene.refused("contentUnavailable", "restore", checkpointId=failed["checkpointId"])
    assert data["contentStatus"] == "tooLarge" and data["path"] == "big.bin"
    assert scene.refused("contentUnavailable", "rewind", toTurnId=scene.turns[0])["path"] == "big.bin"
    plan = scene.rewind(scene.turns[0], confirmRestore=False, dryRun=True)
    assert plan["applied"] is False
    assert plan["plan"][0]["action"] == "unavailable" and plan["plan"][0]["reason"] == "tooLarge"


@covers("agentSession/fileCheckpoint/restore", "agentSession/fileCheckpoint/undo", "conflict")
def test_b60_the_users_own_edit_is_a_conflict_and_then_a_version(scene: Scene) -> None:
    """B60: agent v1, v2, the user edits, restore v1: both hashes are told; with backup the user's text is a version."""
    scene.turn()
    first = scene.agent("a.txt", b"one\n", beforeAbsent=True)
    scene.agent("a.txt", b"two\n")
    scene.write("a.txt", b"mine\n")
    data = scene.refused("conflict", "restore", checkpointId=first["checkpointId"])
    (file,) = data["files"]
    assert (file["path"], file["expectedSha256"], file["actualSha256"]) == ("a.txt", sha(b"two\n"), sha(b"mine\n"))
    plan = scene.restore(first, confirmRestore=False, dryRun=True)
    assert actions(plan) == {"a.txt": "conflict"} and plan["conflict"]["actualSha256"] == sha(b"mine\n")
    plan = scene.restore(first, confirmRestore=False, dryRun=True, onConflict="backup")
    assert actions(plan) == {"a.txt": "write"} and plan["plan"][0]["reason"] == "backup"
    assert "restoredAt" not in plan and scene.data("a.txt") == b"mine\n"
    done = scene.restore(first, onConflict="backup")
    assert scene.data("a.txt") == b"one\n"
    assert done["conflict"]["actualSha256"] == sha(b"mine\n") and done["restoredAt"] and done["backupPath"]
    assert scene.sources("a.txt") == [
        ("agent", sha(b"one\n")),
        ("agent", sha(b"two\n")),
        ("external", sha(b"mine\n")),
        ("restore", sha(b"one\n")),
    ]
    newest = scene.host.checkpoints(scene.thread)[0]
    assert newest["checkpointId"] == done["restoreCheckpointId"] and newest["op"] == "restored"
    assert "turnId" not in newest, "a restore belongs to no turn, though one is open"
    assert newest["before"]["sha256"] == sha(b"mine\n")
    scene.undo(restoreCheckpointId=done["restoreCheckpointId"])
    assert scene.data("a.txt") == b"mine\n"


def test_b61_looking_changes_nothing(scene: Scene) -> None:
    """B61: reads, plans and captures of unchanged files write nothing in the workspace."""
    scene.turn()
    first = scene.agent("a.txt", b"one\n", beforeAbsent=True)
    scene.agent("a.txt", b"two\n")
    scene.end()
    scene.write("a.txt", b"two\n")
    before = tree(scene.workspace)
    scene.host.read(scene.thread, turns=True)
    scene.host.call("thread/resume", threadId=scene.thread)
    scene.host.call(f"{CHECKPOINT}/get", sessionId=scene.thread, checkpointId=first["checkpointId"])
    scene.host.call(f"{CHECKPOINT}/diff", sessionId=scene.thread, checkpointId=first["checkpointId"], against="live")
    scene.host.call(f"{CHECKPOINT}/capture", sessionId=scene.thread, paths=["a.txt"])
    scene.restore(first, confirmRestore=False, dryRun=True)
    scene.rewind(scene.turns[0], confirmRestore=False, dryRun=True, position="before")
    assert tree(scene.workspace) == before


@covers("agentSession/fileCheckpoint/rewind")
def test_b65_a_file_that_the_agent_made_goes_only_as_it_made_it(scene: Scene) -> None:
    """B65: removed if its hash is what the agent wrote, kept with a conflict if the user changed it."""
    scene.turn()
    scene.end()
    scene.turn()
    scene.agent("new.md", b"agent\n", beforeAbsent=True)
    scene.end()
    scene.write("new.md", b"agent\nand me\n")
    assert actions(scene.rewind(scene.turns[0], confirmRestore=False, dryRun=True)) == {"new.md": "conflict"}
    scene.refused("conflict", "rewind", toTurnId=scene.turns[0])
    scene.write("new.md", b"agent\n")
    assert actions(scene.rewind(scene.turns[0])) == {"new.md": "delete"}
    assert not (scene.workspace / "new.md").exists()


def test_b67_one_missing_version_changes_neither_files_nor_conversation(scene: Scene) -> None:
    """B67: a rewind of both with one content gone: nothing moves, and the error names the file."""
    scene.turn()
    scene.agent("a.txt", b"a1\n", beforeAbsent=True)
    scene.agent("b.txt", b"b1\n", beforeAbsent=True)
    scene.end()
    scene.turn()
    scene.agent("a.txt", b"a2\n")
    scene.agent("b.txt", b"b2\n")
    scene.end()
    for blob in [*scene.workspace.rglob(sha(b"b1\n")), *(scene.host.root / "data").rglob(sha(b"b1\n"))]:
        blob.unlink()
    data = scene.refused("contentUnavailable", "rewind", toTurnId=scene.turns[0], conversation=True)
    assert data["path"] == "b.txt" and data["contentStatus"] == "missing"
    assert scene.host.read(scene.thread)["turnCount"] == 2
    assert actions(scene.rewind(scene.turns[0], paths=["a.txt"])) == {"a.txt": "write"}
    assert scene.data("a.txt") == b"a1\n" and scene.data("b.txt") == b"b2\n"


# -- the contract -------------------------------------------------------------------------------------------------
@covers("invalidParams", "thread.rewound")
def test_consent_is_needed(scene: Scene) -> None:
    """No act without confirmRestore but a dry run; undo takes exactly one id; what is unknown is not found."""
    turn = scene.turn()
    made = scene.agent("a.txt", b"1\n", beforeAbsent=True)
    session = {"sessionId": scene.thread}
    one = {**session, "checkpointId": made["checkpointId"]}
    scene.host.refused("invalidParams", f"{CHECKPOINT}/restore", **one)
    scene.host.refused("invalidParams", f"{CHECKPOINT}/rewind", **session, toTurnId=turn)
    scene.host.refused("invalidParams", f"{CHECKPOINT}/undo", **session, rewindId="x")
    scene.host.refused("invalidParams", f"{CHECKPOINT}/undo", **session, confirmRestore=True)
    scene.host.refused(
        "invalidParams",
        f"{CHECKPOINT}/undo",
        **session,
        restoreCheckpointId=made["checkpointId"],
        confirmRestore=True,
    )
    scene.refused("checkpointNotFound", "undo", rewindId="rewind_unknown")
    scene.refused("checkpointNotFound", "restore", checkpointId="nope")
    scene.refused("turnNotFound", "rewind", toTurnId="nope")
    scene.refused("checkpointNotFound", "rewind", toTurnId=turn, paths=["never.txt"])
    done = scene.rewind(turn)
    assert done["plan"] == [] and done["applied"] is True
    assert scene.undo(rewindId=done["rewindId"])["plan"] == []
    assert [e["type"] for e in scene.host.events(scene.thread)][-2:] == ["thread.rewound", "thread.rewound"]


@covers("workspaceNotLinked", "workspaceUnavailable", "threadArchived")
def test_threads_that_cannot_be_restored(scene: Scene, tmp_path: Path) -> None:
    """No workspace, one that is gone, an archived thread: refused, dry run or not."""
    loose = scene.host.thread()
    turn = scene.host.turn(loose)
    made = scene.host.snapshot(loose, turn, {"path": "a.txt", "content": "1\n", "beforeAbsent": True})
    for consent in ({"confirmRestore": True}, {"dryRun": True}):
        scene.host.refused(
            "workspaceNotLinked",
            f"{CHECKPOINT}/restore",
            sessionId=loose,
            checkpointId=made["checkpointId"],
            **consent,
        )
    turn = scene.turn()
    made = scene.agent("a.txt", b"1\n", beforeAbsent=True)
    scene.end()
    params = {"sessionId": scene.thread, "checkpointId": made["checkpointId"], "dryRun": True}
    scene.workspace.rename(tmp_path / "elsewhere")
    scene.host.refused("workspaceUnavailable", f"{CHECKPOINT}/restore", **params)
    (tmp_path / "elsewhere").rename(scene.workspace)
    scene.host.call("thread/archive", threadId=scene.thread)
    scene.host.refused("threadArchived", f"{CHECKPOINT}/restore", **params)


def test_both_sides_of_a_checkpoint(scene: Scene) -> None:
    """`before` of a creation removes the file, of a change brings the older bytes and mode."""
    scene.turn()
    made = scene.agent("tool.sh", b"#!/bin/sh\n", 0o755, beforeAbsent=True)
    changed = scene.agent("tool.sh", b"#!/bin/sh\nexit\n", 0o600)
    scene.restore(changed, side="before")
    assert scene.data("tool.sh") == b"#!/bin/sh\n" and (scene.workspace / "tool.sh").stat().st_mode & 0o7777 == 0o755
    scene.restore(made, side="before")
    assert not (scene.workspace / "tool.sh").exists()
    done = scene.restore(changed)
    assert (
        scene.data("tool.sh") == b"#!/bin/sh\nexit\n" and (scene.workspace / "tool.sh").stat().st_mode & 0o777 == 0o600
    )
    again = scene.restore(changed)
    assert actions(again) == {"tool.sh": "keep"} and again["restoreCheckpointId"] != done["restoreCheckpointId"]


def test_a_deleted_file_comes_back_without_a_conflict(scene: Scene) -> None:
    """What the user deleted overwrites nothing; that it was deleted is recorded first."""
    scene.turn()
    made = scene.agent("deep/er/a.txt", b"1\n", beforeAbsent=True)
    shutil.rmtree(scene.workspace / "deep")
    done = scene.restore(made)
    assert scene.data("deep/er/a.txt") == b"1\n"
    assert scene.sources("deep/er/a.txt") == [("agent", sha(b"1\n")), ("external", None), ("restore", sha(b"1\n"))]
    scene.undo(restoreCheckpointId=done["restoreCheckpointId"])
    assert not (scene.workspace / "deep").exists(), "folders that the restore made go again, if they are empty"
    scene.restore(made)
    scene.write("deep/mine.txt", b"m")
    scene.rewind(scene.turns[0], position="before")
    assert sorted(tree(scene.workspace)) == ["deep", "deep/er", "deep/mine.txt"], (
        "what it did not make, or is used, stays"
    )


def test_a_rename_goes_back_with_both_paths(scene: Scene) -> None:
    """A checkpoint with oldPath touches two files on the way back."""
    scene.turn()
    scene.agent("old.txt", b"text\n", 0o640, beforeAbsent=True)
    scene.end()
    scene.turn()
    (scene.workspace / "old.txt").rename(scene.workspace / "new.txt")
    renamed = scene.agent("new.txt", b"text\nmore\n", oldPath="old.txt")
    assert renamed["op"] == "renamed" and renamed["before"]["sha256"] == sha(b"text\n")
    scene.end()
    done = scene.rewind(scene.turns[0])
    assert actions(done) == {"new.txt": "delete", "old.txt": "write"}
    assert scene.data("old.txt") == b"text\n" and (scene.workspace / "old.txt").stat().st_mode & 0o777 == 0o640
    assert not (scene.workspace / "new.txt").exists()
    scene.undo(rewindId=done["rewindId"])
    assert scene.data("new.txt") == b"text\nmore\n" and not (scene.workspace / "old.txt").exists()
    one = scene.restore(renamed, side="before")
    assert actions(one) == {"new.txt": "delete", "old.txt": "write"}
    scene.undo(restoreCheckpointId=one["restoreCheckpointId"])
    assert scene.data("new.txt") == b"text\nmore\n" and not (scene.workspace / "old.txt").exists()


def test_a_capture_before_the_first_edit_is_what_a_rewind_brings_back(scene: Scene) -> None:
    """What was captured on the way to the first edit is the state before it; what never was is unavailable."""
    scene.write("seen.txt", b"user\n", 0o604)
    scene.write("unseen.txt", b"user\n")
    first = scene.turn()
    scene.end()
    scene.turn()
    scene.host.call(f"{CHECKPOINT}/capture", sessionId=scene.thread, paths=["seen.txt"])
    scene.agent("seen.txt", b"agent\n")
    scene.agent("unseen.txt", b"agent\n")
    scene.end()
    plan = scene.rewind(first, confirmRestore=False, dryRun=True)
    assert actions(plan) == {"seen.txt": "write", "unseen.txt": "unavailable"}
    assert scene.refused("contentUnavailable", "rewind", toTurnId=first)["contentStatus"] == "notCaptured"
    scene.rewind(first, paths=["seen.txt"])
    assert scene.data("seen.txt") == b"user\n" and (scene.workspace / "seen.txt").stat().st_mode & 0o777 == 0o604


def test_before_a_turn_keeps_what_the_user_did_between_the_turns(scene: Scene) -> None:
    """`after` a turn is its own state; `before` the next one is what its first edit found."""
    scene.turn()
    scene.agent("a.txt", b"agent 1\n", beforeAbsent=True)
    scene.end()
    scene.write("a.txt", b"user\n")
    scene.turn()
    scene.agent("a.txt", b"agent 2\n", previousContent="user\n")
    scene.end()
    done = scene.rewind(scene.turns[1], position="before")
    assert scene.data("a.txt") == b"user\n"
    scene.undo(rewindId=done["rewindId"])
    assert scene.data("a.txt") == b"agent 2\n"
    scene.rewind(scene.turns[0])
    assert scene.data("a.txt") == b"agent 1\n"


def test_before_a_turn_is_before_what_its_commands_did(scene: Scene) -> None:
    """A capture before a command fixes what was there, the one after it records what the command did."""
    paths = ["made.txt", "kept.txt", "seen.txt"]

    def capture() -> None:
        scene.host.call(f"{CHECKPOINT}/capture", sessionId=scene.thread, paths=paths)

    scene.write("seen.txt", b"1\n")
    scene.write("kept.txt", b"user 1\n")
    scene.turn()
    capture()
    scene.end()
    scene.write("kept.txt", b"user 2\n")
    scene.turn()
    capture()
    for name in ("seen.txt", "made.txt"):
        scene.write(name, b"2\n")
    capture()
    scene.end()
    scene.turn()
    scene.agent("seen.txt", b"3\n")
    scene.end()
    assert actions(scene.rewind(scene.turns[2], position="before", dryRun=True)) == {"seen.txt": "write"}
    done = scene.rewind(scene.turns[1], position="before")
    assert actions(done) == {"seen.txt": "write", "made.txt": "delete", "kept.txt": "keep"}
    assert scene.data("seen.txt") == b"1\n" and scene.data("kept.txt") == b"user 2\n"
    scene.undo(rewindId=done["rewindId"])
    assert scene.data("seen.txt") == b"3\n" and scene.data("made.txt") == b"2\n"


@covers("thread.rolledBack", "thread.rolledForward", "turnActive")
def test_files_and_conversation_in_one_act(scene: Scene) -> None:
    """Both go back together and come back together; with a turn open neither does."""
    scene.turn()
    scene.agent("a.txt", b"1\n", beforeAbsent=True)
    scene.end()
    scene.turn()
    scene.agent("a.txt", b"2\n")
    scene.refused("turnActive", "rewind", toTurnId=scene.turns[0], conversation=True)
    scene.refused("turnActive", "rewind", toTurnId=scene.turns[0], conversation=True, dryRun=True)
    scene.end()
    before = scene.host.read(scene.thread, turns=True)
    done = scene.rewind(scene.turns[0], conversation=True)
    assert scene.data("a.txt") == b"1\n"
    assert [turn["id"] for turn in scene.host.read(scene.thread, turns=True)["turns"]] == scene.turns[:1]
    back = scene.undo(rewindId=done["rewindId"])
    assert scene.data("a.txt") == b"2\n"
    assert scene.host.read(scene.thread, turns=True)["turns"] == before["turns"]
    scene.undo(rewindId=back["rewindId"])
    assert scene.data("a.txt") == b"1\n" and scene.host.read(scene.thread)["turnCount"] == 1
    whole = scene.rewind(scene.turns[0], position="before", conversation=True)
    read = scene.host.read(scene.thread)
    assert (read["turnCount"], read["preview"]) == (0, "") and not (scene.workspace / "a.txt").exists()
    scene.undo(rewindId=whole["rewindId"])
    read = scene.host.read(scene.thread)
    assert (read["turnCount"], read["preview"]) == (1, "go on") and scene.data("a.txt") == b"1\n"
    scene.refused("turnNotFound", "rewind", toTurnId=scene.turns[1], conversation=True)


def test_an_undo_leaves_a_conversation_that_went_on(scene: Scene) -> None:
    """Turns that are started after a rewind stay as they are; the files come back all the same."""
    scene.turn()
    scene.agent("a.txt", b"1\n", beforeAbsent=True)
    scene.end()
    scene.turn()
    scene.agent("a.txt", b"2\n")
    scene.end()
    done = scene.rewind(scene.turns[0], conversation=True)
    later = scene.turn()
    scene.end()
    scene.undo(rewindId=done["rewindId"])
    assert scene.data("a.txt") == b"2\n"
    assert [turn["id"] for turn in scene.host.read(scene.thread, turns=True)["turns"]] == [scene.turns[0], later]


def test_paths_and_folders(scene: Scene) -> None:
    """`paths` names files, absolute or not, or folders; the rest stays."""
    scene.turn()
    scene.end()
    scene.turn()
    for path in ("src/a.py", "src/deep/b.py", "src.txt", "c.txt"):
        scene.agent(path, b"x", beforeAbsent=True)
    scene.end()
    plan = scene.rewind(scene.turns[0], paths=["src/"], dryRun=True)
    assert set(actions(plan)) == {"src/a.py", "src/deep/b.py"}
    scene.rewind(scene.turns[0], paths=["src", str(scene.workspace / "c.txt")])
    assert sorted(name for name, value in tree(scene.workspace).items() if value[2]) == ["src.txt"]
    scene.refused("pathRefused", "rewind", toTurnId=scene.turns[0], paths=["../x"])


def test_a_restore_makes_no_traces_and_fits_a_rebuild(place: Path, workspace: Path, tmp_path: Path) -> None:
    """No staged file, no journal; without its database a thread answers the same, and its acts can be undone."""
    with Host(tmp_path) as host:
        scene = Scene(host, workspace)
        scene.turn()
        scene.agent("a.txt", b"1\n", beforeAbsent=True)
        scene.end()
        scene.turn()
        scene.agent("a.txt", b"2\n")
        scene.agent("b.txt", b"b\n", beforeAbsent=True)
        scene.end()
        done = scene.rewind(scene.turns[0], conversation=True)
        assert sorted(os.listdir(workspace)) == [".lockstitch", "a.txt"]
        assert os.listdir(tmp_path / "data" / "journal") == []
        views = _views(host, scene.thread)
    shutil.rmtree(tmp_path / "data" / "sqlite")
    with Host(tmp_path) as host:
        assert _views(host, scene.thread) == views
        scene.host = host
        scene.undo(rewindId=done["rewindId"])
        assert scene.data("a.txt") == b"2\n" and scene.data("b.txt") == b"b\n"
        assert host.read(scene.thread)["turnCount"] == 2
        document = host.checkpoints(scene.thread, path="a.txt")[0]["snapshotPath"]
        assert (workspace / document).is_file()


def _views(host: Host, thread: str) -> list[Any]:
    return [host.read(thread, turns=True), host.events(thread), host.checkpoints(thread), host.items(thread)]


def test_a_thread_that_lives_in_memory_only(host: Host, workspace: Path) -> None:
    """Its files are restored and undone like any other's."""
    scene = Scene(host, workspace)
    scene.thread = host.thread(cwd=str(workspace), ephemeral=True)
    scene.turn()
    made = scene.agent("a.txt", b"1\n", beforeAbsent=True)
    scene.agent("a.txt", b"2\n")
    done = scene.restore(made)
    assert scene.data("a.txt") == b"1\n"
    scene.undo(restoreCheckpointId=done["restoreCheckpointId"])
    assert scene.data("a.txt") == b"2\n"


def test_a_fork_undoes_its_parents_rewind(scene: Scene) -> None:
    """Acts come along with the events that record them."""
    scene.turn()
    scene.agent("a.txt", b"1\n", beforeAbsent=True)
    scene.end()
    scene.turn()
    scene.agent("a.txt", b"2\n")
    scene.end()
    done = scene.rewind(scene.turns[0])
    scene.thread = scene.host.call("thread/fork", threadId=scene.thread)["thread"]["id"]
    scene.undo(rewindId=done["rewindId"])
    assert scene.data("a.txt") == b"2\n"


def _swapped(scene: Scene) -> None:
    """First a file, a folder, and another file; then the agent has put each in the other's place."""
    scene.turn()
    for path in ("a", "b/x", "b/deep/z", "c"):
        scene.agent(path, b"1\n", beforeAbsent=True)
    scene.end()
    scene.turn()
    scene.agent("a", None)
    scene.agent("a/y", b"2\n", beforeAbsent=True)
    for path in ("b/x", "b/deep/z"):
        scene.agent(path, None)
    shutil.rmtree(scene.workspace / "b")
    scene.agent("b", b"2\n", beforeAbsent=True)
    scene.agent("c", b"2\n")
    scene.end()


def _files(scene: Scene) -> dict[str, bytes]:
    return {path: data for path, (data, mode, _) in tree(scene.workspace).items() if not stat.S_ISDIR(mode)}


def test_a_file_and_a_folder_that_the_agent_exchanged(scene: Scene) -> None:
    """A rewind puts each back in its place, an undo exchanges them again, a dry run says the same of both."""
    _swapped(scene)
    then = _files(scene)
    foretold = actions(scene.rewind(scene.turns[0], dryRun=True))
    assert foretold == {"a": "write", "a/y": "delete", "b": "delete", "b/deep/z": "write", "b/x": "write", "c": "write"}
    done = scene.rewind(scene.turns[0])
    assert actions(done) == foretold
    assert _files(scene) == dict.fromkeys(("a", "b/x", "b/deep/z", "c"), b"1\n")
    assert actions(scene.undo(rewindId=done["rewindId"])) == {
        "a": "delete",
        "a/y": "write",
        "b": "write",
        "b/deep/z": "delete",
        "b/x": "delete",
        "c": "write",
    }
    assert _files(scene) == then
    assert scene.sources("a/y")[-1] == ("restore", sha(b"2\n")) and scene.sources("b/x")[-1] == ("restore", None)
    assert set(os.listdir(scene.workspace)) == {".lockstitch", "a", "b", "c"}


@covers("pathRefused", "conflict")
def test_a_folder_in_the_way_that_holds_more_than_the_agents_files_stays(scene: Scene) -> None:
    """Refused with the reason and the name of what is in it; a file of the user's own text is a conflict."""
    _swapped(scene)
    for name, plant in {
        "mine": lambda path: path.write_bytes(b"mine"),
        "empty": lambda path: path.mkdir(),
        "link": lambda path: path.symlink_to(scene.workspace / "c"),
        ".git": lambda path: path.mkdir(),
    }.items():
        path = scene.workspace / "a" / name
        plant(path)
        plan = {step["path"]: step for step in scene.rewind(scene.turns[0], dryRun=True)["plan"]}
        assert (plan["a"]["action"], plan["a"]["reason"]) == ("unavailable", "directory"), name
        for backup in ("refuse", "backup"):
            data = scene.refused("pathRefused", "rewind", toTurnId=scene.turns[0], onConflict=backup)
            assert (data["reason"], data["path"]) == ("directory", "a")
        assert (
            name
            in scene.host.refused(
                "pathRefused",
                f"{CHECKPOINT}/rewind",
                sessionId=scene.thread,
                toTurnId=scene.turns[0],
                confirmRestore=True,
            ).message
        )
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    assert scene.refused("pathRefused", "rewind", toTurnId=scene.turns[0], paths=["a", "c"])["reason"] == "directory"
    assert scene.refused("pathRefused", "rewind", toTurnId=scene.turns[0], paths=["b/x"])["reason"] == "notADirectory"
    scene.write("a/y", b"the user's\n")
    scene.write("b", b"the user's too\n")
    conflicts = scene.refused("conflict", "rewind", toTurnId=scene.turns[0])["files"]
    assert [file["path"] for file in conflicts] == ["a/y", "b"]
    done = scene.rewind(scene.turns[0], onConflict="backup")
    assert _files(scene) == dict.fromkeys(("a", "b/x", "b/deep/z", "c"), b"1\n")
    assert ("external", sha(b"the user's\n")) in scene.sources("a/y")
    scene.undo(rewindId=done["rewindId"])
    assert (scene.data("a/y"), scene.data("b")) == (b"the user's\n", b"the user's too\n")


def test_an_exchange_of_which_only_the_new_files_were_reported(scene: Scene) -> None:
    """What cannot be there any more was there, and comes back, though nobody said that it went."""
    scene.turn()
    scene.agent("a", b"1\n", beforeAbsent=True)
    scene.agent("b/deep/x", b"1\n", beforeAbsent=True)
    scene.end()
    scene.turn()
    (scene.workspace / "a").unlink()
    shutil.rmtree(scene.workspace / "b")
    scene.agent("a/deep/y", b"2\n")
    scene.agent("b", b"2\n")
    scene.end()
    done = scene.rewind(scene.turns[0])
    assert actions(done) == {"a": "write", "a/deep/y": "delete", "b": "delete", "b/deep/x": "write"}
    assert _files(scene) == {"a": b"1\n", "b/deep/x": b"1\n"}
    scene.undo(rewindId=done["rewindId"])
    assert _files(scene) == {"a/deep/y": b"2\n", "b": b"2\n"}


def test_what_was_a_file_and_a_folder_by_turns(scene: Scene) -> None:
    """What is to be absent, and stands under another kind now, is absent; a late report of a deletion is taken."""
    scene.turn()
    scene.agent("a", b"1\n", beforeAbsent=True)
    scene.agent("b/x", b"1\n", beforeAbsent=True)
    scene.end()
    scene.turn()
    (scene.workspace / "a").unlink()
    scene.agent("a/y", b"2\n", beforeAbsent=True)
    scene.host.snapshot(scene.thread, scene.turns[-1], {"path": "a", "op": "deleted"})
    shutil.rmtree(scene.workspace / "b")
    scene.agent("b", b"2\n")  # what was there before is not told, but that b/x was there is
    scene.end()
    scene.turn()
    scene.agent("a/y", None)
    shutil.rmtree(scene.workspace / "a")
    scene.agent("a", b"3\n", beforeAbsent=True)
    scene.agent("b", None)
    scene.agent("b/x", b"3\n")
    scene.end()
    assert actions(scene.rewind(scene.turns[0])) == {"a": "write", "a/y": "keep", "b": "keep", "b/x": "write"}
    assert _files(scene) == {"a": b"1\n", "b/x": b"1\n"}
    assert actions(scene.rewind(scene.turns[1])) == {"a": "delete", "a/y": "write", "b": "write", "b/x": "delete"}
    assert _files(scene) == {"a/y": b"2\n", "b": b"2\n"}
