"""The Python client on the real process, with kills in the middle: on an event loop, and without one."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.wire.process import environment

from lockstitch_protocol import client, client_blocking
from lockstitch_protocol.client_errors import SidecarError, SidecarGoneError
from lockstitch_protocol.client_subscriptions import Subscriptions

QUICK: dict[str, Any] = {"env": environment(), "first_wait": 0.001, "longest_wait": 0.02}

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the kills are signals")


def note(text: str) -> dict[str, Any]:
    return {"type": "note", "payload": {"text": text}}


def texts(events: list[dict[str, Any]]) -> list[str]:
    return [event["payload"]["text"] for event in events if event["type"] == "note"]


def test_kills_in_the_middle_lose_and_repeat_nothing(tmp_path: Path) -> None:
    expected = [f"{round_}.{index}" for round_ in range(2) for index in range(30)]
    answers: dict[str, str] = {}
    heard: list[dict[str, Any]] = []

    async def append(sidecar: client.Sidecar, text: str) -> None:
        (event,) = (await sidecar.append("killed", [note(text)]))["events"]
        answers[text] = event["payload"]["text"]

    async def host() -> None:
        async with client.open_sidecar("test", data_dir=tmp_path / "data", **QUICK) as sidecar:
            await sidecar.request("thread/start", {"threadId": "killed"})
            async with sidecar.notifications("agentSession/event") as notices:
                for round_ in range(2):
                    async with anyio.create_task_group() as group:
                        for text in expected[round_ * 30 : round_ * 30 + 30]:
                            group.start_soon(append, sidecar, text)
                            await anyio.lowlevel.checkpoint()
                        if round_:
                            await notices.__anext__()  # some of them are stored by now
                        assert sidecar.pid is not None
                        os.kill(sidecar.pid, signal.SIGKILL)
                listed = await sidecar.request("thread/events/list", {"threadId": "killed"})
                assert sorted(texts(listed["data"])) == sorted(expected)
                with anyio.fail_after(20):
                    while not heard or heard[-1]["sequence"] < listed["lastSequence"]:
                        heard.append((await notices.__anext__())[1]["event"])
            assert answers == {text: text for text in expected}
            sequences = [event["sequence"] for event in heard]
            assert sequences == list(range(sequences[0], listed["lastSequence"] + 1))
            assert await sidecar.close() == 0

    anyio.run(host)


def test_what_may_have_happened_is_said_so(tmp_path: Path) -> None:
    found: list[Any] = []

    async def act(sidecar: client.Sidecar) -> None:
        with pytest.raises(SidecarGoneError) as gone:
            await sidecar.request("turn/start", {"threadId": "t", "input": [{"type": "text", "text": "x"}]})
        found.append(gone.value.may_have_happened)

    async def look(sidecar: client.Sidecar) -> None:
        found.append((await sidecar.request("thread/read", {"threadId": "t"}))["thread"]["id"])

    async def host() -> None:
        async with client.open_sidecar("test", data_dir=tmp_path / "data", **QUICK) as sidecar:
            await sidecar.request("thread/start", {"threadId": "t"})
            with pytest.raises(SidecarError) as refused:
                await sidecar.request("thread/read", {"threadId": "nobody"})
            assert refused.value.kind == "threadNotFound"
            await sidecar.append("t", [note("a")])
            await sidecar.append("t", [note("b")])
            with anyio.move_on_after(0.05) as scope:
                await sidecar.request("thread/replay", {"threadId": "t", "speed": 0.0001})
            assert scope.cancelled_caught
            assert sidecar.pid is not None
            os.kill(sidecar.pid, signal.SIGSTOP)
            async with anyio.create_task_group() as group:
                group.start_soon(act, sidecar)
                group.start_soon(look, sidecar)
                await anyio.wait_all_tasks_blocked()
                os.kill(sidecar.pid, signal.SIGKILL)
            assert sorted(map(str, found)) == ["True", "t"]
            raise LookupError("an error of the host comes out as it is, not in a group")

    with pytest.raises(LookupError):
        anyio.run(host)


def test_without_an_event_loop(tmp_path: Path) -> None:
    with client_blocking.open_sidecar("test", data_dir=tmp_path / "data", **QUICK) as sidecar:
        assert sidecar.hello["serverInfo"]["title"] == "Lockstitch"
        heard: list[str] = []
        sidecar.listen(lambda method, _params: heard.append(method))
        sidecar.request("thread/start", {"threadId": "t"})
        sidecar.append("t", [note("a")])
        assert sidecar.pid is not None
        os.kill(sidecar.pid, signal.SIGKILL)  # perhaps before it has told that the thread is started
        sidecar.append("t", [note("b")])
        assert texts(sidecar.request("thread/events/list", {"threadId": "t"})["data"]) == ["a", "b"]
        with pytest.raises(TimeoutError):
            sidecar.request("thread/replay", {"threadId": "t", "speed": 0.00001}, timeout=0.05)
        assert sidecar.close() == 0
        with pytest.raises(SidecarGoneError):
            sidecar.request("server/status")
        assert "thread/started" in heard


def test_one_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with (
        pytest.raises(SidecarGoneError) as gone,
        client_blocking.open_sidecar("test", data_dir=tmp_path / "file" / "x", **QUICK),
    ):
        raise AssertionError("it started")
    assert gone.value.exit_code == 2 and "as data root" in gone.value.stderr
    with (
        pytest.raises(SidecarGoneError, match="cannot be started"),
        client_blocking.open_sidecar("test", command=[str(tmp_path / "nothing")]),
    ):
        raise AssertionError("it started")


def test_a_program_that_is_no_sidecar_is_given_up() -> None:
    talks = [sys.executable, "-c", "print('hello', flush=True); input(); input()"]
    with pytest.raises(SidecarGoneError) as gone, client_blocking.open_sidecar("test", command=talks):
        raise AssertionError("it started")
    assert "no message" in gone.value.stderr
    mute = [sys.executable, "-c", "input(); input()"]
    with (
        pytest.raises(SidecarGoneError),
        client_blocking.open_sidecar("test", command=mute, handshake_timeout=0.2, grace=0.1),
    ):
        raise AssertionError("it started")


def test_a_half_told_event_is_told_to_its_end() -> None:
    """One event may come as two notifications; a crash may fall between them."""
    places = Subscriptions()
    places.answered("thread/start", {}, {"thread": {"id": "t", "lastSequence": 1}})
    assert places.resumes()[0]["afterSequence"] == 0  # thread/started follows its answer
    places.answered("thread/resume", {"threadId": "u"}, {"thread": {"id": "u", "lastSequence": 7}})
    assert places.resumes()[1]["afterSequence"] == 7
    places.drop("u")
    item = {"threadId": "t", "sequence": 5, "item": {"id": "i"}}
    assert places.heard("item/started", item)
    assert places.resumes()[0]["afterSequence"] == 4
    assert not places.heard("item/started", item)
    assert places.heard("item/completed", item)
    assert not places.heard("item/completed", {**item, "sequence": 4})
    assert places.heard("item/agentMessage/delta", {"threadId": "t", "itemId": "i"})
    places.answered("thread/unsubscribe", {"threadId": "t"}, {})
    assert places.resumes() == []
