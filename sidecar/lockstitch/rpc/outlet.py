"""Writes to the wire: many small messages in one write, never blocking the event loop.

Invariant: what is put is written in order, whole, or the client is gone.
Invariant: the event loop writes by itself only what a pipe takes at once; all else is the writer thread's.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
import time
from collections.abc import Callable

OUTPUT_LIMIT = 256 * 1024 * 1024
"""Unread output past which no more input is taken and notifications wait."""

_AT_ONCE = 4096
"""What a pipe that polls as writable takes without blocking (PIPE_BUF on Linux)."""
_PIECE = 65536
"""Bytes of one blocking write, small so that progress shows."""
_LARGE = 8 << 20
"""A message of that size leaves the allocator with so much that it pays to look."""


class Outlet:
    """The output queue. All but its thread's part belongs to who has the floor."""

    def __init__(self, descriptor: int, loop: asyncio.AbstractEventLoop, on_gone: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._loop = loop
        self._on_gone = on_gone
        self._fresh: list[bytes] = []  # put in this turn of the loop
        self._flush_is_due = False
        self._queue: list[bytes] = []  # the writer thread's
        self._changed = threading.Condition()
        self._put = 0  # counted by the loop
        self._written_here = 0  # by the loop, by itself
        self._written_there = 0  # by the writer thread
        self._writing = False
        self._waiters: list[asyncio.Future[None]] = []
        self.on_room: Callable[[], None] | None = None
        """Called, from any thread, when there is less output waiting than before."""
        self.on_emptier: Callable[[], None] | None = None
        """Called by the loop when output has moved on after it was full, or has all been written."""
        self.gone = False
        """The client does not read any more; what is put is dropped."""
        self.lost = False
        """Something was dropped."""
        self._poll = _poll_of(descriptor)
        threading.Thread(target=self._run, name="output", daemon=True).start()

    @property
    def pending(self) -> int:
        """Bytes that were put and are not written."""
        return 0 if self.gone else self._put - self._written_here - self._written_there

    @property
    def full(self) -> bool:
        return self.pending > OUTPUT_LIMIT

    def put(self, data: bytes) -> None:
        """Queue bytes for writing; returns at once."""
        if self.gone:
            self.lost = True
            return
        self._put += len(data)
        self._fresh.append(data)
        if not self._flush_is_due:
            self._flush_is_due = True
            self._loop.call_soon(self.flush)

    def gather(self) -> None:
        """Keep what is put until the next `flush`, which is to be called before the floor is given up."""
        self._flush_is_due = True

    async def room(self) -> None:
        """Wait until less than OUTPUT_LIMIT waits."""
        while self.full:
            await self._change()

    async def emptied(self) -> None:
        """Wait until all is written, or the client is gone."""
        while self.pending:
            await self._change()

    async def give_up_when_stalled(self, seconds: float) -> None:
        """Declare the client gone once waiting output has not moved for so long."""
        seen, since = -1, time.monotonic()
        while not self.gone:
            moved = self._written_here + self._written_there
            if moved != seen or not self.pending:
                seen, since = moved, time.monotonic()
            elif time.monotonic() - since >= seconds:
                self._lose()
                return
            await asyncio.sleep(min(0.1, seconds))

    async def _change(self) -> None:
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._waiters.append(waiter)
        await waiter

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
        if self.on_emptier is not None:
            self.on_emptier()

    def flush(self) -> None:
        """Write, or hand to the writer thread, what was put in this turn of the loop."""
        self._flush_is_due = False
        parts, self._fresh = self._fresh, []
        if self.gone or not parts:
            return
        if self._put - self._written_here - self._written_there <= _AT_ONCE and not self._writing and self._poll:
            data = parts[0] if len(parts) == 1 else b"".join(parts)
            data = data[self._write_at_once(data) :]
            if not data:
                if self._waiters:
                    self._wake()
                return
            parts = [data]
        with self._changed:
            self._queue += parts
            self._writing = True
            self._changed.notify()

    def _write_at_once(self, data: bytes) -> int:
        """Write what goes without blocking; how much that was."""
        try:
            if self._poll is None or not self._poll():
                return 0
            count = os.write(self._descriptor, data)
        except BlockingIOError:
            return 0
        except OSError:
            return 0  # the writer thread will meet it too, and say so
        self._written_here += count
        return count

    # -- the writer thread ------------------------------------------------------------------------
    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._queue:
                    self._writing = False
                    self._from_thread(self._wake)
                    while not self._queue:
                        self._changed.wait()
                parts, self._queue = self._queue, []
            large = max(map(len, parts)) >= _LARGE
            try:
                self._write(parts)
            except OSError:
                self._from_thread(self._lose)
                return
            parts.clear()  # what was written is not kept until something else is
            if large:
                from lockstitch.platform.memory import give_back

                give_back()

    def _write(self, parts: list[bytes]) -> None:
        pieces: list[bytes] = []
        size = 0
        for part in parts:
            if len(part) < _PIECE:
                pieces.append(part)
                size += len(part)
                if size < _PIECE:
                    continue
            self._write_all(b"".join(pieces))
            pieces, size = [], 0
            if len(part) >= _PIECE:
                self._write_all(part)
        self._write_all(b"".join(pieces))

    def _write_all(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            try:
                count = os.write(self._descriptor, left[:_PIECE])
            except BlockingIOError:  # a host that made its pipe non-blocking
                import select

                select.select([], [self._descriptor], [])
                continue
            left = left[count:]
            over = self.full
            self._written_there += count
            if self.on_room is not None:
                self.on_room()
            if over and not self.full:
                self._from_thread(self._wake)

    def _from_thread(self, call: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(call)
        except RuntimeError:
            return  # the loop is closed: the process is ending

    def _lose(self) -> None:
        """The client is gone: drop what waits."""
        if self.gone:
            return
        self.lost = self.lost or self.pending > 0
        self.gone = True
        self._fresh = []
        self._wake()
        if self.on_room is not None:
            self.on_room()
        self._on_gone()


def _poll_of(descriptor: int) -> Callable[[], bool] | None:
    """Whether a pipe or socket takes a few kilobytes now; None where only a thread may write."""
    if sys.platform == "win32":
        return None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISFIFO(mode) and not stat.S_ISSOCK(mode):
        return None
    import select

    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return lambda: any(flags == select.POLLOUT for _, flags in poll.poll(0))
