"""Requests that change one thread keep their order of arrival while what is slow about them is prepared.

Invariant: a ticket is drawn before anything is awaited, so that the order is that in which requests began.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager


class ThreadOrder:
    """A line of waiting requests for each thread that somebody is changing."""

    def __init__(self) -> None:
        self._last: dict[str, asyncio.Event] = {}

    def is_free(self, thread_id: str) -> bool:
        """Whether nobody is ahead."""
        return thread_id.lower() not in self._last

    def take(self, thread_id: str) -> Callable[[], None] | None:
        """The turn at once, if nobody is ahead: what is returned ends it."""
        key, mine = thread_id.lower(), asyncio.Event()
        if key in self._last:
            return None
        self._last[key] = mine

        def end() -> None:
            mine.set()
            if self._last.get(key) is mine:
                del self._last[key]

        return end

    @asynccontextmanager
    async def turn(self, thread_id: str) -> AsyncGenerator[None]:
        """Wait for everybody who came before; those who come later wait for us."""
        key = thread_id.lower()
        before, mine = self._last.get(key), asyncio.Event()
        self._last[key] = mine
        try:
            if before is not None:
                await before.wait()
            yield
        finally:
            if before is not None and not before.is_set():
                # Cancelled while waiting: whoever follows us must still wait for those ahead.
                asyncio.get_running_loop().create_task(_pass_on(before, mine))
            else:
                mine.set()
            if self._last.get(key) is mine and mine.is_set():
                del self._last[key]


async def _pass_on(before: asyncio.Event, mine: asyncio.Event) -> None:
    await before.wait()
    mine.set()
