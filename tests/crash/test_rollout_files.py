"""Rollouts that somebody else has cut, hurt, replaced or touched, and what goes with one that is deleted."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from tests.crash.host import Host, RefusedError, database, judge, rollouts, until
from tests.crash.scene import Scene, one_event

NOTE = ("host.note", {"text": "x"})


def test_damage_in_the_middle_is_told_by_the_read_that_meets_it(scene: Scene) -> None:
    """Field reports B10 and B11, under a running process whose projection is sound."""
    thread = scene.thread()
    for _ in range(20):
        one_event(scene, thread)
    path = rollouts(scene.home)[thread]
    data = bytearray(path.read_bytes())
    data[data.index(b'"m9"')] ^= 4
    path.write_bytes(bytes(data))
    events = scene.host.events(thread)
    shown = scene.host.call("thread/read", threadId=thread)["thread"]
    assert shown["partial"] is True
    assert len(shown["damage"]) == 1
    assert (scene.home / shown["damage"][0]["quarantinePath"]).read_bytes() in bytes(data)
    assert [event["type"] for event in scene.host.events(thread)].count("host.note") == 19
    assert len(events) == 22
    one_event(scene, thread)
    assert scene.host.events(thread)[-1]["sequence"] == 24


@pytest.mark.parametrize("running", [True, False])
def test_damage_between_sound_lines_is_told_by_the_first_read(scene: Scene, running: bool) -> None:
    """Size and end of the file are as they were, and the read itself would meet none of the damage."""
    thread = scene.thread()
    for _ in range(6):
        one_event(scene, thread)
    if not running:
        scene.host.kill()
    path = rollouts(scene.home)[thread]
    data = bytearray(path.read_bytes())
    data[data.index(b'"m3"') + 2] ^= 4
    with path.open("r+b") as file:
        file.write(data)
    if not running:
        scene.host = Host(scene.home).start()
    shown = scene.host.call("thread/read", threadId=thread)["thread"]
    assert shown["partial"] is True
    assert [entry["reason"] for entry in shown["damage"]] == ["rotten"]


def test_a_file_that_was_only_touched_is_looked_through_once(scene: Scene) -> None:
    """Field report B33: a backup or a sync puts files back as they were. Nothing is told, nothing is written."""
    thread = scene.thread()
    one_event(scene, thread)
    scene.append(thread, ("turn.completed", {}), turnId=f"turn-{thread[-8:]}")
    scene.host.close()
    path = rollouts(scene.home)[thread]
    data = path.read_bytes()
    os.utime(path, (1, 1))

    def stamp() -> int:
        connection = sqlite3.connect(database(scene.home))
        (found,) = connection.execute("SELECT stamp FROM thread").fetchone()
        connection.close()
        return found

    before = stamp()
    scene.host = Host(scene.home).start()
    shown = scene.host.call("thread/read", threadId=thread)["thread"]
    assert "partial" not in shown
    assert path.read_bytes() == data
    until(lambda: stamp() != before)
    one_event_later = scene.host.append(thread, NOTE)
    assert one_event_later[0]["sequence"] == 5
    scene.host.close()
    judge(scene.home)


def test_a_rollout_cut_removed_or_replaced_under_a_running_process(scene: Scene) -> None:
    cut, gone, swapped = scene.thread(), scene.thread(), scene.thread()
    for thread in (cut, gone, swapped):
        for _ in range(4):
            one_event(scene, thread)
    paths = rollouts(scene.home)
    os.truncate(paths[cut], paths[cut].stat().st_size - 30)
    paths[gone].unlink()
    data = paths[swapped].read_bytes().splitlines(keepends=True)
    paths[swapped].unlink()
    paths[swapped].write_bytes(b"".join(data[:3]))
    host = scene.host
    one_event(scene, cut)
    assert [event["type"] for event in host.events(cut)][-2:] == ["thread.recovered", "host.note"]
    shown = host.call("thread/read", threadId=cut)["thread"]
    assert shown["partial"] is True
    assert shown["damage"][0]["quarantinePath"]
    with pytest.raises(RefusedError) as caught:
        host.append(gone, NOTE)
    assert caught.value.kind == "threadNotFound"
    one_event(scene, swapped)
    assert host.call("thread/read", threadId=swapped)["thread"]["partial"] is True
    assert {entry["id"] for entry in host.call("thread/list")["data"]} == {cut, swapped}
    for thread in (cut, swapped):
        assert lines_with_damage(scene.home, thread) == host.events(thread)[-1]["sequence"]


def test_a_deleted_thread_takes_its_large_outputs_along(scene: Scene) -> None:
    """But for those that another thread refers to, a fork for one."""
    thread, other = scene.thread(), scene.thread()
    output = {"itemId": "big", "command": "cat", "exitCode": 0}
    scene.append(
        thread, ("command.exited", {**output, "aggregatedOutput": "a" * 100_000}), turnId=f"turn-{thread[-8:]}"
    )
    scene.append(thread, ("item.completed", {"item": {"type": "agentMessage", "id": "said", "text": "done"}}))
    for to in (thread, other):
        shared = {**output, "itemId": "shared", "aggregatedOutput": "b" * 100_000}
        scene.append(to, ("command.exited", shared), turnId=f"turn-{to[-8:]}")

    def kept() -> int:
        return len([path for path in scene.home.glob("artifacts/*/*") if path.is_file()])

    assert kept() == 2
    fork = scene.host.call("thread/fork", threadId=thread)["thread"]["id"]
    scene.host.call("thread/delete", threadId=thread)
    assert kept() == 2
    scene.host.call("thread/delete", threadId=fork)
    assert kept() == 1
    scene.host.call("thread/delete", threadId=other)
    assert kept() == 0


def lines_with_damage(home: Path, thread: str) -> int:
    return max(int(part.split(b",")[0]) for part in rollouts(home)[thread].read_bytes().split(b'{"sequence":')[1:])
