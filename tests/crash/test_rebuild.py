"""A rebuilt projection answers every read as the one that grew event by event, byte for byte."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

from tests.crash.host import GoneError, Host, RefusedError, database, judge
from tests.crash.scene import CHANGES, Scene, archive, delete, fork, one_event, with_open_segments
from tests.crash.test_read_only import everything


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
    """What it had read stands in the staged file; the next start, which finds no database either, begins behind it."""
    threads = [scene.thread() for _ in range(5)]
    for thread in threads[:3]:
        scene.append(thread, ("host.note", {"text": "x" * 6_000_000}))
    scene.host.kill()
    for part in scene.home.glob("sqlite/*"):
        part.unlink()
    scene.host = Host(scene.home, "build 5 kill")
    with contextlib.suppress(GoneError):
        scene.host.start().call("thread/list")
    (staged,) = (path for path in scene.home.glob("sqlite/*.build-*") if not path.name.endswith("-journal"))
    scene.restart("build - trace")
    scene.host.call("thread/list")
    assert len(Path(f"{scene.host.plan}.trace").read_text().splitlines()) == 2, "three of five were read already"
    assert not staged.exists()
    scene.check()
    scene.host.close()
    judge(scene.home)


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
