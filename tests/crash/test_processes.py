"""Two to eight processes on one data root: one order, nothing lost, nobody hangs, each sees the others live and die."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from tests.crash.host import Host, RefusedError, appended, database, judge, lines, rollouts, until
from tests.crash.scene import Scene, one_event

NOTE = ("host.note", {"text": "x"})


def together(hosts: list[Host], work: Callable[[Host], Any]) -> None:
    """Run `work` for every host at once; the first failure is raised."""
    failures: list[BaseException] = []

    def run(host: Host) -> None:
        try:
            work(host)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(host,)) for host in hosts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.mark.parametrize("used", ["new", "used without a database", "with a damaged database"])
def test_eight_that_start_together_all_come_up(scene: Scene, used: str) -> None:
    """Field report B38."""
    threads = {scene.thread() for _ in range(3)} if used != "new" else set()
    scene.host.close()
    if used == "new":
        shutil.rmtree(scene.home)
    for path in scene.home.glob("sqlite/*") if threads else ():
        if used == "used without a database":
            path.unlink()
        else:
            path.write_bytes(os.urandom(5000))
    hosts = [Host(scene.home) for _ in range(8)]
    try:
        together(hosts, lambda host: host.start().call("thread/list"))
        made: list[str] = []
        together(hosts, lambda host: made.append(host.call("thread/start")["thread"]["id"]))
        for host in hosts:
            found = {thread["id"] for thread in host.call("thread/list")["data"]}
            assert found == threads | set(made)
        together(hosts, Host.close)
    finally:
        for host in hosts:
            host.kill()
    judge(scene.home)


@pytest.mark.parametrize("count", [2, 8])
def test_appends_to_one_thread_and_to_many_are_gapless_and_fair(scene: Scene, count: int) -> None:
    """Field reports B35 and B37."""
    shared = scene.thread(turn=False)
    each = 120 // count
    hosts = [scene.host, *(Host(scene.home).start() for _ in range(count - 1))]
    own = {host: host.call("thread/start")["thread"]["id"] for host in hosts}

    def work(host: Host) -> None:
        keys: list[Any] = []
        for _ in range(each):
            keys.append(host.send("agentSession/runtimeEvents/append", appended(shared, NOTE)))
            keys.append(host.send("agentSession/runtimeEvents/append", appended(own[host], NOTE, NOTE)))
        sequences = [host.wait(key)["events"][0]["sequence"] for key in keys[::2]]
        assert sequences == sorted(sequences)
        for key in keys[1::2]:
            host.wait(key)

    together(hosts, work)
    for host in hosts:
        assert [event["sequence"] for event in host.events(shared)] == list(range(1, each * count + 2))
        assert len(host.events(own[host])) == 2 * each + 1
    for host in hosts[1:]:
        assert host.close() == 0
    scene.host.close()
    judge(scene.home)


def test_a_repeated_event_id_is_one_event_whoever_sends_it(scene: Scene) -> None:
    thread = scene.thread(turn=False)
    with Host(scene.home).start() as other:
        event = {"sessionId": thread, "runtimeEvents": [{"type": "host.note", "payload": {}, "eventId": "once"}]}
        first = scene.host.call("agentSession/runtimeEvents/append", **event)
        again = other.call("agentSession/runtimeEvents/append", **event)
        assert again["events"] == first["events"]
        assert again["duplicates"] == 1


def test_moves_under_anothers_append(scene: Scene) -> None:
    thread, doomed = scene.thread(turn=False), scene.thread(turn=False)
    with Host(scene.home).start() as other:
        other.append(thread, NOTE)
        scene.host.call("thread/archive", threadId=thread)
        with pytest.raises(RefusedError) as caught:
            other.append(thread, NOTE)
        assert caught.value.kind == "threadArchived"
        other.call("thread/unarchive", threadId=thread)
        assert scene.host.append(thread, NOTE)[0]["sequence"] == 5
        other.append(doomed, NOTE)
        scene.host.call("thread/delete", threadId=doomed)
        for host in (other, scene.host):
            with pytest.raises(RefusedError) as caught:
                host.append(doomed, NOTE)
            assert caught.value.kind == "threadNotFound"
        assert other.call("thread/delete", threadId=doomed) == {}
    scene.host.close()
    judge(scene.home)


def test_moves_and_appends_of_four_at_once(scene: Scene) -> None:
    thread = scene.thread(turn=False)
    hosts = [scene.host, *(Host(scene.home).start() for _ in range(3))]
    stored: list[str] = []

    def work(host: Host) -> None:
        for number in range(12):
            try:
                if host in hosts[:2]:
                    host.call("thread/archive" if number % 2 else "thread/unarchive", threadId=thread)
                else:
                    stored.append(host.append(thread, NOTE)[0]["eventId"])
            except RefusedError as error:
                assert error.kind == "threadArchived"

    together(hosts, work)
    ids = [event["eventId"] for event in scene.host.events(thread)]
    assert len(set(ids)) == len(ids)
    assert set(stored) <= set(ids)
    for host in hosts[1:]:
        host.close()
    scene.host.close()
    judge(scene.home)


def test_a_stopped_holder_of_the_lock_is_named_and_nobody_hangs(scene: Scene) -> None:
    """Field report B39."""
    thread = scene.thread(turn=False)
    scene.host.kill()
    with Host(scene.home).start() as holder, Host(scene.home, env={"LOCKSTITCH_LOCK_SECONDS": "0.3"}).start() as other:
        assert len(other.events(thread)) == 1
        holder.arm("commit 1 stop")
        key = holder.send("agentSession/runtimeEvents/append", appended(thread, NOTE))
        holder.wait_stopped()
        with pytest.raises(RefusedError) as caught:
            other.append(thread, NOTE)
        assert (caught.value.code, caught.value.kind) == (-32030, "storageBusy")
        assert caught.value.data["pid"] == holder.process.pid
        assert other.call("thread/list")["data"]
        holder.arm()
        holder.go_on()
        assert holder.wait(key)["events"][0]["sequence"] == 2
        assert other.append(thread, NOTE)[0]["sequence"] == 3
    judge(scene.home)


def test_a_start_while_the_lock_is_held_reads_at_once(scene: Scene) -> None:
    """The lock may be held for longer than anybody waits: what only reads does not wait for it, a change says busy."""
    thread, other_thread = scene.thread(turn=False), scene.thread()
    one_event(scene, other_thread)
    scene.restart()
    scene.host.call("server/status")  # its start is over
    scene.host.arm("commit 1 stop")
    scene.host.send("agentSession/runtimeEvents/append", appended(thread, NOTE))
    scene.host.wait_stopped()
    with Host(scene.home, env={"LOCKSTITCH_LOCK_SECONDS": "900"}).start() as other:
        assert {entry["id"] for entry in other.call("thread/list")["data"]} == {thread, other_thread}
        assert len(other.events(thread)) == 2, "the line that nobody was answered for is shown as recovery will keep it"
        assert other.call("thread/read", threadId=other_thread)["thread"]["status"]["type"] == "idle"
        key = other.send("agentSession/runtimeEvents/append", appended(thread, NOTE))
        scene.host.arm()
        scene.host.go_on()
        assert other.wait(key)["events"][0]["sequence"] == 3
    with Host(scene.home, env={"LOCKSTITCH_LOCK_SECONDS": "0.3"}).start() as other:
        scene.host.arm("commit 1 stop")
        scene.host.send("agentSession/runtimeEvents/append", appended(thread, NOTE))
        scene.host.wait_stopped()
        with pytest.raises(RefusedError) as caught:
            other.append(thread, NOTE)
        assert caught.value.kind == "storageBusy"
        scene.host.arm()
        scene.host.go_on()
        until(lambda: len(other.events(thread)) == 4)
        assert other.append(thread, NOTE)[0]["sequence"] == 5


def test_each_sees_the_others_events_and_death(scene: Scene) -> None:
    thread = scene.thread(turn=False)
    with Host(scene.home).start() as watcher:
        watcher.call("thread/resume", threadId=thread)
        scene.host.append(thread, ("turn.started", {}), turnId="t1")
        watcher.notice("turn/started")
        scene.host.append(thread, NOTE, turnId="t1")
        watcher.notice("agentSession/event", lambda params: params["event"]["type"] == "host.note")
        assert watcher.call("thread/read", threadId=thread)["thread"]["status"]["type"] == "active"
        scene.host.kill()
        ended = watcher.notice("turn/completed")
        assert ended["turn"]["status"] == "interrupted"
        watcher.append(thread, NOTE, turnId="t1")
        types = [event["type"] for event in watcher.events(thread)]
        assert types[-3:] == ["turn.interrupted", "turn.resumed", "host.note"]
    judge(scene.home)


def test_one_who_watches_nothing_sees_a_death_at_the_next_read(scene: Scene) -> None:
    thread = scene.thread()
    with Host(scene.home).start() as reader:
        assert reader.call("thread/read", threadId=thread)["thread"]["status"]["type"] == "active"
        scene.host.kill()
        until(lambda: reader.call("thread/read", threadId=thread)["thread"]["status"]["type"] == "idle")
        (turn,) = reader.call("thread/turns/list", threadId=thread)["data"]
        assert turn["status"] == "interrupted"


def test_a_boot_that_lives_is_never_interrupted(scene: Scene) -> None:
    thread = scene.thread()
    for _ in range(3):
        with Host(scene.home).start() as other:
            assert other.call("thread/read", threadId=thread)["thread"]["status"]["type"] == "active"
    scene.host.stop()  # stopped is not dead
    with Host(scene.home).start() as other:
        assert other.call("thread/read", threadId=thread)["thread"]["status"]["type"] == "active"
    scene.host.go_on()
    one_event(scene, thread)
    assert "turn.interrupted" not in [event["type"] for event in scene.host.events(thread)]


@pytest.mark.parametrize("fault", ["removed", "emptied", "garbage", "half garbage", "older copy", "replaced in place"])
def test_a_database_that_is_hurt_under_a_running_process(scene: Scene, fault: str) -> None:
    """Field reports B14 and B18."""
    first = scene.thread()
    one_event(scene, first)
    copied = scene.home.parent / "older"
    if fault == "older copy":
        with sqlite3.connect(database(scene.home)) as source, sqlite3.connect(copied) as target:
            source.backup(target)
        source.close()
        target.close()
    second = scene.thread()
    one_event(scene, second)
    one_event(scene, first)
    path = database(scene.home)
    if fault == "removed":
        for part in scene.home.glob("sqlite/*"):
            part.unlink()
    elif fault == "emptied":
        os.truncate(path, 0)
    elif fault == "garbage":
        staged = path.with_name("staged")
        staged.write_bytes(os.urandom(20_000))
        staged.replace(path)
    elif fault == "half garbage":
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(os.urandom(max(0, size - 4096)))
    elif fault == "older copy":
        copied.replace(path)
        for part in scene.home.glob("sqlite/*-wal"):
            part.unlink()
    else:
        path.write_bytes(os.urandom(30_000))
    for thread in (first, second):
        one_event(scene, thread)
        assert [event["sequence"] for event in scene.host.events(thread)] == list(
            range(1, len(scene.answered[thread]) + 2)
        )
    assert len(scene.host.call("thread/list")["data"]) == 2
    scene.restart()
    scene.check()
    scene.host.close()
    judge(scene.home)


def test_an_older_database_put_back_between_runs(scene: Scene) -> None:
    first = scene.thread()
    one_event(scene, first)
    scene.host.kill()
    older = scene.home.parent / "older"
    shutil.copytree(scene.home / "sqlite", older)
    scene.host = Host(scene.home).start()
    scene.check()
    second = scene.thread()
    one_event(scene, second)
    scene.append(first, ("host.note", {}), turnId=f"turn-{first[-8:]}")
    scene.host.kill()
    shutil.rmtree(scene.home / "sqlite")
    shutil.copytree(older, scene.home / "sqlite")
    scene.host = Host(scene.home).start()
    scene.check()
    scene.host.close()
    judge(scene.home)


def test_a_resent_request_finds_its_events_after_a_crash(scene: Scene) -> None:
    thread = scene.thread(turn=False)
    params = appended(thread, NOTE, ("host.other", {"n": 2}))
    unique, counter = f"req-{uuid4()}", "17"
    method = "agentSession/runtimeEvents/append"
    first = scene.host.wait(scene.host.send(method, params, key=unique))["events"]
    counted = scene.host.wait(scene.host.send(method, params, key=counter))["events"]
    # The same boot knows what it has committed itself: the same id again is another request.
    assert scene.host.wait(scene.host.send(method, params, key=unique))["events"] != first
    scene.restart()
    again = scene.host.wait(scene.host.send(method, params, key=unique))
    assert again["duplicates"] == 2
    assert [event["type"] for event in again["events"]] == ["host.note", "host.other"]
    assert len(scene.host.events(thread)) == 7
    assert scene.host.wait(scene.host.send(method, params, key=counter))["events"] != counted
    other = {**params, "runtimeEvents": params["runtimeEvents"][:1]}
    assert "duplicates" not in scene.host.wait(scene.host.send(method, other, key=unique))
    for part in scene.home.glob("sqlite/*"):
        part.unlink()
    scene.restart()
    assert scene.host.wait(scene.host.send(method, params, key=unique))["duplicates"] == 2
    assert lines(rollouts(scene.home)[thread])


def test_a_request_that_was_committed_and_not_answered_is_not_done_twice(scene: Scene) -> None:
    thread = scene.thread()
    turn = f"turn-{thread[-8:]}"
    params = appended(thread, NOTE, NOTE, turnId=turn)
    unique = str(uuid4())
    scene.host.arm("committed 1 kill")
    scene.host.send("agentSession/runtimeEvents/append", params, key=unique)
    scene.host.process.wait(10)
    scene.restart()
    found = scene.host.wait(scene.host.send("agentSession/runtimeEvents/append", params, key=unique))
    assert found["duplicates"] == 2
    assert [event["sequence"] for event in found["events"]] == [3, 4]


def test_streamed_text_is_durable_when_it_is_due(scene: Scene) -> None:
    thread = scene.thread()
    turn = f"turn-{thread[-8:]}"
    path = rollouts(scene.home)[thread]

    def delta(text: str) -> str:
        event = ("message.delta", {"itemId": "said", "delta": text})
        (found,) = scene.host.append(thread, event, turnId=turn)
        assert "sequence" not in found
        return found["eventId"]

    first = delta("one ")
    assert delta("two ") == first, "the reply repeats the segment's event"
    assert first not in path.read_text()
    until(lambda: first in path.read_text(), 3.0)  # two seconds later, with nobody asking
    second = delta("three ")
    scene.append(thread, ("host.note", {}), turnId=turn)
    assert second in path.read_text(), "what was streamed is durable before any later append"
    third = delta("four ")
    scene.append(thread, ("turn.completed", {}), turnId=turn)
    assert third in path.read_text()
    (shown,) = scene.host.call("thread/read", threadId=thread, includeTurns=True)["thread"]["turns"]
    assert [item["text"] for item in shown["items"] if item["type"] == "agentMessage"] == ["one two three four "]
    scene.append(thread, ("turn.started", {}), turnId="again")
    turn = "again"
    event = ("message.delta", {"itemId": "more", "delta": "five"})
    last = scene.host.append(thread, event, turnId=turn)[0]["eventId"]
    assert scene.host.close() == 0
    assert last in path.read_text(), "a clean end stores what was streamed"
    judge(scene.home)


def test_a_kill_loses_only_streamed_text_that_was_not_due(scene: Scene) -> None:
    thread = scene.thread()
    turn = f"turn-{thread[-8:]}"

    def say(text: str) -> None:
        scene.host.append(thread, ("message.delta", {"itemId": "s", "delta": text}), turnId=turn)

    say("kept")
    scene.append(thread, ("host.note", {}), turnId=turn)
    say("lost")
    scene.restart()
    scene.check()
    (shown,) = scene.host.call("thread/read", threadId=thread, includeTurns=True)["thread"]["turns"]
    (item,) = shown["items"]
    assert item["text"] == "kept"
    assert item["interrupted"] is True
