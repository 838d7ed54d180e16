"""Reads the wire in one plain thread, which serves whole messages itself while the event loop has nothing to do, and
otherwise hands them over in batches.

Invariant: past the bounds of waiting input or output nothing is read; nothing that was read is dropped.
Invariant: at most one wake-up of the loop per batch, however many messages are in it.
Invariant: while the thread waits for a disk, the loop listens to the input in its place.
"""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from lockstitch.operations.call import Aside
from lockstitch.rpc.doorstep import Opening, read
from lockstitch.rpc.framing import Fault
from lockstitch.rpc.outlet import Outlet

INPUT_LIMIT = 64 * 1024 * 1024
"""Bytes of messages read and not answered, past which no more are read."""

_MOMENT = 0.02
"""Seconds within which the thread hands over what it has read."""

_SOON_MS = 1
"""For so long the thread looks out for the next request before it rests."""

_PATIENCE = 0.0002
"""For so long the thread waits for the floor: after a reply the loop is about to give it up, and without a wait the
next request would take the long way again, and so on."""

_COST = 1024
"""What a message costs in memory beside its bytes."""

T = TypeVar("T")

_log = logging.getLogger(__name__)


def cost_of(message: bytes | Fault) -> int:
    """What a message counts against INPUT_LIMIT until it is answered."""
    return _COST + (len(message) if isinstance(message, bytes) else len(message.head) + len(message.tail))


