"""A data root that cannot be written is served all the same: after a clean end, after a crash, without a database."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.crash.host import GoneError, Host, RefusedError, lines, rollouts
from tests.crash.scene import Scene, a_snapshot, a_spilled_output, one_event, several_events, with_open_segments

NOBODY = 65534


@pytest.fixture
def frozen(tmp_path: Path) -> Iterator[Callable[[Path], Path]]:
    """Makes a data root that can only be read appear at another place."""
    mounted: list[Path] = []

    def freeze(home: Path) -> Path:
        place = tmp_path / f"frozen-{len(mounted)}"
        place.mkdir()
        for command in (["mount", "--bind", home, place], ["mount", "-o", "remount,bind,ro", place]):
            done = subprocess.run(command, capture_output=True, check=False)
            if done.returncode:
                pytest.skip(f"nothing can be mounted here: {done.stderr.decode().strip()}")
        mounted.append(place)
        return place

    yield freeze
    for place in mounted:
        subprocess.run(["umount", "-l", place], check=True)


def everything(host: Host, threads: list[str]) -> dict[str, Any]:
    """Every read of these threads, with where the data root lies taken out."""
    found: dict[str, Any] = {"list": host.call("thread/list", limit=500)}
    for thread in threads:
        found[thread] = [
            host.call("thread/read", threadId=thread, includeTurns=True),
            host.call("thread/turns/list", threadId=thread),
            host.call("thread/items/list", threadId=thread),
            host.events(thread),
            host.call("agentSession/fileCheckpoint/list", sessionId=thread),
            host.call("agentSession/read", sessionId=thread),
            host.call("artifact/read", sessionId=thread, includeContent=True),
        ]
        for checkpoint in found[thread][4]["checkpoints"]:
            about = {"sessionId": thread, "checkpointId": checkpoint["checkpointId"]}
            found[thread].append(host.call("agentSession/fileCheckpoint/get", **about))
            found[thread].append(host.call("agentSession/fileCheckpoint/diff", **about))
    return without(found, str(host.home))


def without(value: Any, home: str) -> Any:
    if isinstance(value, dict):
        return {key: without(part, home) for key, part in value.items()}
    if isinstance(value, list):
        return [without(part, home) for part in value]
    return value.replace(home, "HOME") if isinstance(value, str) else value


def fill(scene: Scene) -> list[str]:
    threads = [scene.thread(), scene.thread()]
    for change in (one_event, several_events, a_snapshot, a_spilled_output):
        change(scene, threads[0])
    scene.append(threads[0], ("turn.completed", {}), turnId=f"turn-{threads[0][-8:]}")
    return threads


def refuses(host: Host, thread: str) -> None:
    for method, params in (
        ("thread/start", {}),
        ("thread/archive", {"threadId": thread}),
        ("thread/delete", {"threadId": thread}),
        ("thread/fork", {"threadId": thread}),
        ("thread/name/set", {"threadId": thread, "name": "x"}),
        ("turn/start", {"threadId": thread, "input": [{"type": "text", "text": "x"}]}),
        ("agentSession/runtimeEvents/append", {"sessionId": thread, "runtimeEvents": [{"type": "a.b", "payload": {}}]}),
        ("agentSession/fileCheckpoint/capture", {"sessionId": thread, "paths": ["a"]}),
        (
            "agentSession/fileCheckpoint/restore",
            {"sessionId": thread, "checkpointId": "any", "confirmRestore": True},
        ),
    ):
        with pytest.raises(RefusedError) as caught:
            host.call(method, **params)
        assert (caught.value.code, caught.value.kind) == (-32030, "storageReadOnly"), (method, caught.value)
        assert caught.value.data["path"].startswith(str(host.home))


def test_after_a_clean_end_all_reads_are_the_same(scene: Scene, frozen: Callable[[Path], Path]) -> None:
    threads = fill(scene)
    scene.append(threads[1], ("turn.completed", {}), turnId=f"turn-{threads[1][-8:]}")
    before = everything(scene.host, threads)
    assert scene.host.close() == 0
    assert not list(scene.home.glob("sqlite/*-wal")), "a clean end leaves no -wal"
    with Host(frozen(scene.home), plan_in=scene.home.parent).start() as host:
        assert everything(host, threads) == before
        refuses(host, threads[0])
        assert host.call("server/status")["pendingWrites"] == 0


def test_what_is_kept_in_memory_needs_no_disk(scene: Scene, frozen: Callable[[Path], Path]) -> None:
    """An ephemeral thread takes turns, events and file versions where nothing can be stored; ids do not collide."""
    stored = fill(scene)[0]
    assert scene.host.close() == 0
    with Host(frozen(scene.home), plan_in=scene.home.parent).start() as host:
        with pytest.raises(RefusedError) as caught:
            host.call("thread/start", threadId=stored, ephemeral=True)
        assert caught.value.kind == "threadExists"
        opened = host.call("thread/start", threadId="fleeting", ephemeral=True, cwd=str(scene.workspace))
        assert opened["thread"]["ephemeral"] is True
        host.call("turn/start", threadId="fleeting", input=[{"type": "text", "text": "x"}])
        content = {"path": "a.txt", "content": "now", "beforeAbsent": True}
        output = {"itemId": "c", "exitCode": 0, "aggregatedOutput": "x" * 100_000}
        events = [
            {"type": "artifact.snapshot", "payload": content},
            {"type": "command.started", "payload": {"itemId": "c", "command": "ls", "cwd": "/"}},
            {"type": "command.exited", "payload": output},
        ]
        host.call("agentSession/runtimeEvents/append", sessionId="fleeting", runtimeEvents=events)
        artifacts = host.call("artifact/read", sessionId="fleeting", includeContent=True)["artifacts"]
        assert [len(artifact["content"]) for artifact in artifacts] == [3, 100_000]
        assert host.call("thread/delete", threadId="fleeting") == {}
        refuses(host, stored)


@pytest.mark.parametrize("database", ["kept", "missing", "garbage"])
def test_after_a_crash_reads_show_what_recovery_will_write(
    scene: Scene, frozen: Callable[[Path], Path], database: str
) -> None:
    threads = fill(scene)
    with_open_segments(scene, threads[1])
    scene.host.arm("write@.jsonl 1 tear 30 kill")
    with contextlib.suppress(GoneError):
        one_event(scene, threads[1])
    scene.host.kill()
    for path in scene.home.glob("sqlite/timeline-v*") if database != "kept" else ():
        if database == "missing":
            path.unlink()
        else:
            path.write_bytes(b"garbage" * 999)
    before = {path: path.read_bytes() for path in scene.home.rglob("*") if path.is_file()}
    with Host(frozen(scene.home), plan_in=scene.home.parent).start() as host:
        shown = everything(host, threads)
        refuses(host, threads[1])
        turns = shown[threads[1]][0]["thread"]["turns"]
        assert [turn["status"] for turn in turns] == ["interrupted"]
        assert shown[threads[1]][0]["thread"]["status"] == {"type": "idle"}
        for item in turns[0]["items"]:
            assert item.get("interrupted") or item.get("status") != "inProgress"
    assert {path: path.read_bytes() for path in scene.home.rglob("*") if path.is_file()} == before
    with Host(scene.home).start() as host:
        after = everything(host, threads)
    for thread in threads:
        assert [t["id"] for t in shown[thread][1]["data"]] == [t["id"] for t in after[thread][1]["data"]]
        assert shown[thread][1]["data"] == after[thread][1]["data"]
        assert shown[thread][2] == after[thread][2]
        assert shown[thread][3] == after[thread][3][: len(shown[thread][3])]


def test_damage_is_shown_without_being_recorded(scene: Scene, frozen: Callable[[Path], Path]) -> None:
    thread = scene.thread()
    for _ in range(5):
        scene.append(thread, ("host.note", {}))
    scene.host.close()
    path = rollouts(scene.home)[thread]
    data = bytearray(path.read_bytes())
    data[data.index(b"m4")] ^= 1
    path.write_bytes(bytes(data))
    for part in scene.home.glob("sqlite/timeline-v*"):
        part.unlink()
    with Host(frozen(scene.home), plan_in=scene.home.parent).start() as host:
        shown = host.call("thread/read", threadId=thread)["thread"]
        assert shown["partial"] is True
        assert len(shown["damage"]) == 1
        assert len(host.events(thread)) == 6
    assert path.read_bytes() == bytes(data)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs to become another user")
def test_a_root_of_another_user_is_read(scene: Scene, tmp_path: Path) -> None:
    threads = fill(scene)
    scene.append(threads[1], ("turn.completed", {}), turnId=f"turn-{threads[1][-8:]}")
    before = everything(scene.host, threads)
    scene.host.close()
    for path in (*tmp_path.parents, tmp_path):
        path.chmod(path.stat().st_mode | 0o055)
    for path in scene.home.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    scene.home.chmod(0o555)
    with Host(scene.home, user=NOBODY).start() as host:
        assert without(host.call("thread/list", limit=500), str(scene.home)) == before["list"]
        assert host.events(threads[0]) == before[threads[0]][3]
        with pytest.raises(RefusedError) as caught:
            host.call("thread/start")
        assert caught.value.kind == "storageReadOnly"
        assert caught.value.data["errno"] in (errno.EROFS, errno.EACCES)


def test_a_start_on_a_full_disk_still_reads(scene: Scene) -> None:
    threads = fill(scene)
    before = everything(scene.host, threads[:1])
    scene.host.kill()
    with Host(scene.home, f"write 1- fail {errno.ENOSPC}", f"create 1- fail {errno.ENOSPC}").start() as host:
        assert everything(host, threads[:1])[threads[0]] == before[threads[0]]
        with pytest.raises(RefusedError) as caught:
            host.call("thread/start")
        assert caught.value.kind == "storageFull"
    scene.restart()
    scene.check()
    assert lines(rollouts(scene.home)[threads[0]])


def test_a_folder_that_cannot_be_written_is_foretold(tmp_path: Path) -> None:
    """The dry run says so, the act is refused and changes nothing; files elsewhere go back without it."""
    workspace, home = tmp_path / "workspace", tmp_path / "home"
    home.mkdir(mode=0o700)
    (workspace / "locked").mkdir(parents=True)
    (workspace / "open").mkdir()
    names = ["locked/a", "open/b"]
    for name in names:
        (workspace / name).write_bytes(b"1\n")
    user = NOBODY if os.geteuid() == 0 else None
    if user is not None:
        for path in tmp_path.parents:
            path.chmod(path.stat().st_mode | 0o055)
        for path in [tmp_path, home, workspace, *workspace.rglob("*")]:
            os.chown(path, user, user)
    with Host(home, user=user).start() as host:
        thread = host.call("thread/start", cwd=str(workspace))["thread"]["id"]
        for turn, data in (("one", b"1\n"), ("two", b"2\n")):
            host.append(thread, ("turn.started", {}), turnId=turn)
            for name in names:
                (workspace / name).write_bytes(data)
                host.append(thread, ("artifact.snapshot", {"path": name}), turnId=turn)
            host.append(thread, ("turn.completed", {}), turnId=turn)
        (workspace / "locked").chmod(0o555)
        try:
            asked: dict[str, Any] = {"sessionId": thread, "toTurnId": "one"}
            plan = host.call("agentSession/fileCheckpoint/rewind", **asked, dryRun=True)["plan"]
            assert [(step["action"], step.get("reason")) for step in plan] == [
                ("unavailable", "readOnly"),
                ("write", None),
            ]
            with pytest.raises(RefusedError) as caught:
                host.call("agentSession/fileCheckpoint/rewind", **asked, confirmRestore=True)
            assert caught.value.kind == "storageReadOnly"
            assert [(workspace / name).read_bytes() for name in names] == [b"2\n", b"2\n"]
            host.call("agentSession/fileCheckpoint/rewind", **asked, confirmRestore=True, paths=["open"])
            assert [(workspace / name).read_bytes() for name in names] == [b"2\n", b"1\n"]
        finally:
            (workspace / "locked").chmod(0o755)
