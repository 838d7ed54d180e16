"""Captures in the thread that read the request: in order, announced after the reply, or not begun at all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lockstitch.errors import InvalidError, RefusedError
from lockstitch.operations import append_request, file_checkpoint
from lockstitch.operations.append import append_at_once
from lockstitch.operations.call import NOT_NOW, Call
from lockstitch.operations.plain_params import read_plain
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.table import OPERATIONS
from lockstitch.settings import RootChoice, Settings
from lockstitch_protocol.ids import new_id
from lockstitch_protocol.methods import METHODS

CAPTURE = "agentSession/fileCheckpoint/capture"


class Nobody:
    max_message_bytes = None

    def wants(self, method: str) -> bool:
        return False

    async def notify(self, method: str, params: bytes) -> None:
        raise AssertionError


class Scene:
    def __init__(self, root: Path) -> None:
        self.workspace = root / "w"
        self.workspace.mkdir()
        self.runtime = Runtime(Settings(RootChoice(str(root / "home"), "argument", None)), new_id("boot"))
        self.beside: list[Callable[[], None]] = []
        """What the event loop does while the thread is aside."""

    def aside(self, work: Callable[[], Any]) -> Any:
        for each in self.beside:
            each()
        return work()

    async def begin(self) -> None:
        await self.runtime.start()
        params = METHODS["thread/start"].params.model_validate({"threadId": "t", "cwd": str(self.workspace)})
        await OPERATIONS["thread/start"](self.runtime, Call(Nobody(), None, {}), params)

    def call(self) -> Call:
        call = Call(Nobody(), 1, {})
        call.aside = self.aside
        return call

    def capture(self, call: Call, *paths: str) -> Any:
        params = read_plain(CAPTURE, {"sessionId": "t", "paths": list(paths)})
        return file_checkpoint.capture_at_once(self.runtime, call, params)


def play(root: Path, story: Callable[[Scene], Any]) -> None:
    async def run() -> None:
        scene = Scene(root)
        try:
            await scene.begin()
            outcome = story(scene)
            if outcome is not None:
                await outcome
        finally:
            await scene.runtime.close()

    asyncio.run(run())


def test_a_capture_is_done_in_one_go(tmp_path: Path) -> None:
    """Nobody can come between on its thread; its document is there before the reply; the next one goes on from it."""

    def story(scene: Scene) -> None:
        (scene.workspace / "a").write_bytes(b"1\n")
        scene.beside.append(lambda: busy.append(scene.runtime.order.is_free("T")))
        busy: list[bool] = []
        call = scene.call()
        (made,) = scene.capture(call, "a")["captured"]
        assert busy == [False] and scene.runtime.order.is_free("t") and call.uncancellable
        assert (scene.workspace / made["snapshotPath"]).is_file() and made["versionNo"] == 1
        assert len(call.after_reply) == 1, "what it causes is not told before its reply"
        assert scene.capture(scene.call(), "a")["unchanged"] == ["a"]
        (scene.workspace / "a").write_bytes(b"2\n")
        form = append_request.plain_form()
        sent = (
            b'{"sessionId":"t","runtimeEvents":[{"type":"turn.started","payload":{}},'
            b'{"type":"artifact.snapshot","payload":{"path":"a"}}]}'
        )
        params = form.take(msgspec.json.decode(sent, type=form.sent))
        reply = b"".join(append_at_once(scene.runtime, scene.call(), params))
        assert b'"versionNo":2' in reply and b'"additions":1' in reply
        assert len(list(scene.workspace.rglob("v000*.artifact.json"))) == 2

    play(tmp_path, story)


def test_what_would_have_to_wait_is_not_begun(tmp_path: Path) -> None:
    """Somebody ahead on the thread, many files, a thread that has to be seen to: the event loop takes the request."""

    def story(scene: Scene) -> Any:
        runtime = scene.runtime
        (scene.workspace / "a").write_bytes(b"1\n")
        assert scene.capture(Call(Nobody(), 1, {}), "a") is NOT_NOW
        assert scene.capture(scene.call(), *map(str, range(17))) is NOT_NOW
        end = runtime.order.take("t")
        assert end is not None and runtime.order.take("T") is None
        assert scene.capture(scene.call(), "a") is NOT_NOW
        end()
        call = scene.call()
        runtime.writer.behind.add("t")
        assert scene.capture(call, "a") is NOT_NOW
        runtime.writer.behind.clear()
        assert not call.uncancellable and not call.after_reply
        assert runtime.order.is_free("t") and not list(scene.workspace.rglob("*.json"))
        with pytest.raises(InvalidError):
            scene.capture(scene.call(), "a", "a")
        params = read_plain(CAPTURE, {"sessionId": "t", "paths": ["a"]})
        return OPERATIONS[CAPTURE](runtime, scene.call(), params)

    play(tmp_path, story)


def test_a_refusal_lets_the_next_one_pass(tmp_path: Path) -> None:
    """An archived thread takes no capture, and says so; nothing waits for a reply afterwards."""

    def story(scene: Scene) -> Any:
        async def run() -> None:
            params = METHODS["thread/archive"].params.model_validate({"threadId": "t"})
            await OPERATIONS["thread/archive"](scene.runtime, Call(Nobody(), None, {}), params)
            (scene.workspace / "a").write_bytes(b"1\n")
            call = scene.call()
            with pytest.raises(RefusedError) as refused:
                scene.capture(call, "a")
            assert refused.value.kind == "threadArchived"
            assert len(call.after_reply) == 1
            assert scene.runtime.order.is_free("t")

        return run()

    play(tmp_path, story)
