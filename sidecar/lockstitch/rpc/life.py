"""The life of the process between the first reply and the exit status.

Invariant: whatever ends the process, what was read is answered and what was accepted is stored first.
Invariant: no traceback reaches stdout or stderr; a crash of this very code is exit status 70.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from lockstitch import __version__
from lockstitch.data_root import DataRoot
from lockstitch.log import start_log, where
from lockstitch.operations.call import Aside
from lockstitch.platform import faults
from lockstitch.rpc.application import Application
from lockstitch.rpc.claim import Wire
from lockstitch.rpc.connection import Connection
from lockstitch.rpc.doorstep import Opening
from lockstitch.rpc.ends import CLEAN, CLIENT_GONE, INTERNAL, PARENT_ENDED, Ends
from lockstitch.rpc.floor import new_loop
from lockstitch.rpc.framing import Fault
from lockstitch.rpc.intake import Intake
from lockstitch.rpc.outlet import Outlet
from lockstitch.rpc.session import Hooks, Session
from lockstitch.settings import Settings

OUTPUT_PATIENCE = 5.0
"""Seconds that waiting output may stand still once the process is ending."""
REQUEST_PATIENCE = 60.0
"""Seconds in which at least one request has to end while the process is ending."""
_GONE_PATIENCE = 1.0
"""Seconds in which what a client wrote before it went away is still read."""

_log = logging.getLogger(__name__)


class Start(msgspec.Struct, frozen=True):
    """What came before: settings, wire and the state of the connection."""

    settings: Settings
    boot_id: str
    wire: Wire
    ends: Ends
    opening: Opening
    parent_found: bool


def live(start: Start, load: Callable[[], Application]) -> int:
    """Serve until the end; the exit status."""
    settings = start.settings
    if settings.faults is not None:
        faults.arm(settings.faults)
    file = None if settings.read_only else DataRoot(Path(settings.data_root)).log_file
    log = start_log(file, settings.log_level)
    try:
        _log.info(
            "lockstitch %s, %s, data root %s (%s)", __version__, start.boot_id, settings.data_root, settings.root.source
        )
        for argument in settings.accepted:
            _log.info("accepted without effect: %s", argument)
        if not start.parent_found:
            _log.warning("no process %s to live with; --parent-pid is ignored", settings.parent_pid)
        loop, floor = new_loop()
        asyncio.set_event_loop(loop)
        loop.set_exception_handler(_log_loop_trouble)
        application = load()
        _spare_the_collector()
        status = loop.run_until_complete(_Life(start, application, loop, floor).run())
        _log.info("end, status %d", status)
    except BaseException as error:
        _log.critical("cannot go on", exc_info=(type(error), error, error.__traceback__))
        status = INTERNAL
    log.flush()
    return status


def _log_loop_trouble(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    text = where(type(error), error.__traceback__) if isinstance(error, BaseException) else ""
    _log.error("in the event loop: %s %s", str(context.get("message", "")).partition("\n")[0], text)


def _log_not_found(pid: int | None) -> None:
    _log.warning("no process %s to live with; clientInfo.processId is ignored", pid)


class _Life:
    def __init__(
        self, start: Start, application: Application, loop: asyncio.AbstractEventLoop, floor: threading.Lock | None
    ) -> None:
        self._start = start
        self._loop = loop
        self._application = application
        self._ended = asyncio.Event()
        self._reason = ""
        self._read_on = False  # the client is gone: what it wrote is still worth reading
        self._outlet = Outlet(start.wire.output, loop, self._client_gone)
        self._intake = Intake(
            start.wire.input, start.opening, self._outlet, loop, self._deliver, lambda: self._end("stdin ended"), floor
        )
        self._connection = Connection(self._outlet)
        self._session: Session

    async def run(self) -> int:
        opening, settings = self._start.opening, self._start.settings
        hooks = Hooks(self._intake.release, self._end, self._watch)
        self._session = Session(self._connection, self._application, settings, self._start.boot_id, hooks)
        self._outlet.on_emptier = self._session.pump
        self._outlet.lost = opening.unsent
        self._connection.framed = opening.framer.framed or False
        if opening.client is not None:
            if not opening.process_found:
                _log_not_found(opening.client.process_id)
            self._session.resume(opening.client, jsonrpc=opening.jsonrpc or False)
        self._start.ends.hand_to(self._end_from_outside)
        self._intake.start()
        await self._ended.wait()
        _log.info("ending: %s", self._reason)
        return await self._close_down()

    def _deliver(self, messages: list[bytes | Fault], aside: Aside | None) -> None:
        self._connection.framed = self._start.opening.framer.framed or False
        self._session.receive(messages, aside)

    async def _close_down(self) -> int:
        await self._intake.settle(_GONE_PATIENCE if self._read_on else 0.0)
        self._intake.stop()
        watch = self._loop.create_task(self._outlet.give_up_when_stalled(OUTPUT_PATIENCE))
        await asyncio.sleep(0)  # what the input thread posted last is delivered now
        self._session.cancel_long_reads()
        began = time.monotonic()
        if not await self._session.drained(REQUEST_PATIENCE):
            _log.error("something does not end; giving up")
            return INTERNAL
        stored = await self._session.close()
        await self._outlet.emptied()
        watch.cancel()
        _log.debug("drained in %.3f s", time.monotonic() - began)
        if not stored:
            _log.error("something that was accepted could not be stored")
            return INTERNAL
        return CLIENT_GONE if self._outlet.lost else CLEAN

    def _end(self, reason: str, *, read_on: bool = False) -> None:
        if not self._ended.is_set():
            self._reason = reason
            self._read_on = read_on
            self._ended.set()

    def _end_from_outside(self, reason: str) -> None:
        """An end by signal or by the parent's death, in whatever thread."""
        read_on = reason == PARENT_ENDED
        try:
            self._loop.call_soon_threadsafe(lambda: self._end(reason, read_on=read_on))
        except RuntimeError:
            return  # the loop is closed: the process is ending

    def _client_gone(self) -> None:
        self._end("stdout is closed, or is not read any more", read_on=True)

    def _watch(self, pid: int) -> None:
        if not self._start.ends.watch_process(pid):
            _log_not_found(pid)


def _spare_the_collector() -> None:
    """What is imported stays: a request of a thousand events must not have it walked through again and again."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 50)
