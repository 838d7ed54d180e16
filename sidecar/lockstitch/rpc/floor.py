"""The event loop, and the floor: who holds it may act as the loop's thread does.

What belongs to the loop is touched by one thread at a time, the one with the floor. The loop's own thread gives it up
while it waits for something to happen; then the input thread may take it and serve what it has read without waking
the loop: two changes of thread less, which is most of what a small request costs.

Invariant: nobody who has the floor waits for a disk, a pipe or another thread's work.
"""

from __future__ import annotations

import asyncio
import selectors
import threading
from collections.abc import Callable
from contextvars import Context
from typing import Any


class _Selector(selectors.DefaultSelector):
    """Gives the floor up while it waits."""

    def __init__(self, floor: threading.Lock) -> None:
        super().__init__()
        self._floor = floor
        self.is_woken = False
        """What there is to do will be seen without another wake-up."""

    def select(self, timeout: float | None = None) -> Any:
        self._floor.release()
        try:
            return super().select(timeout)
        finally:
            self._floor.acquire()
            self.is_woken = False


class FloorLoop(asyncio.SelectorEventLoop):
    """An event loop that gives the floor up while it waits. Belongs to the thread that makes it."""

    def __init__(self) -> None:
        self.floor = threading.Lock()
        self.floor.acquire()
        self._home = threading.get_ident()
        self._waits = _Selector(self.floor)
        super().__init__(self._waits)

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        """As any loop does it; where another thread has the floor, the loop wakes up for it."""
        if threading.get_ident() == self._home or self._waits.is_woken:
            return super().call_soon(callback, *args, context=context)
        self._waits.is_woken = True  # once, however much there is to do
        return super().call_soon_threadsafe(callback, *args, context=context)


def new_loop() -> tuple[asyncio.AbstractEventLoop, threading.Lock | None]:
    """A new event loop and its floor; None where only a loop of another kind knows all that wakes it (Windows)."""
    if hasattr(asyncio, "ProactorEventLoop"):
        return asyncio.new_event_loop(), None
    loop = FloorLoop()
    return loop, loop.floor
