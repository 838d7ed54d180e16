"""Work in worker threads for requests that may be cancelled meanwhile.

Invariant: a cancel ends the waiting, never a thread. So whoever tidies up after work waits for its end first, and long
work looks now and then whether anybody still waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from lockstitch.operations.runtime import Runtime

T = TypeVar("T")


class GivenUpError(Exception):
    """Nobody waits for the work any more."""


async def to_its_end(runtime: Runtime, work: Callable[[], T], undo: Callable[[T], None] | None = None) -> T:
    """Run work slowly; a cancel is raised only when it has ended, and been undone where `undo` is given."""
    task = asyncio.ensure_future(runtime.slowly(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        if undo is not None and not task.cancelled() and task.exception() is None:
            await runtime.slowly(lambda: undo(task.result()))
        raise


async def stoppable(runtime: Runtime, work: Callable[[Callable[[], None]], T]) -> T:
    """Run work slowly that calls what it is handed now and then, which raises when the request was cancelled."""
    given_up = False

    def pulse() -> None:
        if given_up:
            raise GivenUpError

    try:
        return await runtime.slowly(lambda: work(pulse))
    except asyncio.CancelledError:
        given_up = True
        raise
