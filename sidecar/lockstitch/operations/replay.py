"""`thread/replay`: a thread's recorded events as notifications, in order, at a chosen speed.

Invariant: nothing is done again and nothing is written; an event that was recorded is told, not carried out.
Invariant: no event is dropped for want of room: the next one waits until the client has read.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from lockstitch.codec import encode
from lockstitch.operations.call import Call
from lockstitch.operations.notices import records_after
from lockstitch.operations.runtime import Runtime
from lockstitch.timeline.events import event_of_line
from lockstitch.timeline.reader import View
from lockstitch.timeline.times import microseconds_of
from lockstitch_protocol.ids import new_id

if TYPE_CHECKING:
    from lockstitch_protocol.replay import ThreadReplayParams

METHOD = "thread/replay/event"
LONGEST_GAP = 2.0
"""Seconds that a gap between two events takes at most."""

_PAGE = 256
_PAGE_BYTES = 1 << 20
_REPORT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class _Recorded:
    sequence: int
    at: str
    event: bytes


@dataclass(slots=True)
class _Sent:
    """What the client was told so far."""

    count: int = 0
    first: int | None = None
    last: int | None = None
    digest: Any = field(default_factory=sha256)

    def add(self, recorded: _Recorded) -> None:
        self.count += 1
        self.first = recorded.sequence if self.first is None else self.first
        self.last = recorded.sequence
        self.digest.update(recorded.event + b"\n")


async def replay(runtime: Runtime, call: Call, params: ThreadReplayParams) -> dict[str, Any]:
    """Tell what is recorded of a thread, event by event."""
    replay_id, sent = new_id("replay"), _Sent()
    until = await runtime.read_thread(params.thread_id, lambda view: view.thread(params.thread_id).last_sequence)
    if params.until_sequence is not None:
        until = min(until, params.until_sequence)
    total = max(0, until - params.after_sequence)
    loop = asyncio.get_running_loop()
    reported, before = loop.time(), None
    await call.progress("begin", current=0, total=total)
    async for recorded in _recorded(runtime, params.thread_id, params.after_sequence, until):
        if params.speed != "max":
            await asyncio.sleep(_gap(before, recorded.at, params.speed))
            before = recorded.at
        await _tell(call, replay_id, params.thread_id, recorded, sent)
        if loop.time() - reported > _REPORT_SECONDS:
            reported = loop.time()
            await call.progress("report", current=recorded.sequence - params.after_sequence, total=total)
    await call.progress("end", current=total, total=total)
    value: dict[str, Any] = {"replayId": replay_id, "eventCount": sent.count}
    if sent.first is not None:
        value["firstSequence"], value["lastSequence"] = sent.first, sent.last
    value["digest"] = sent.digest.hexdigest()
    return value


async def _tell(call: Call, replay_id: str, thread_id: str, recorded: _Recorded, sent: _Sent) -> None:
    params = b'{"replayId":"%b","event":%b}' % (replay_id.encode(), recorded.event)
    most = call.connection.max_message_bytes
    if most is not None and len(params) + len(METHOD) + 64 > most:
        dropped = {"threadId": thread_id, "afterSequence": recorded.sequence - 1}
        await call.connection.notify("agentSession/eventsDropped", encode(dropped))
        return
    await call.connection.notify(METHOD, params)
    sent.add(recorded)


async def _recorded(runtime: Runtime, thread_id: str, after: int, until: int) -> AsyncIterator[_Recorded]:
    """The events, a page at a time: no read stays open while a client takes its time."""
    while after < until:
        page, after = await runtime.read_thread(thread_id, lambda view, at=after: _page(view, thread_id, at, until))
        for recorded in page:
            yield recorded


def _page(view: View, thread_id: str, after: int, until: int) -> tuple[list[_Recorded], int]:
    """The events behind `after`, and how far that page reaches: to `until` where nothing more can be read."""
    row = view.thread(thread_id)
    found: list[_Recorded] = []
    size = 0
    for record in records_after(view, row, after):
        if record.line.sequence > until:
            break
        event = event_of_line(row.thread_id, record.line)
        found.append(_Recorded(record.line.sequence, record.line.at, event))
        size += len(event)
        if len(found) == _PAGE or size > _PAGE_BYTES:
            return found, record.line.sequence
    return found, until


def _gap(before: str | None, at: str, speed: float) -> float:
    """Seconds to wait before an event; none where clocks went back or a time cannot be read."""
    if before is None:
        return 0.0
    try:
        recorded = (microseconds_of(at) - microseconds_of(before)) / 1_000_000
    except ValueError:
        return 0.0
    return min(max(0.0, recorded) / speed, LONGEST_GAP)
