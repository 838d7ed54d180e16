"""`agentSession/runtimeEvents/append`: the way in for everything that a host reports."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from lockstitch.codec import Pieces
from lockstitch.operations.append_request import WHOLE_ITEMS, PlainAppend
from lockstitch.operations.call import NOT_NOW, Call
from lockstitch.operations.contents import large_output
from lockstitch.operations.incoming import FILE_EVENTS, incoming_events, refuse_empty, request_digest
from lockstitch.operations.prepared import FEW, write_prepared
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.snapshots import Snapshots, stored_events
from lockstitch.timeline.admission import Admission
from lockstitch.timeline.incoming import Incoming
from lockstitch.timeline.jobs import Appended, AppendJob
from lockstitch.timeline.reducer import DELTAS

if TYPE_CHECKING:
    from lockstitch_protocol.events import AppendParams


def append_at_once(runtime: Runtime, call: Call, params: AppendParams | PlainAppend) -> Pieces:
    """The same for a request in its plain form; NOT_NOW for any other, and if it had to wait for anybody."""
    if not isinstance(params, PlainAppend) or not runtime.writes_at_once(params.session_id):
        return NOT_NOW
    refuse_empty(params.runtime_events)
    types = {event.type for event in params.runtime_events}
    if types <= DELTAS.keys() and params.durability != "sync":
        job = _job(
            runtime, call, params.session_id, incoming_events(params.runtime_events, params.turn_id), deltas=True
        )
        done = runtime.stream_at_once(call, job)
    elif call.aside is None:
        return NOT_NOW
    else:
        events = incoming_events(params.runtime_events, params.turn_id)
        if not params.is_checked and _large(events):
            return NOT_NOW
        if not types.isdisjoint(FILE_EVENTS):
            return _files_at_once(runtime, call, params, events)
        done = runtime.write_at_once(call, _job(runtime, call, params.session_id, events))
    return NOT_NOW if done is NOT_NOW else appended_value(done)


def _files_at_once(runtime: Runtime, call: Call, params: PlainAppend, events: list[Incoming]) -> Pieces:
    """Few file events: their files are read, and their contents stored, in the calling thread."""
    if sum(event.type in FILE_EVENTS for event in events) > FEW:
        return NOT_NOW
    snapshots = Snapshots(runtime, params.session_id)

    def follow(done: Appended) -> None:
        snapshots.write_documents_here(done.thread, stored_events(done))

    job = _job(runtime, call, params.session_id, events)
    done = write_prepared(runtime, call, job, lambda: snapshots.prepare_here(events), follow)
    return NOT_NOW if done is NOT_NOW else appended_value(done)


async def append(runtime: Runtime, call: Call, params: AppendParams | PlainAppend) -> Pieces:
    """Store all of the events or none; the reply is those events as they are stored."""
    refuse_empty(params.runtime_events)
    thread_id = params.session_id
    types = {event.type for event in params.runtime_events}
    has_files = not types.isdisjoint(FILE_EVENTS)
    snapshots = None
    async with runtime.order.turn(thread_id):
        events = incoming_events(params.runtime_events, params.turn_id)
        if has_files:
            snapshots = Snapshots(runtime, thread_id)
            await snapshots.prepare(events)
        await _store_outputs(runtime, events)
        job = _job(runtime, call, thread_id, events, deltas=params.durability != "sync" and types <= DELTAS.keys())
        future = runtime.enqueue(job)
        if has_files:
            # The next snapshot of this thread wants to know the versions that this one makes.
            call.commit_point()
            await asyncio.wait([future])
    done = await runtime.settled(call, job, future)
    if snapshots is not None:
        await snapshots.write_documents(done.thread, stored_events(done))
    return appended_value(done)


def _job(runtime: Runtime, call: Call, thread_id: str, events: list[Incoming], *, deltas: bool = False) -> AppendJob:
    """`deltas`: streamed text only, which may wait in its segment."""
    has_deltas = deltas or not DELTAS.keys().isdisjoint([event.type for event in events])
    return runtime.job(
        AppendJob,
        thread_id=thread_id,
        build=adding(events, deltas=deltas) if has_deltas else adding_whole(events),
        req=request_digest(call),
        count=0 if has_deltas else len(events),
        deltas=deltas,
        wait_for_reply=call.request_id is not None,
    )


def _large(events: list[Incoming]) -> list[Incoming]:
    """Those with an output that is too large for a line."""
    return [
        event
        for event in events
        if event.plain is None and event.type in WHOLE_ITEMS and large_output(event.payload["item"])
    ]


async def _store_outputs(runtime: Runtime, events: list[Incoming]) -> None:
    """Store what is too large for a line before the queue, so that the writer does not wait for it."""
    large = _large(events)
    if large:
        stored = await runtime.slowly(lambda: [runtime.contents.spill(event.payload["item"]) for event in large])
        for event, item in zip(large, stored, strict=True):
            event.payload = {**event.payload, "item": item}


def adding_whole(events: list[Incoming]) -> Callable[[Admission], None]:
    """How the writer admits events among which there is no streamed text."""

    given = [event.event_id for event in events if event.event_id is not None]

    def build(admission: Admission) -> None:
        if len(given) > 1:
            admission.state.expect_client_events(given)
        for event in events:
            admission.add(event)

    return build


def adding(events: list[Incoming], *, deltas: bool) -> Callable[[Admission], None]:
    """How the writer admits these events."""

    def build(admission: Admission) -> None:
        for event in events:
            if event.type in DELTAS:
                admission.add_delta(event)
                if not deltas:
                    admission.flush()  # in order with what comes next, and durable with it
            else:
                admission.add(event)

    return build


def appended_value(done: Appended) -> Pieces:
    """The reply to an append."""
    duplicates = b',"duplicates":%d' % done.duplicates if done.duplicates else b""
    return Pieces((b'{"events":', done.events, duplicates, b"}"))
