"""A disk that is full, read-only or broken: a typed error or success, nothing half-written, and on it goes."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.crash.host import Host, RefusedError, appended, judge, lines, rollouts
from tests.crash.scene import CHANGES, Change, Scene, kinds, unarchive, with_open_segments

KINDS = {
    errno.ENOSPC: "storageFull",
    errno.EDQUOT: "storageFull",
    errno.EIO: "storageFailed",
    errno.EROFS: "storageReadOnly",
    errno.EACCES: "storageReadOnly",
}


def picture(scene: Scene, thread: str) -> Any:
    """All that a host can read of a thread, and which threads there are."""
    listed = sorted(
        (entry["id"], entry["archived"])
        for archived in (False, True)
        for entry in scene.host.call("thread/list", limit=500, archived=archived)["data"]
    )
    return listed, scene.host.call("thread/read", threadId=thread, includeTurns=True), scene.host.events(thread)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_step_that_fails_changes_nothing_and_the_same_change_succeeds_later(scene: Scene, change: Change) -> None:
    def prepared() -> str:
        thread = scene.thread()
        if change is unarchive:
            scene.host.call("thread/archive", threadId=thread)
        return thread

    thread = prepared()
    trace = scene.host.trace(lambda: change(scene, thread))
    for number in kinds(trace, scene.home):
        if trace[number - 1].split()[0] in ("answer", "written", "synced", "renamed", "committed"):
            continue  # the step has succeeded
        # Two of the errors at each point, in turn: all of them at every point are for the long matrices.
        for fault, kind in [list(KINDS.items())[(number + turn) % len(KINDS)] for turn in (0, 2)]:
            thread = prepared()
            if change is with_open_segments:
                scene.host.append(
                    thread, ("message.delta", {"itemId": "s", "delta": "a"}), turnId=f"turn-{thread[-8:]}"
                )
            before = picture(scene, thread)
            scene.host.arm(f"* {number} fail {fault}")
            try:
                change(scene, thread)
            except RefusedError as error:
                assert error.code == -32030, f"{error} at {trace[number - 1]}"
                assert error.kind == kind
                assert error.data["path"], f"no path at {trace[number - 1]}"
                assert error.data["errno"] == fault
                scene.host.arm()
                if change is not with_open_segments:
                    assert picture(scene, thread) == before, f"something changed at {trace[number - 1]}"
                scene.pending.clear()
                change(scene, thread)
            scene.host.arm()
            scene.pending.clear()
    assert scene.host.close() == 0
    judge(scene.home)


def test_one_threads_failure_fails_no_other_of_the_group(scene: Scene) -> None:
    one, other = scene.thread(), scene.thread()
    # The lock is held elsewhere while both are queued, so that they share a group.
    with Host(scene.home).start() as second:
        second.arm("begin 1 stop")
        second.send("thread/start")
        second.wait_stopped()
        scene.host.arm(f"write@{one} 1 tear 10 fail {errno.ENOSPC}")
        first = scene.host.send("agentSession/runtimeEvents/append", appended(one, ("host.note", {})))
        next_ = scene.host.send("agentSession/runtimeEvents/append", appended(other, ("host.note", {})))
        second.go_on()
        with pytest.raises(RefusedError) as caught:
            scene.host.wait(first)
        assert caught.value.kind == "storageFull"
        assert scene.host.wait(next_)["events"][0]["sequence"] == 3
        assert scene.host.append(one, ("host.note", {}))[0]["sequence"] == 3
    scene.host.close()
    judge(scene.home)


@pytest.mark.parametrize("method", ["thread/start", "thread/fork"])
def test_a_new_thread_whose_rows_find_no_room_is_served_from_its_file(scene: Scene, method: str) -> None:
    thread = scene.thread()
    # A fork brings its parent up to date first, in a group of its own.
    scene.host.arm(f"commit {1 if method == 'thread/start' else 2}- fail {errno.ENOSPC}")
    about = {"threadId": thread} if method == "thread/fork" else {}
    made = scene.host.call(method, **about)["thread"]["id"]
    assert scene.host.events(made)[0]["type"] == "thread.started"
    scene.host.arm()
    scene.host.append(made, ("host.note", {}))
    assert {entry["id"] for entry in scene.host.call("thread/list")["data"]} == {thread, made}
    scene.host.close()
    judge(scene.home)


def test_streamed_text_that_cannot_be_stored_ends_the_process_with_an_error(scene: Scene) -> None:
    thread = scene.thread()
    scene.host.arm(f"write@.jsonl 1- fail {errno.ENOSPC}")
    scene.host.append(thread, ("message.delta", {"itemId": "said", "delta": "lost"}), turnId=f"turn-{thread[-8:]}")
    assert scene.host.close() not in (0, 2, 3)


def test_streamed_text_waits_for_room(scene: Scene) -> None:
    thread = scene.thread()
    turn = f"turn-{thread[-8:]}"
    scene.host.arm(f"write@.jsonl 1- fail {errno.ENOSPC}")
    scene.host.append(thread, ("message.delta", {"itemId": "said", "delta": "kept"}), turnId=turn)
    with pytest.raises(RefusedError):
        scene.host.append(thread, ("host.note", {}), turnId=turn)
    scene.host.arm()
    scene.host.append(thread, ("host.note", {}), turnId=turn)
    assert [event["type"] for event in scene.host.events(thread)][-2:] == ["message.delta", "host.note"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.decode().strip()}")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_small_disk_runs_full_at_every_byte_and_goes_on(small_disk: Path) -> None:
    """Swept by bytes free: fill all but n bytes, append until it fails, make room, and the same append succeeds."""
    home, filler = small_disk / "home", small_disk / "filler"
    with Host(home, plan_in=small_disk.parent).start() as host:
        thread = host.call("thread/start")["thread"]["id"]
        host.append(thread, ("turn.started", {}), turnId="t1")
        stored = 2
        for free in range(0, 40_000, 1_700):
            host.append(thread, ("host.note", {"text": "y" * 500}))
            stored += 1
            fill(filler, free)
            refused = 0
            for number in range(30):
                try:
                    host.append(thread, ("host.note", {"text": "z" * (300 * number)}))
                    stored += 1
                except RefusedError as error:
                    assert (error.code, error.kind) == (-32030, "storageFull"), error
                    assert error.data["path"].startswith(str(home))
                    refused += 1
                    assert len(host.events(thread)) == stored
                    assert host.call("thread/list")["data"]
                    break
            assert refused, "the disk did not run full"
            filler.unlink()
            found = host.append(thread, ("host.note", {"text": "room"}))
            stored += 1
            assert found[0]["sequence"] == stored
        assert len(lines(rollouts(home)[thread])) == stored
    judge(home, aside=small_disk.parent)


def fill(filler: Path, free: int) -> None:
    """Take all of the disk but `free` bytes."""
    with open(filler, "wb", buffering=0) as file:
        size = 1 << 16
        while size:
            try:
                while True:
                    file.write(b"f" * size)
            except OSError as error:
                assert error.errno == errno.ENOSPC
            size //= 16
        left = os.fstat(file.fileno()).st_size
        os.ftruncate(file.fileno(), max(0, left - free))


def test_what_a_dead_process_staged_goes_at_the_next_start(tmp_path: Path) -> None:
    """Half a content in the store of the data root: removed by a process that is alone, left by one that is not."""
    home = tmp_path / "home"
    half = home / "artifacts" / ".tmp-0123456789abcdef"
    with Host(home).start() as first:
        first.call("thread/start")
        half.write_bytes(b"half a content")
        with Host(home).start() as second:
            second.call("thread/start")
            assert half.exists(), "another process may still be writing it"
    with Host(home).start() as host:
        host.call("thread/start")
        assert not half.exists()
