"""Faults that people reported of tools like this one, those that no other test shows. The others name their row too."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.crash.host import Host, database, judge, lines, rollouts
from tests.crash.scene import Scene, a_spilled_output, one_event

NOTE = ("host.note", {"text": "x"})


def test_a_start_reads_no_more_than_the_ends_of_files(scene: Scene) -> None:
    """Field report B48. Of 24 MB of rollouts a start and a first page read a small part."""
    for _ in range(4):
        thread = scene.thread()
        scene.append(thread, ("host.note", {"text": "x" * 6_000_000}))
        scene.append(thread, ("turn.completed", {}), turnId=f"turn-{thread[-8:]}")
    scene.host.close()
    counters = Path("/proc/self/io")
    if not counters.exists():
        pytest.skip("only Linux counts what a process has read")
    with Host(scene.home) as host:
        before = bytes_read(host)
        assert len(host.start().call("thread/list")["data"]) == 4
        assert bytes_read(host) - before < 3_000_000
        assert host.call("thread/read", threadId=thread)["thread"]["turnCount"] == 1
        assert bytes_read(host) - before < 3_000_000


def bytes_read(host: Host) -> int:
    """Bytes that the process has asked of files and pipes."""
    for line in Path(f"/proc/{host.process.pid}/io").read_text().splitlines():
        name, _, value = line.partition(": ")
        if name == "rchar":
            return int(value)
    raise AssertionError("no rchar")


def test_what_is_appended_behind_a_torn_tail_is_not_glued_to_it(scene: Scene) -> None:
    """Field report B13, three times over."""
    thread = scene.thread()
    for _ in range(3):
        one_event(scene, thread)
        scene.host.kill()
        with rollouts(scene.home)[thread].open("ab") as file:
            file.write(b'{"sequence":99,"at":"2026-12-01T0')
        scene.host = Host(scene.home).start()
        scene.append(thread, NOTE, turnId=f"turn-{thread[-8:]}")
        scene.append(thread, NOTE, turnId=f"turn-{thread[-8:]}")
        scene.restart()
        scene.check()
    scene.host.close()
    judge(scene.home)


def test_the_database_of_another_version_is_left_alone(scene: Scene) -> None:
    """Field report B20. An update finds an older projection and none of its own; repairs never lose a thread."""
    threads = {scene.thread() for _ in range(3)}
    scene.host.close()
    path = database(scene.home)
    older = path.with_name("timeline-v0.sqlite")
    path.rename(older)
    kept = older.read_bytes()
    before = {thread: file.read_bytes() for thread, file in rollouts(scene.home).items()}
    with Host(scene.home).start() as host:
        for _ in range(2):
            assert host.call("storage/rebuild")["threads"] == 3
            assert {entry["id"] for entry in host.call("thread/list")["data"]} == threads
    assert older.read_bytes() == kept
    for thread, file in rollouts(scene.home).items():
        assert file.read_bytes().startswith(before[thread]), "nothing that was there is rewritten"


def test_one_of_many_lost_costs_only_itself(scene: Scene) -> None:
    """Field report B23: a content that is gone, and a line that is gone, are told of; all else is served."""
    thread = scene.thread()
    for _ in range(30):
        one_event(scene, thread)
    a_spilled_output(scene, thread)
    path = rollouts(scene.home)[thread]
    (blob,) = (found for found in scene.home.glob("artifacts/*/*") if found.is_file())
    scene.host.kill()
    blob.unlink()
    data = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join(data[:12] + data[13:]))
    scene.host = Host(scene.home).start()
    events = scene.host.events(thread)
    assert [event["type"] for event in events].count("host.note") == 29
    shown = scene.host.call("thread/read", threadId=thread, includeTurns=True)["thread"]
    assert shown["partial"] is True
    assert [entry["reason"] for entry in shown["damage"]] == ["missing"]
    (artifact,) = scene.host.call("artifact/read", sessionId=thread, includeContent=True)["artifacts"]
    assert artifact["contentStatus"] == "missing"
    (difference,) = [one for one in scene.host.call("storage/verify")["differences"] if one["kind"] == "content"]
    assert difference["reason"] == "missing"
    one_event(scene, thread)


def test_threads_that_are_each_others_parents_end_no_list(scene: Scene) -> None:
    """Field report B24. No host can make a circle; a file that somebody has put there may."""
    first, second, third = (f"circle-{n}" for n in range(3))
    for thread, parent in ((first, third), (second, first), (third, second)):
        scene.host.call("thread/start", threadId=thread, parentThreadId=parent)
    for thread in (first, second, third):
        found = {entry["id"] for entry in scene.host.call("thread/list", ancestorThreadId=thread)["data"]}
        assert found == {first, second, third}
    scene.host.kill()
    for part in scene.home.glob("sqlite/*"):
        part.unlink()
    with Host(scene.home).start() as host:
        assert len(host.call("thread/list", ancestorThreadId=first)["data"]) == 3


def test_a_process_that_was_open_all_along_erases_nothing(scene: Scene) -> None:
    """Field report B36."""
    thread = scene.thread(turn=False)
    scene.host.append(thread, NOTE)
    with Host(scene.home).start() as other:
        sent = [other.append(thread, NOTE)[0]["eventId"] for _ in range(3)]
    scene.host.call("thread/name/set", threadId=thread, name="renamed")
    scene.host.call("thread/archive", threadId=thread)
    events = scene.host.events(thread)
    assert [event["eventId"] for event in events[2:5]] == sent
    assert [event["type"] for event in events[5:]] == ["thread.updated", "thread.archived"]
    assert len(lines(rollouts(scene.home)[thread])) == 7


def test_an_empty_rollout_is_no_empty_history(scene: Scene) -> None:
    """Nobody can know any more what was in it, and reads say so; the thread can be used."""
    thread = scene.thread()
    scene.host.kill()
    os.truncate(rollouts(scene.home)[thread], 0)
    shutil.rmtree(scene.home / "sqlite")
    scene.host = Host(scene.home).start()
    (shown,) = scene.host.call("thread/list")["data"]
    assert shown["partial"] is True
    assert scene.host.append(thread, NOTE)[0]["sequence"] == 2
