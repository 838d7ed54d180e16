"""A rebuilt projection answers every read as the one that grew event by event, byte for byte."""

from __future__ import annotations

import contextlib
import json

from tests.crash.host import GoneError, RefusedError
from tests.crash.scene import CHANGES, Scene, archive, delete, fork, with_open_segments
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
    from tests.crash.host import Host

    thread = scene.thread()
    turn = f"turn-{thread[-8:]}"
    with Host(scene.home).start() as other:
        other.append(thread, ("message.delta", {"itemId": "late", "delta": "words"}), turnId=turn)
        scene.append(thread, ("turn.completed", {}), turnId=turn)
    assert scene.host.events(thread)[-1]["type"] == "message.delta"
    (shown,) = scene.host.call("thread/read", threadId=thread, includeTurns=True)["thread"]["turns"]
    assert [item["text"] for item in shown["items"]] == ["words"]
    assert scene.host.call("thread/read", threadId=thread)["thread"]["status"]["type"] == "idle"
