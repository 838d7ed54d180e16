"""A rebuilt projection answers every read as the one that grew event by event, byte for byte."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

from tests.crash.host import GoneError, Host, RefusedError, database, judge
from tests.crash.scene import (
    CHANGES,
    Scene,
    a_snapshot,
    a_spilled_output,
    archive,
    delete,
    fork,
    one_event,
    several_events,
    with_open_segments,
)
from tests.crash.test_read_only import everything, without

from lockstitch.data_root import DataRoot
from lockstitch.operations.index_build import Worker
from lockstitch.platform.locks import FileLock
from lockstitch.timeline.read_up import prepare


def test_every_read_is_the_same_after_a_rebuild(scene: Scene) -> None:
    """Field report B19. Histories of every change, of kills in them, of resumed turns and of text still streaming."""
    for change in CHANGES:
        thread = scene.thread()
        with contextlib.suppress(RefusedError):
            change(scene, thread)
        if change in (archive, delete):
            continue
        scene.host.arm("commit 1 kill")
        with contextlib.suppress(GoneError, RefusedError):
            with_open_segments(scene, thread)
        scene.restart()
        scene.pending.clear()
        with contextlib.suppress(RefusedError):
            with_open_segments(scene, thread)
            fork(scene, thread)
            scene.host.call("thread/rollback", threadId=thread, numTurns=1)
    scene.restart()
    threads = sorted(
        entry["id"]
        for archived in (False, True)
        for entry in scene.host.call("thread/list", limit=500, archived=archived)["data"]
    )
    before = json.dumps(everything(scene.host, threads))
    scene.host.kill()
    for part in scene.home.glob("sqlite/*"):
        part.unlink()
    scene.restart()
    assert json.dumps(everything(scene.host, threads)) == before


def test_a_late_segment_of_another_process_leaves_no_item_open(scene: Scene) -> None:
    thread = scene.thread()
    turn = f"turn-{thread[-8:]}"
    with Host(scene.home).start() as other:
        other.append(thread, ("message.delta", {"itemId": "late", "delta": "words"}), turnId=turn)
        scene.append(thread, ("turn.completed", {}), turnId=turn)
    assert scene.host.events(thread)[-1]["type"] == "message.delta"
    (shown,) = scene.host.call("thread/read", threadId=thread, includeTurns=True)["thread"]["turns"]
    assert [item["text"] for item in shown["items"]] == ["words"]
    assert scene.host.call("thread/read", threadId=thread)["thread"]["status"]["type"] == "idle"


def test_a_rebuild_that_is_killed_goes_on_where_it_was(scene: Scene) -> None:
    """What was read stands in the database, which names the rest: nothing of it is read twice."""
    threads = [scene.thread() for _ in range(5)]
    for thread in threads[:3]:
        scene.append(thread, ("host.note", {"text": "x" * 6_000_000}))
    scene.host.kill()
    for part in scene.home.glob("sqlite/*"):
        part.unlink()
    others = FileLock(scene.home / "locks" / "index")
    assert others.acquire(0), "what nobody asks for is not read: the list's threads come one after the other"
    scene.host = Host(scene.home, "build 5 kill")
    with contextlib.suppress(GoneError):
        scene.host.start().call("thread/list")
    connection = sqlite3.connect(database(scene.home))
    left = [path for (path,) in connection.execute("SELECT path FROM unread")]
    connection.close()
    others.close()
    assert 0 < len(left) < 5, "some were read, and not all"
    scene.restart("build - trace")
    scene.host.call("thread/list")
    read = {Path(line.split()[-1]).name for line in Path(f"{scene.host.plan}.trace").read_text().splitlines()}
    assert read == {Path(path).name for path in left}
    assert not list(scene.home.glob("sqlite/*.build-*"))
    scene.check()
    scene.host.close()
    judge(scene.home)


def test_a_request_has_what_it_needs_read_first(scene: Scene) -> None:
    """Somebody else holds the right to read the rest, and does nothing: every answer is as if all had been read."""
    threads = [scene.thread() for _ in range(7)]
    for thread in threads:
        scene.append(thread, ("host.note", {"text": "x" * 800_000}))
        scene.append(thread, ("host.note", {}))  # what stands behind a line as long as that is not looked for
    for thread, change in zip(threads, (several_events, a_snapshot, a_spilled_output), strict=False):
        change(scene, thread)
    scene.host.call("thread/name/set", threadId=threads[4], name="named later")
    scene.host.call("thread/archive", threadId=threads[5])
    scene.restart()
    before = everything(scene.host, threads)
    first = scene.host.call("thread/list", limit=2, sortKey="updated_at")
    scene.host.kill()
    for part in scene.home.glob("sqlite/*"):
        part.unlink()
    others = FileLock(scene.home / "locks" / "index")
    assert others.acquire(0)
    scene.restart()
    assert scene.host.call("thread/list", limit=2, sortKey="updated_at") == first
    left = scene.host.call("server/status")["projectionLag"]
    assert left > 4 * 800_000, "no more was read than the page needed"
    with Host(scene.home).start() as other:
        shown = other.call("thread/read", threadId=threads[3], includeTurns=True)
        assert without(shown, str(scene.home)) == before[threads[3]][0]
        assert other.call("server/status")["projectionLag"] < left
        scene.append(threads[6], ("host.note", {}))
        new = scene.thread()
        assert [entry["id"] for entry in other.call("thread/list", limit=1)["data"]] == [new]
    scene.restart()
    assert scene.host.call("server/status")["projectionLag"] > 0, "the next process knows what is left"
    found = scene.host.call("thread/list", searchTerm="named later")["data"]
    assert [entry["id"] for entry in found] == [threads[4]]
    del before["list"], before[threads[6]]
    after = everything(scene.host, list(before))
    assert {thread: after[thread] for thread in before} == before
    scene.check()
    others.close()
    scene.host.call("storage/report")
    assert scene.host.call("server/status")["projectionLag"] == 0
    scene.host.close()
    judge(scene.home)


def test_a_process_that_reads_rollouts_gives_the_same_rows(scene: Scene) -> None:
    threads = [scene.thread() for _ in range(2)]
    for change in (several_events, a_snapshot, a_spilled_output, with_open_segments):
        change(scene, threads[0])
    scene.host.kill()
    root = DataRoot(scene.home)
    found = list(enumerate(root.rollouts(), 1))
    right = [prepare(root, frozenset(), number, place) for number, place in found]
    assert len(right) == 2 and None not in right
    worker = Worker(str(scene.home), frozenset())
    assert worker.read(found) == right
    worker.close()
    assert worker.read(found) is None, "one that is gone is done without"


def test_a_directory_in_the_databases_place_is_set_aside(scene: Scene) -> None:
    thread = scene.thread()
    one_event(scene, thread)
    path = database(scene.home)
    scene.host.kill()
    for part in scene.home.glob("sqlite/*"):
        part.unlink()
    path.mkdir()
    (path / "kept").write_text("somebody's")
    scene.restart()
    scene.check()
    assert [found.read_text() for found in scene.home.glob("quarantine/*/kept")] == ["somebody's"]
    assert path.is_file()


def test_a_migration_that_is_killed_is_done_by_the_next_start(scene: Scene) -> None:
    """The projection of a program that did not have the last addition yet; killed at each step of the start."""
    thread = scene.thread()
    one_event(scene, thread)
    scene.host.kill()
    number = 0
    while True:
        number += 1
        connection = sqlite3.connect(database(scene.home))
        if "stamp" in [column[1] for column in connection.execute("PRAGMA table_info(thread)")]:
            connection.execute("ALTER TABLE thread DROP COLUMN stamp")
        connection.execute("PRAGMA user_version=0")
        connection.commit()
        connection.close()
        scene.host = Host(scene.home, f"* {3 * number} kill")
        try:
            scene.host.start().call("thread/list")
        except GoneError:
            scene.restart()
            scene.check()
            scene.host.kill()
        else:
            scene.host.arm()
            break
    assert number > 2
    scene.check()
    scene.host.close()
    judge(scene.home)
