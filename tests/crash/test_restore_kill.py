"""SIGKILL at every point of a rewind: the files and the conversation are wholly before it or wholly after it."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.crash.host import GoneError, Host, RefusedError, judge

CHECKPOINT = "agentSession/fileCheckpoint"
EVERY = int(os.environ.get("LOCKSTITCH_TEST_EVERY", "40"))
"""In CI each fortieth point, the ends of every kind of step among them; `make soak` sets 1."""

State = dict[str, tuple[bytes, int]]


def state(workspace: Path) -> State:
    """Every file but ours, and every folder: bytes and mode."""
    found: State = {}
    for folder, folders, names in os.walk(workspace):
        if ".lockstitch" in folders:
            folders.remove(".lockstitch")
        for name in names:
            path = Path(folder) / name
            found[path.relative_to(workspace).as_posix()] = (path.read_bytes(), path.stat().st_mode & 0o7777)
        for name in folders:
            found[(Path(folder) / name).relative_to(workspace).as_posix() + "/"] = (b"", 0)
    return found


class Scene:
    """A thread of two turns whose rewind writes, creates, deletes, changes a mode only, makes a folder, and exchanges
    a file and a folder, both ways."""

    def __init__(self, host: Host, root: Path) -> None:
        self.host, self.workspace = host, root
        root.mkdir()
        self.thread = host.call("thread/start", cwd=str(root))["thread"]["id"]
        self.write("a.txt", b"a1\n", 0o644)
        self.write("deep/er/gone.txt", b"g" * 5000, 0o640)
        self.write("tool.sh", b"#!/bin/sh\n", 0o755)
        self.write("file", b"f\n", 0o600)
        self.write("folder/of/x", b"x\n", 0o644)
        self._turn("one", ["a.txt", "deep/er/gone.txt", "tool.sh", "file", "folder/of/x"])
        self.write("mine.txt", b"never touched\n", 0o600)
        self.after = state(root)
        self.write("a.txt", b"a2\n", 0o644)
        shutil.rmtree(root / "deep")
        (root / "tool.sh").chmod(0o644)
        (root / "file").unlink()
        self.write("file/of/y", b"y\n", 0o640)
        shutil.rmtree(root / "folder")
        self.write("folder", b"f\n", 0o644)
        self.write("new.txt", b"n\n", 0o644)
        changed = ["a.txt", "deep/er/gone.txt", "tool.sh"]
        self._turn("two", [*changed, "file/of/y", "folder/of/x", "folder", "new.txt"])
        self.before = state(root)

    def write(self, path: str, data: bytes, mode: int) -> None:
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        file.chmod(mode)

    def _turn(self, turn: str, paths: list[str]) -> None:
        self.host.append(self.thread, ("turn.started", {}), turnId=turn)
        first = {"beforeAbsent": True} if turn == "one" else {}
        snapshots = [("artifact.snapshot", {"path": path, **(first if path != "new.txt" else {})}) for path in paths]
        if turn == "two":
            snapshots[-1][1]["beforeAbsent"] = True
        self.host.append(self.thread, *snapshots, turnId=turn)
        self.host.append(self.thread, ("turn.completed", {}), turnId=turn)

    def rewind(self) -> dict[str, Any]:
        return self.host.call(
            f"{CHECKPOINT}/rewind", sessionId=self.thread, toTurnId="one", confirmRestore=True, conversation=True
        )

    def turn_count(self) -> int:
        return self.host.call("thread/read", threadId=self.thread)["thread"]["turnCount"]

    def act(self) -> str | None:
        found = [event["eventId"] for event in self.host.events(self.thread) if event["type"] == "thread.rewound"]
        return found[-1] if found else None


def started(home: Path) -> Host:
    """A process that has seen to what a dead one left: it does so before its first answer."""
    host = Host(home).start()
    host.call("thread/list")
    return host


@pytest.fixture
def hosts(tmp_path: Path) -> Any:
    made = [started(tmp_path / "home")]
    yield made
    made[-1].kill()


def kinds(trace: list[str], every: int) -> list[int]:
    """Each `every`th point, and the first and last of each kind of step."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for number, entry in enumerate(trace, 1):
        name = entry.partition(" ")[0]
        first.setdefault(name, number)
        last[name] = number
    return sorted({*first.values(), *last.values(), *range(1, len(trace) + 1, every)})