class Intake:
    """The input thread, from its start until stdin ends or `stop`."""

    def __init__(
        self,
        descriptor: int,
        opening: Opening,
        outlet: Outlet,
        loop: asyncio.AbstractEventLoop,
        deliver: Callable[[list[bytes | Fault], Aside | None], None],
        on_end: Callable[[], None],
        floor: threading.Lock | None = None,
    ) -> None:
        """`deliver` and `on_end` are called by who has the floor; `deliver` with a way to step aside, or None."""
        self._descriptor = descriptor
        self._opening = opening
        self._outlet = outlet
        self._loop = loop
        self._deliver = deliver
        self._on_end = on_end
        self._floor = floor
        self._aside = _Aside(self) if floor is not None and _can_be_waited_for(descriptor) else None
        self._poll = _poll_of(descriptor) if self._aside is not None else None
        self._finish: Callable[[], None] | None = None
        self._rest: Callable[[], None] | None = None
        self._batches: deque[list[bytes | Fault]] = deque()
        self._delivery_is_due = False
        self._read = 0  # counted by who reads
        self._released = 0  # counted by who has the floor
        self._room = threading.Event()
        self._blocked = False
        self._stopped = False
        self._at_end = False

    def start(self) -> None:
        """Deliver what the doorstep left over, then read on."""
        self._outlet.on_room = self._say_room
        threading.Thread(target=self._run, name="input", daemon=True).start()

    def stop(self) -> None:
        """Read no more. What was read has been delivered, or is in the loop's queue already."""
        self._stopped = True
        self._room.set()

    def release(self, cost: int) -> None:
        """A message is answered: its cost is free again. Called by the loop."""
        self._released += cost
        if self._blocked:
            self._room.set()

    async def settle(self, seconds: float) -> None:
        """Let the thread deliver what it has read, and read on for at most so long while there is more."""
        deadline = self._loop.time() + seconds
        moving = not self._at_end
        while moving:
            read_before, more = self._read, self._has_input()
            await asyncio.sleep(_MOMENT)  # the thread may just have come back from the system with something
            moving = (more or self._read != read_before) and self._loop.time() < deadline

    def _has_input(self) -> bool:
        import select

        try:
            return bool(select.select([self._descriptor], [], [], 0)[0]) and not self._stopped
        except (OSError, ValueError):
            return False  # Windows: only sockets can be asked

    def _say_room(self) -> None:
        if self._blocked:
            self._room.set()

    @property
    def _is_full(self) -> bool:
        return self._read - self._released > INPUT_LIMIT or self._outlet.full

    # -- the thread -------------------------------------------------------------------------------
    def _run(self) -> None:
        framer = self._opening.framer
        self._post(self._opening.messages)
        self._at_end = self._opening.at_end
        if self._at_end:
            self._from_thread(self._on_end)
        while not self._at_end and not self._stopped:
            if self._is_full:
                self._wait_for_room()
                continue
            if self._rest is not None and not self._comes_soon():
                self._rest_now()
            data = read(self._descriptor)
            if self._stopped:
                break
            if data:
                self._serve(framer.feed(data))
            else:
                self._post(framer.finish())
                self._at_end = True
                self._from_thread(self._on_end)
        self._rest_now()

    def _comes_soon(self) -> bool:
        """Whether there is input within a moment: a host that waits for each reply sends the next request then."""
        return self._poll is not None and not self._stopped and bool(self._poll.poll(_SOON_MS))

    def _rest_now(self) -> None:
        rest, self._rest = self._rest, None
        if rest is not None:
            rest()

    def _wait_for_room(self) -> None:
        self._room.clear()
        self._blocked = True
        if self._is_full and not self._stopped:
            self._room.wait()
        self._blocked = False

    def _serve(self, messages: list[bytes | Fault]) -> None:
        """Take the floor if nobody has it and nothing is before these messages; else hand them over."""
        floor = self._floor
        if not messages:
            return
        if floor is None or self._batches or not floor.acquire(timeout=_PATIENCE):
            self._rest_now()
            self._post(messages)
            return
        rest, self._rest = self._rest, None
        try:
            self._count(messages)
            self._deliver(messages, self._aside)
        except Exception:  # as the loop does it with a callback
            _log.exception("serving input")
        finally:
            floor.release()
            finish, self._finish = self._finish, None
            if finish is not None:
                finish()
            if rest is not None and self._rest is None:
                rest()

    def step_aside(self, work: Callable[[], T]) -> T:
        """Give the floor up for something that waits for a disk; the loop listens meanwhile."""
        assert self._floor is not None
        self._loop.add_reader(self._descriptor, self._listen)
        self._floor.release()
        try:
            return work()
        finally:
            self._floor.acquire()
            self._loop.remove_reader(self._descriptor)

    def afterwards(self, finish: Callable[[], None], rest: Callable[[], None]) -> None:
        """See operations.call.Aside. With the floor, in the thread."""
        self._finish, self._rest = finish, rest

    def _listen(self) -> None:
        """The loop reads, for once: the thread is at the disk."""
        if self._stopped or self._at_end or self._is_full:
            self._loop.remove_reader(self._descriptor)
            return
        framer, data = self._opening.framer, read(self._descriptor)
        messages = framer.feed(data) if data else framer.finish()
        self._at_end = not data
        if messages:
            self._count(messages)
            self._deliver(messages, None)
        if self._at_end:
            self._loop.remove_reader(self._descriptor)
            self._on_end()

    def _count(self, messages: list[bytes | Fault]) -> None:
        self._read += sum([cost_of(message) for message in messages])

    def _post(self, messages: list[bytes | Fault]) -> None:
        if not messages:
            return
        self._count(messages)
        self._batches.append(messages)
        if not self._delivery_is_due:
            self._delivery_is_due = True
            self._from_thread(self._deliver_batches)

    def _from_thread(self, call: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed: the process is ending
            self._loop.call_soon_threadsafe(call)

    def _deliver_batches(self) -> None:
        self._delivery_is_due = False
        for _ in range(len(self._batches)):
            self._deliver(self._batches.popleft(), None)


class _Aside:
    """How what is served in the input thread steps aside."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self.afterwards = intake.afterwards

    def __call__(self, work: Callable[[], T]) -> T:
        return self._intake.step_aside(work)


def _can_be_waited_for(descriptor: int) -> bool:
    """Whether an event loop can listen to it: a pipe, a socket or a terminal, no file."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)


def _poll_of(descriptor: int) -> Any:
    import select

    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return poll
