"""The client for Python hosts: spawns the sidecar, speaks with it, and does what a crash of it needs.

    async with open_sidecar(client_name="my-editor") as sidecar:
        thread = (await sidecar.request("thread/start", {"cwd": "/workspace"}))["thread"]

It runs on anyio, so on asyncio and trio alike; `client_blocking` is the same for hosts without an event loop.

Invariant: an append that was not answered is sent again with its event ids, and so is stored once; what only looks
is asked again; of everything else the caller is told that it may have happened.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup

from lockstitch_protocol.client_errors import SidecarError, SidecarGoneError
from lockstitch_protocol.client_run import Run
from lockstitch_protocol.client_subscriptions import Subscriptions

__all__ = ["Options", "Sidecar", "SidecarError", "SidecarGoneError", "open_sidecar"]

Listener = Callable[[str, dict[str, Any]], None]

_APPEND: Final = "agentSession/runtimeEvents/append"
_STREAMED: Final = frozenset({"message.delta", "reasoning.delta", "command.output"})
_LOOKS: Final = re.compile(r".*/(read|list|get|diff|status|search|report|verify|preview|scan)")
_STEADY: Final = 60.0
_CANNOT_START: Final = 2
"""The exit status of arguments or a data root that cannot be used: the next start would say the same."""


@dataclass(frozen=True, slots=True)
class Options:
    """How the sidecar is started, and started again. Times are seconds."""

    client_name: str
    client_version: str = ""
    command: Sequence[str] = (sys.executable, "-P", "-m", "lockstitch", "serve")
    data_dir: str | os.PathLike[str] | None = None
    env: Mapping[str, str] | None = None
    cwd: str | None = None
    capabilities: dict[str, Any] | None = None
    restart: bool = True
    first_wait: float = 0.1
    longest_wait: float = 5.0
    max_restarts: int = 10
    handshake_timeout: float = 30.0
    grace: float = 15.0
    """How long it may take to end before it is terminated, and then killed."""


@dataclass(slots=True, eq=False)
class _Waiting:
    method: str
    params: dict[str, Any]
    id: str = field(default_factory=lambda: str(uuid4()))
    sent: bool = False
    done: anyio.Event = field(default_factory=anyio.Event)
    result: Any = None
    error: Exception | None = None

    def settle(self, result: Any = None, error: Exception | None = None) -> None:
        self.result, self.error = result, error
        self.done.set()


@asynccontextmanager
async def open_sidecar(client_name: str, **options: Any) -> AsyncGenerator[Sidecar, None]:
    """Start the sidecar, shake hands, and end it cleanly with the block. `options` are those of `Options`.

    Raises SidecarGoneError if it does not come up.
    """
    failure: Exception | None = None
    async with anyio.create_task_group() as group:
        sidecar = Sidecar(Options(client_name, **options), group)
        group.start_soon(sidecar.supervise)
        try:
            await sidecar.ready()
            yield sidecar
        except Exception as error:
            failure = error  # raised below: not as a group of one
        finally:
            with anyio.CancelScope(shield=True):
                await sidecar.close()
            group.cancel_scope.cancel()
    if failure is not None:
        raise failure


class Sidecar:
    """A sidecar that is kept running. Use `open_sidecar`."""

    def __init__(self, options: Options, group: TaskGroup) -> None:
        self.hello: dict[str, Any] = {}
        """What `initialize` answered, of the process that runs now."""
        self.state = "starting"
        """starting, ready, restarting, closed or failed."""
        self._options = options
        self._group = group
        self._run: Run | None = None
        self._waiting: dict[str, _Waiting] = {}
        self._subscriptions = Subscriptions()
        self._listeners: list[Listener] = []
        self._changed = anyio.Event()
        self._closing = anyio.Event()
        self._over = anyio.Event()
        self._failure: SidecarGoneError | None = None
        self._exit_code: int | None = None
        self._stderr = ""

    @property
    def pid(self) -> int | None:
        """The process that runs now."""
        return self._run.pid if self._run else None

    @property
    def stderr_tail(self) -> str:
        """The last 64 KiB of stderr, of this process or the one before it."""
        return (self._run.stderr_tail if self._run else "") or self._stderr

    async def ready(self) -> None:
        """Wait until it takes requests, also after a restart. Raises SidecarGoneError."""
        while self.state in ("starting", "restarting"):
            await self._changed.wait()
        if self.state != "ready":
            raise self._failure or self._gone("the sidecar was closed", may_have_happened=False)

    # -- asking -------------------------------------------------------------------------------------------------
    async def request(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Ask; the result as JSON. `METHODS[method].result` is its model.

        Cancelling the scope around it cancels the request; it may have happened all the same. Raises SidecarError,
        SidecarGoneError.
        """
        if self.state in ("closed", "failed"):
            raise self._failure or self._gone("the sidecar was closed", may_have_happened=False)
        one = _Waiting(method, with_event_ids(method, dict(params or {})))
        self._waiting[one.id] = one
        try:
            if self.state == "ready":
                await self._send(one)
            await one.done.wait()
        except anyio.get_cancelled_exc_class():
            if one.sent and self._run is not None:
                with anyio.CancelScope(shield=True), anyio.move_on_after(1):
                    await self._tell(self._run, "$/cancelRequest", {"id": one.id})
            raise
        finally:
            self._waiting.pop(one.id, None)
        if one.error is not None:
            raise one.error
        return one.result

    async def append(self, thread: str, events: Sequence[Mapping[str, Any]], turn: str | None = None) -> dict[str, Any]:
        """Append events to a thread. Each gets an event id if it has none, but streamed deltas, which carry none."""
        return await self.request(_APPEND, {"sessionId": thread, "turnId": turn, "runtimeEvents": list(events)})

    async def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Tell. It is lost if the process ends before it has read it."""
        if self.state == "ready" and self._run is not None:
            await self._tell(self._run, method, dict(params or {}))

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener(method, params)` for every notification; the result stops it. It must not block."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    @asynccontextmanager
    async def notifications(self, *methods: str) -> AsyncGenerator[AsyncIterator[tuple[str, dict[str, Any]]], None]:
        """The notifications of these methods, or all, as they come; they wait in memory until they are taken."""
        send, receive = anyio.create_memory_object_stream[tuple[str, dict[str, Any]]](math.inf)

        def take(method: str, params: dict[str, Any]) -> None:
            if not methods or method in methods:
                send.send_nowait((method, params))

        stop = self.listen(take)
        try:
            async with send, receive:
                yield receive
        finally:
            stop()

    async def close(self) -> int | None:
        """End it: what was asked is answered and what was accepted is stored first. Its exit status."""
        if self.state not in ("closed", "failed"):
            self._become("closed")
            self._closing.set()
            if self._run is not None:
                await self._run.close_input()
        await self._over.wait()
        return self._exit_code

    # -- life ---------------------------------------------------------------------------------------------------
    async def supervise(self) -> None:
        """Keep it running until it is closed or given up. The task that `open_sidecar` starts."""
        failures = 0
        try:
            while True:
                try:
                    self._run = await Run.start(self._command(), self._options.env, self._options.cwd)
                except OSError as error:
                    self._fail(self._gone(f"the sidecar cannot be started: {error}", may_have_happened=False))
                    return
                try:
                    lived, code = await self._live(self._run)
                finally:
                    self._run.kill()
                    with anyio.CancelScope(shield=True):
                        await self._run.release()
                self._stderr, self._exit_code = self._run.stderr_tail, code
                failures = 1 if lived > _STEADY else failures + 1
                gone = self._gone(f"the sidecar ended with status {code}", may_have_happened=True, code=code)
                if self.state == "closed":
                    self._give_up(gone)
                    return
                never_up = not self.hello
                if (
                    not self._options.restart
                    or never_up
                    or code == _CANNOT_START
                    or failures > self._options.max_restarts
                ):
                    self._fail(gone)
                    return
                self._sort_out(gone)
                self._become("restarting")
                wait = min(self._options.longest_wait, self._options.first_wait * 2 ** (failures - 1))
                with anyio.move_on_after(wait):
                    await self._closing.wait()
                if self._closing.is_set():
                    self._give_up(gone)
                    return
        finally:
            self._over.set()

    def _command(self) -> list[str]:
        data_dir = self._options.data_dir
        where = [] if data_dir is None else ["--data-dir", os.fspath(data_dir)]
        return [*self._options.command, *where, "--parent-pid", str(os.getpid())]

    async def _live(self, run: Run) -> tuple[float, int]:
        """One process from its handshake to its end: how long it lived, and its exit status."""
        code = _CANNOT_START
        async with anyio.create_task_group() as group:
            group.start_soon(run.keep_stderr)
            group.start_soon(self._shake_hands, run)
            async for message in run.messages():
                self._receive(message)
            if self.state == "closed":
                code = await run.end_within(self._options.grace)
            else:
                code = await run.end_within(1)  # it closed its stdout, and is of no use any more
            group.cancel_scope.cancel()
        return anyio.current_time() - run.began, code

    async def _shake_hands(self, run: Run) -> None:
        client: dict[str, Any] = {"name": self._options.client_name}
        if self._options.client_version:
            client["version"] = self._options.client_version
        try:
            with anyio.fail_after(self._options.handshake_timeout):
                params = {"clientInfo": client, "capabilities": self._options.capabilities}
                self.hello = await self._first(run, "initialize", params)
                await self._tell(run, "initialized", {})
                for params in self._subscriptions.resumes():
                    try:
                        await self._first(run, "thread/resume", params)
                    except SidecarError:
                        self._subscriptions.drop(params["threadId"])
        except (TimeoutError, SidecarError, SidecarGoneError):
            run.kill()
            return
        if self.state not in ("starting", "restarting"):
            return
        self._become("ready")
        for one in [*self._waiting.values()]:
            if not one.sent:
                await self._send(one)

    async def _first(self, run: Run, method: str, params: dict[str, Any]) -> Any:
        """A request of the start itself: before the others, and gone with this process."""
        one = _Waiting(method, params, sent=True)
        self._waiting[one.id] = one
        try:
            await run.write({"jsonrpc": "2.0", "id": one.id, "method": method, "params": params})
            await one.done.wait()
        finally:
            self._waiting.pop(one.id, None)
        if one.error is not None:
            raise one.error
        return one.result

    async def _send(self, one: _Waiting) -> None:
        one.sent = True
        assert self._run is not None
        await self._run.write({"jsonrpc": "2.0", "id": one.id, "method": one.method, "params": one.params})

    @staticmethod
    async def _tell(run: Run, method: str, params: dict[str, Any]) -> None:
        await run.write({"jsonrpc": "2.0", "method": method, "params": params})

    def _receive(self, message: dict[str, Any]) -> None:
        if "method" in message:
            method: str = message["method"]
            params: dict[str, Any] = message.get("params") or {}
            if self._subscriptions.heard(method, params):
                for listener in [*self._listeners]:
                    listener(method, params)
            return
        one = self._waiting.get(message.get("id", ""))
        if one is None:
            return
        if "error" in message:
            one.settle(error=SidecarError(one.method, message["error"]))
        else:
            self._subscriptions.answered(one.method, one.params, message["result"])
            one.settle(message["result"])

    def _sort_out(self, gone: SidecarGoneError) -> None:
        """What the process took with it: what can be asked again waits for the next one."""
        for one in self._waiting.values():
            if one.sent and not one.done.is_set():
                if can_be_asked_again(one.method, one.params):
                    one.sent = False
                else:
                    one.settle(error=gone)

    def _fail(self, error: SidecarGoneError) -> None:
        self._failure = error
        self._give_up(error)
        self._become("failed")

    def _give_up(self, error: SidecarGoneError) -> None:
        for one in self._waiting.values():
            if not one.done.is_set():
                one.settle(error=self._gone(str(error), may_have_happened=one.sent, code=error.exit_code))

    def _gone(self, message: str, *, may_have_happened: bool, code: int | None = None) -> SidecarGoneError:
        return SidecarGoneError(message, may_have_happened=may_have_happened, stderr=self.stderr_tail, exit_code=code)

    def _become(self, state: str) -> None:
        self.state = state
        self._changed.set()
        self._changed = anyio.Event()


def with_event_ids(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Everything of an append but deltas gets an id of its own, which makes sending it again harmless."""
    if method != _APPEND or not isinstance(params.get("runtimeEvents"), list):
        return params
    events: list[Any] = []
    for event in params["runtimeEvents"]:
        kind = event.get("type") or event.get("eventType") or event.get("event_type")
        known = event.get("eventId") or kind in _STREAMED
        events.append(event if known else {**event, "eventId": f"evt_{uuid4()}"})
    return {**params, "runtimeEvents": events}


def can_be_asked_again(method: str, params: dict[str, Any]) -> bool:
    """Whether a request without an answer may be sent to the next process."""
    if method != _APPEND:
        return _LOOKS.fullmatch(method) is not None
    events: list[dict[str, Any]] = params.get("runtimeEvents") or []
    return all(event.get("eventId") for event in events)
