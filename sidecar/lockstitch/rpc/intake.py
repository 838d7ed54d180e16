"""Reads the wire in one plain thread and hands whole messages to the event loop in batches.

Invariant: past the bounds of waiting input or output the thread does not read; nothing that was read is dropped.
Invariant: one wake-up of the loop per batch, however many messages are in it.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable

from lockstitch.rpc.doorstep import Opening, read
from lockstitch.rpc.framing import Fault
from lockstitch.rpc.outlet import Outlet

INPUT_LIMIT = 64 * 1024 * 1024
"""Bytes of messages read and not answered, past which no more are read."""

_MOMENT = 0.02
"""Seconds within which the thread hands over what it has read."""

_COST = 1024
"""What a message costs in memory beside its bytes."""


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
        deliver: Callable[[list[bytes | Fault]], None],
        on_end: Callable[[], None],
    ) -> None:
        self._descriptor = descriptor
        self._opening = opening
        self._outlet = outlet
        self._loop = loop
        self._deliver = deliver
        self._on_end = on_end
        self._batches: deque[list[bytes | Fault]] = deque()
        self._delivery_is_due = False
        self._read = 0  # counted by the thread
        self._released = 0  # counted by the loop
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
        while not self._at_end and not self._stopped:
            if self._is_full:
                self._wait_for_room()
                continue
            data = read(self._descriptor)
            if self._stopped:
                return
            if data:
                self._post(framer.feed(data))
            else:
                self._post(framer.finish())
                self._at_end = True
        if self._at_end:
            self._from_thread(self._on_end)

    def _wait_for_room(self) -> None:
        self._room.clear()
        self._blocked = True
        if self._is_full and not self._stopped:
            self._room.wait()
        self._blocked = False

    def _post(self, messages: list[bytes | Fault]) -> None:
        if not messages:
            return
        self._read += sum([cost_of(message) for message in messages])
        self._batches.append(messages)
        if not self._delivery_is_due:
            self._delivery_is_due = True
            self._from_thread(self._deliver_batches)

    def _from_thread(self, call: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(call)
        except RuntimeError:
            return  # the loop is closed: the process is ending

    def _deliver_batches(self) -> None:
        self._delivery_is_due = False
        for _ in range(len(self._batches)):
            self._deliver(self._batches.popleft())
