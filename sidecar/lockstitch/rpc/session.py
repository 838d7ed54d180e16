"""The session of a connection: takes messages in order of arrival, runs requests, answers each once.

Invariant: every message that is delivered is answered, refused or, if it is a notification, run: none is dropped.
Invariant: operations start in order of arrival, at most RUNNING_LIMIT of them at once, and none while more
output is unread than may be: memory stays bounded whatever a client asks for without reading.
Invariant: the reply is queued before anything that the request causes; `after_reply` runs directly after it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar, cast

import msgspec

from lockstitch import codec
from lockstitch.operations.call import NOT_NOW, Aside
from lockstitch.rpc.application import Application, Runtime
from lockstitch.rpc.connection import Connection
from lockstitch.rpc.dispatch import Dispatcher, Refusal, bad_params, refusal_of, refuse
from lockstitch.rpc.envelope import NOT_A_MESSAGE, Rejected, open_envelope
from lockstitch.rpc.framing import Fault
from lockstitch.rpc.handshake import Client, initialize_result, read_client
from lockstitch.rpc.intake import cost_of
from lockstitch.rpc.peek import peek_id
from lockstitch.rpc.plain import PlainRequest, PlainRequests
from lockstitch.rpc.request import Batch, Request
from lockstitch.settings import Settings
from lockstitch_protocol.retired import RETIRED_METHODS

RUNNING_LIMIT = 1024
"""Requests that run at once; further ones wait in order."""

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Hooks(msgspec.Struct, frozen=True):
    """What the session asks of the process around it."""

    release: Callable[[int], None]
    """A message of that cost is done with."""
    end: Callable[[str], None]
    """The client wants the process to end."""
    watch_parent: Callable[[int], None]
    """The client said which process to live with."""


class Session:
    """All of it belongs to who has the floor."""

    def __init__(
        self, connection: Connection, application: Application, settings: Settings, boot_id: str, hooks: Hooks
    ) -> None:
        self._connection = connection
        self._application = application
        self._settings = settings
        self._boot_id = boot_id
        self._hooks = hooks
        self._loop = asyncio.get_running_loop()
        self._dispatcher = Dispatcher(application)
        self._plain = PlainRequests(application.plain)
        self._runtime: Runtime | None = None
        self._opening: asyncio.Task[None] | None = None
        self._initialized = False
        self._told_jsonrpc = False
        self._waiting: deque[Request] = deque()
        self._running: set[Request] = set()
        self._by_id: dict[str | int, Request] = {}
        self._change: asyncio.Future[None] | None = None
        self._started_count = 0
        self._done_count = 0
        self._aside: Aside | None = None
        self._receiving = False

    # -- life -------------------------------------------------------------------------------------
    def resume(self, client: Client, *, jsonrpc: bool) -> None:
        """Go on after an `initialize` that has been answered."""
        self._speak(jsonrpc=jsonrpc)
        self._greet(client)

    async def drained(self, patience: float) -> bool:
        """Wait until all that was delivered is answered. When nothing has been for so long, the rest is cancelled.

        False: something did not even end then.
        """
        cancelled = False
        while self._opening is not None or self._waiting or self._running:
            done_before = self._done_count
            self._change = self._loop.create_future()
            moved, _ = await asyncio.wait([self._change], timeout=patience)
            if moved or self._done_count > done_before:
                continue
            if cancelled:
                return False
            cancelled = True
            for request in [*self._running, *self._waiting]:
                _log.error("%.100s did not end in %s s and is cancelled", request.method, patience)
                self._cancel(request)
        return True

    def cancel_long_reads(self) -> None:
        """Cancel what the process does not wait for when it ends."""
        for request in [*self._running, *self._waiting]:
            if request.method in self._application.ended_early:
                self._cancel(request)

    async def close(self) -> bool:
        """Store what was accepted and let go of the runtime; False if something could not be stored."""
        if self._runtime is None:
            return True
        try:
            stored = await self._runtime.drain()
        finally:
            await self._runtime.close()
        return stored

    def _greet(self, client: Client) -> None:
        self._initialized = True
        self._connection.greet(client)
        self._open_runtime()

    def _speak(self, *, jsonrpc: bool) -> None:
        self._told_jsonrpc = True
        self._connection.speak(jsonrpc=jsonrpc)

    def _open_runtime(self) -> None:
        if self._runtime is None and self._opening is None:
            self._opening = self._loop.create_task(self._start_runtime())

    async def _start_runtime(self) -> None:
        runtime: Runtime | None = None
        try:
            runtime = self._application.open_runtime(self._settings, self._boot_id)
            await runtime.start()
        except BaseException as error:
            # answered to whoever waits; the next request tries again
            refusal = refusal_of(error, "starting")
            _log.error("cannot start: %s", refusal.data.get("kind"))
            waiting, self._waiting = self._waiting, deque()
            for request in waiting:
                self._finish(request, {} if request.method == "shutdown" else refusal)
            try:
                if runtime is not None:
                    await runtime.close()
            except Exception as failure:
                refusal_of(failure, "closing after a failed start")
        else:
            self._runtime = self._dispatcher.runtime = runtime
        self._opening = None
        self._note_change()
        self.pump()

    # -- messages in ------------------------------------------------------------------------------
    def receive(self, messages: list[bytes | Fault], aside: Aside | None = None) -> None:
        """Take a batch of messages, in order. With `aside`, a lone one may wait for the disk right here."""
        self._aside = aside if len(messages) == 1 else None
        self._receiving = True
        self._connection.gather()
        try:
            self._receive_all(messages)
        finally:
            self._receiving = False
            self._connection.flush()
        if not self._waiting and not self._running:
            self._note_change()

    def _receive_all(self, messages: list[bytes | Fault]) -> None:
        for message in messages:
            cost = cost_of(message)
            try:
                self._receive_one(message, cost)
            except Exception as error:  # a bug in one message never ends the session
                self._answer(b"null", refusal_of(error, "receiving a message"), None)
                self._hooks.release(cost)
            if not self._running:
                self.pump()  # one by one, as long as each is served at once
        self.pump()

    def _receive_one(self, message: bytes | Fault, cost: int) -> None:
        if isinstance(message, Fault):
            key = peek_id(message.head, message.tail)
            facts = {} if message.kind == "parseError" else {"limit": self._settings.max_message_bytes}
            self._refuse_raw(message.head, key, refuse(message.kind, _sentence(message.message), **facts), cost)
            return
        if self._initialized and (plain := self._plain.open(message)) is not None:
            self._accept_plain(plain, message, cost)
            return
        try:
            value: Any = codec.decode(message)
        except codec.TooDeepError as error:
            refusal = refuse("tooDeep", _sentence(str(error)), limit=codec.MAX_DEPTH)
            self._refuse_raw(message, peek_id(message, message[-65536:]), refusal, cost)
            return
        except codec.ParseError:
            self._refuse_raw(message, None, refuse("parseError", "This is not JSON in UTF-8."), cost)
            return
        if type(value) is not list:
            self._tell_dialect(value)
            self._accept(value, None, cost)
            return
        members = cast("list[Any]", value)
        if not members:
            self._refuse_raw(message, None, NOT_A_MESSAGE, cost)
            return
        self._tell_dialect(members[0])
        batch = Batch(len(members), cost)
        for member in members:
            self._accept(member, batch, 0)

    def _tell_dialect(self, first: Any) -> None:
        if not self._told_jsonrpc:
            self._speak(jsonrpc=type(first) is not dict or "jsonrpc" in first)

    def _refuse_raw(self, raw: bytes, key: bytes | None, refusal: Refusal, cost: int) -> None:
        """Answer what is no message; the first one decides about `"jsonrpc"` even so."""
        if not self._told_jsonrpc:
            self._speak(jsonrpc=b'"jsonrpc"' in raw[:65536])
        self._answer(key or b"null", refusal, None)
        self._hooks.release(cost)

    def _accept_plain(self, plain: PlainRequest, message: bytes, cost: int) -> None:
        if not self._told_jsonrpc:
            self._speak(jsonrpc=plain.has_jsonrpc)
        key = codec.encode(plain.request_id)
        if plain.request_id in self._by_id:
            self._settle(key, _DUPLICATE, None, cost)
            return
        request = Request(
            self._connection,
            plain.request_id,
            key,
            plain.method,
            lambda: codec.decode(message)["params"],
            plain.params,
        )
        request.cost = cost
        self._route(request)

    def _accept(self, value: Any, batch: Batch | None, cost: int) -> None:
        """Take one request, notification or stray reply."""
        envelope = open_envelope(value)
        if isinstance(envelope, Rejected):
            self._settle(envelope.key, envelope.refusal, batch, cost)
            return
        if envelope.request_id is not None and envelope.request_id in self._by_id:
            self._settle(envelope.key, _DUPLICATE, batch, cost)
            return
        request = Request(self._connection, envelope.request_id, envelope.key, envelope.method, envelope.params)
        request.batch = batch
        request.cost = cost
        self._route(request)

    def _route(self, request: Request) -> None:
        """Answer what belongs to the session itself; queue what is an operation."""
        method = request.method
        if self._initialized and self._dispatcher.knows(method):
            if request.request_id is not None:
                self._by_id[request.request_id] = request
            self._waiting.append(request)
            return
        own = _OWN.get(method)
        if own is not None:
            own(self, request)
        elif not self._initialized:
            self._finish(request, refuse("notInitialized", "The first request has to be initialize."))
        elif method in RETIRED_METHODS:
            replacement = RETIRED_METHODS[method]
            self._finish(
                request,
                refuse("methodRetired", f"Method {method} is retired; use {replacement}.", replacement=replacement),
            )
        else:
            self._finish(request, refuse("methodNotFound", "There is no such method.", method=method[:200]))

    # -- the session's own methods ----------------------------------------------------------------
    def _initialize(self, request: Request) -> None:
        if request.key is None:
            self._finish(request, None)
            return
        if self._initialized:
            self._finish(request, refuse("alreadyInitialized", "This connection is initialized; go on with requests."))
            return
        client = read_client(request.params)
        if client is None:
            checked = self._dispatcher.validate("initialize", request.params)
            if isinstance(checked, Refusal):
                self._finish(request, checked)
            else:
                self._finish(request, bad_params("clientInfo and capabilities are not well-formed"))
            return
        if client.process_id is not None:
            self._hooks.watch_parent(client.process_id)
        self._finish(request, initialize_result(self._settings, self._boot_id))
        self._greet(client)

    def _confirm(self, request: Request) -> None:
        self._finish(request, {})  # `initialized` asks for nothing

    def _exit(self, request: Request) -> None:
        self._finish(request, {})
        self._hooks.end("the client said exit")

    def _cancel_request(self, request: Request) -> None:
        target: Any = request.params.get("id")
        found = self._by_id.get(target) if type(target) in (int, str) else None
        if found is not None:
            self._cancel(found)
        self._finish(request, {})

    def _shutdown(self, request: Request) -> None:
        if not self._initialized:
            self._finish(request, refuse("notInitialized", "The first request has to be initialize."))
            return
        if request.request_id is not None:
            self._by_id[request.request_id] = request
        self._waiting.append(request)

    async def _store_all(self, request: Request) -> Any:
        """Serve `shutdown`: everything that arrived before it is answered and stored."""
        self.cancel_long_reads()
        tasks = [other.task for other in self._running if other.order < request.order and other.task is not None]
        if tasks:
            await asyncio.wait(tasks)
        if self._runtime is not None and not await self._runtime.drain():
            return refuse("storageFailed", "Not everything that was accepted could be stored; the log says more.")
        return {}

    # -- running ----------------------------------------------------------------------------------
    def pump(self) -> None:
        """Start what waits, in order, as far as there is room for it and for its output."""
        if not self._waiting:
            return
        if self._runtime is None:
            self._open_runtime()
            return
        while self._waiting and len(self._running) < RUNNING_LIMIT and not self._connection.is_full:
            request = self._waiting.popleft()
            if request.done:
                continue
            self._running.add(request)
            self._started_count += 1
            request.order = self._started_count
            if self._receiving and len(self._running) == 1 and self._serve_at_once(request):
                continue
            request.task = self._loop.create_task(self._serve(request))
        if not self._waiting and not self._running:
            self._note_change()

    def _serve_at_once(self, request: Request) -> bool:
        """Serve a request that nothing is before, if it need not wait for anybody: without a task, which is cheaper."""
        if self._aside is not None:
            request.aside = _Aside(self._aside, self._step_aside)
        outcome = self._dispatcher.run_at_once(request.method, request)
        request.aside = None
        if outcome is NOT_NOW:
            return False
        request.started = True
        self._finish(request, outcome)
        return True

    def _step_aside(self, aside: Aside, work: Callable[[], T]) -> T:
        """Let everybody else go on while this thread waits for the disk."""
        self._aside = None
        self._receiving = False
        self._connection.flush()
        try:
            return aside(work)
        finally:
            self._receiving = True
            self._connection.gather()

    async def _serve(self, request: Request) -> None:
        request.started = True
        if request.cancelled:
            self._finish(request, _CANCELLED)
            return
        try:
            if request.method == "shutdown":
                outcome = await self._store_all(request)
            else:
                outcome = await self._dispatcher.run(request.method, request)
        except asyncio.CancelledError as error:
            outcome = _CANCELLED if request.cancelled else refusal_of(error, request.method)
        except BaseException as error:
            outcome = refusal_of(error, request.method)
        self._finish(request, outcome)

    def _cancel(self, request: Request) -> None:
        if request.uncancellable or request.cancelled or request.done or request.method == "shutdown":
            return
        request.cancelled = True
        if request.task is None:
            self._finish(request, _CANCELLED)
        elif request.started:
            request.task.cancel()

    def _finish(self, request: Request, outcome: Any) -> None:
        """Answer a request, if it is to be answered, and let go of it."""
        request.done = True
        self._done_count += 1
        self._running.discard(request)
        if request.request_id is not None and self._by_id.get(request.request_id) is request:
            del self._by_id[request.request_id]
        if request.key is None and isinstance(outcome, Refusal):
            _log.info("the notification %.100s was refused: %s", request.method, outcome.data["kind"])
        self._settle(
            request.key, outcome, request.batch, request.cost, request.after_reply, stored=request.uncancellable
        )
        if self._receiving:
            return  # what comes next, and when it is written, is up to `receive`
        if self._waiting:
            self.pump()
        elif not self._running:
            self._note_change()
            self._connection.flush()  # nothing else is about to be answered

    def _settle(
        self,
        key: bytes | None,
        outcome: Any,
        batch: Batch | None,
        cost: int,
        after: list[Callable[[], None]] | None = None,
        *,
        stored: bool = False,
    ) -> None:
        """Queue the reply, or keep it until its batch is whole; then what has to follow it."""
        self._answer(key, outcome, batch, stored=stored)
        if batch is not None:
            batch.after += after or ()
            batch.left -= 1
            if batch.left:
                return
            if batch.replies:
                self._connection.send(self._connection.encode_batch(batch.replies))
            after, cost = batch.after, batch.cost
        for call in after or ():
            try:
                call()
            except Exception as error:
                refusal_of(error, "after a reply")
        if cost:
            self._hooks.release(cost)

    def _answer(self, key: bytes | None, outcome: Any, batch: Batch | None, *, stored: bool = False) -> None:
        if key is None:
            return
        reply = self._connection.encode_reply(key, outcome, stored=stored)
        if batch is None:
            self._connection.send(reply)
        else:
            batch.replies.append((key, reply))

    def _note_change(self) -> None:
        if self._change is not None and not self._change.done():
            self._change.set_result(None)


class _Aside:
    """The way to step aside that one request gets, once."""

    __slots__ = ("_aside", "_step", "afterwards")

    def __init__(self, aside: Aside, step: Callable[[Aside, Callable[[], Any]], Any]) -> None:
        self._aside, self._step = aside, step
        self.afterwards = aside.afterwards

    def __call__(self, work: Callable[[], T]) -> T:
        return self._step(self._aside, work)


_DUPLICATE = refuse("invalidRequest", "A request with this id is still running.")
_CANCELLED = refuse("requestCancelled", "The request was cancelled.")

_OWN: dict[str, Callable[[Session, Request], None]] = {
    "initialize": Session._initialize,  # pyright: ignore[reportPrivateUsage] - the class's own table
    "initialized": Session._confirm,  # pyright: ignore[reportPrivateUsage]
    "exit": Session._exit,  # pyright: ignore[reportPrivateUsage]
    "shutdown": Session._shutdown,  # pyright: ignore[reportPrivateUsage]
    "$/cancelRequest": Session._cancel_request,  # pyright: ignore[reportPrivateUsage]
}


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