def test_a_kill_at_any_point_leaves_all_or_nothing(hosts: list[Host], tmp_path: Path) -> None:
    """Files, modes, folders and conversation agree with each other and with the log; nothing is left behind."""
    scene = Scene(hosts[-1], tmp_path / "w0")
    trace = hosts[-1].trace(scene.rewind)
    assert len(trace) > 40, trace
    outcomes: set[bool] = set()
    for number in kinds(trace, EVERY):
        host = hosts[-1]
        scene = Scene(host, tmp_path / f"w{number}")
        host.arm(f"* {number} kill")
        answered = False
        with contextlib.suppress(GoneError):
            scene.rewind()
            answered = True
        if host.process.poll() is None and answered:
            host.arm()
        host.kill()
        hosts.append(started(tmp_path / "home"))
        scene.host = hosts[-1]
        act = scene.act()
        outcomes.add(act is not None)
        assert act is not None or not answered, "an answered rewind is lost"
        expected = scene.before if act is None else scene.after
        assert state(scene.workspace) == expected, f"killed at point {number}: {trace[number - 1]}"
        assert scene.turn_count() == (2 if act is None else 1), "the files went one way and the conversation another"
        assert os.listdir(tmp_path / "home" / "journal") == []
        if act is None:
            act = scene.rewind()["rewindId"]
            assert state(scene.workspace) == scene.after
        scene.host.call(f"{CHECKPOINT}/undo", sessionId=scene.thread, rewindId=act, confirmRestore=True)
        assert state(scene.workspace) == scene.before and scene.turn_count() == 2
    assert outcomes == {True, False}
    assert hosts[-1].close() == 0
    judge(tmp_path / "home")


@pytest.mark.parametrize("step", ["write", "sync", "exchange", "mkdir", "create", "rename", "syncDirectory"])
def test_a_disk_that_fails_leaves_every_target_untouched(hosts: list[Host], tmp_path: Path, step: str) -> None:
    """ENOSPC or EIO at any step before the commit point: an error, and everything as it was."""
    host = hosts[-1]
    scene = Scene(host, tmp_path / "w")
    passed = [entry.partition(" ")[0] for entry in host.trace(lambda: _planned(scene))]
    assert passed == [], "a dry run passes no point at which anything is written"
    failed = 0
    for number in (1, 2, 3, 5, 8, 13, 21, 34):
        host.arm(f"{step} {number} fail 28")
        try:
            scene.rewind()
        except RefusedError as error:
            failed += 1
            host.arm()
            assert error.kind == "storageFull", (step, number, error)
            assert state(scene.workspace) == scene.before, (step, number)
            assert scene.turn_count() == 2
            continue
        host.arm()
        act = scene.act()
        assert state(scene.workspace) == scene.after
        scene.host.call(f"{CHECKPOINT}/undo", sessionId=scene.thread, rewindId=act, confirmRestore=True)
        assert state(scene.workspace) == scene.before
    assert failed
    host.kill()
    hosts.append(started(tmp_path / "home"))
    assert os.listdir(tmp_path / "home" / "journal") == []
    assert state(scene.workspace) == scene.before


def _planned(scene: Scene) -> None:
    scene.host.call(f"{CHECKPOINT}/rewind", sessionId=scene.thread, toTurnId="one", dryRun=True)


def test_what_the_user_wrote_after_a_kill_stays(hosts: list[Host], tmp_path: Path) -> None:
    """Between the kill and the next start the user saved: recovery touches only what is as the journal left it."""
    scene = Scene(hosts[-1], tmp_path / "w")
    hosts[-1].arm("exchanged - trace", "exchanged@a.txt 1 kill")
    with contextlib.suppress(GoneError):
        scene.rewind()
    hosts[-1].kill()
    assert (scene.workspace / "a.txt").read_bytes() == b"a1\n", "it was killed after the exchange"
    (scene.workspace / "a.txt").write_bytes(b"saved since\n")
    hosts.append(started(tmp_path / "home"))
    scene.host = hosts[-1]
    assert (scene.workspace / "a.txt").read_bytes() == b"saved since\n"
    found = state(scene.workspace)
    assert {name: value for name, value in found.items() if name != "a.txt"} == {
        name: value for name, value in scene.before.items() if name != "a.txt"
    }
    assert scene.act() is None and os.listdir(tmp_path / "home" / "journal") == []


def test_another_process_sees_to_a_dead_ones_journal(hosts: list[Host], tmp_path: Path) -> None:
    """A process that lives takes a dead one's act back before its own next act; a live one's journal is left alone."""
    one = hosts[-1]
    scene = Scene(one, tmp_path / "w")
    one.arm("exchanged@a.txt 1 stop")
    one.send(
        f"{CHECKPOINT}/rewind", {"sessionId": scene.thread, "toTurnId": "one", "confirmRestore": True}, key="stopped"
    )
    one.wait_stopped()
    with Host(tmp_path / "home") as two:
        two.start().call("thread/list")
        assert (scene.workspace / "a.txt").read_bytes() == b"a1\n", "the journal of a live boot was taken over"
        one.kill()
        scene.host = two
        scene.rewind()
        assert state(scene.workspace) == scene.after
    hosts.append(started(tmp_path / "home"))
