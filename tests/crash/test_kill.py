"""SIGKILL at every point of every change: what was answered is there once, what was not is there whole or not."""

from __future__ import annotations

import contextlib

import pytest
from tests.crash.host import GoneError, Host, RefusedError, judge
from tests.crash.scene import CHANGES, Change, Scene, archive, delete, kinds, one_event, settle_unknown, unarchive


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_kill_at_any_point_of_a_change_loses_and_doubles_nothing(scene: Scene, change: Change) -> None:
    """Field report B15 and B28."""
    thread = scene.thread()
    if change is unarchive:
        scene.host.call("thread/archive", threadId=thread)
    trace = scene.host.trace(lambda: change(scene, thread))
    assert trace, "the change passed no point"
    for number in kinds(trace, scene.home):
        thread = scene.thread()
        if change is unarchive:
            scene.host.call("thread/archive", threadId=thread)
        scene.host.arm(f"* {number} kill")
        with contextlib.suppress(GoneError):  # not reached where the first time had more to make
            change(scene, thread)
        scene.restart()
        settle_unknown(scene)
        scene.check()
        if thread not in scene.gone and not scene.host.call("thread/read", threadId=thread)["thread"]["archived"]:
            turn = f"turn-{thread[-8:]}"
            with contextlib.suppress(RefusedError):  # the turn may have been ended by the host
                scene.append(thread, ("host.note", {"text": "on"}), turnId=turn)
                types = [event["type"] for event in scene.host.events(thread)]
                assert types[-3:] == ["turn.interrupted", "turn.resumed", "host.note"]
                scene.append(thread, ("turn.completed", {}), turnId=turn)
    assert scene.host.close() == 0
    judge(scene.home)


def test_a_kill_at_any_point_of_a_start_is_made_good_by_the_next(scene: Scene) -> None:
    """With an open turn, a half-written append, an unfinished archive and deletion; with and without a database."""
    for lost_database in (False, True):
        number = 0
        while True:
            number += 1
            thread, moved, doomed = scene.thread(), scene.thread(), scene.thread()
            scene.host.arm("write@.jsonl 1 tear 20 kill")
            with contextlib.suppress(GoneError):
                one_event(scene, thread)
            scene.restart("renamed@archived 1 kill")
            scene.check()
            with contextlib.suppress(GoneError):
                archive(scene, moved)
            scene.restart("renamed@trash 1 kill")
            with contextlib.suppress(GoneError):
                delete(scene, doomed)
            scene.gone.add(doomed)
            scene.pending.clear()
            scene.host.kill()
            if lost_database:
                for path in scene.home.glob("sqlite/*"):
                    path.unlink()
            scene.host = Host(scene.home, f"* {3 * number - 2} kill")
            try:
                scene.host.start().call("thread/list")
            except GoneError:
                scene.restart()
                scene.check()
            else:
                scene.host.arm()
                scene.check()
                break
            turn = f"turn-{thread[-8:]}"
            scene.append(thread, ("turn.completed", {}), turnId=turn)
        assert number > 5
    assert scene.host.close() == 0
    judge(scene.home)
