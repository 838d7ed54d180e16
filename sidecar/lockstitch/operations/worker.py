"""`worker/*`: what an agent has running beside itself.

Invariant: everything about a worker is in `worker.*` events of its thread; a read shows a lost one as interrupted,
whether or not that is recorded yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lockstitch.codec import present
from lockstitch.operations.call import Call
from lockstitch.operations.recovery import interrupt_lost
from lockstitch.operations.runtime import Runtime
from lockstitch.operations.thread import change
from lockstitch.timeline import queries, workers
from lockstitch.timeline.admission import Admission
from lockstitch.timeline.boots import Boots
from lockstitch.timeline.cursors import cursor_of, key_of
from lockstitch.timeline.incoming import Incoming
from lockstitch.timeline.reader import View
from lockstitch.timeline.rows import WorkerRow, WorkerStatus
from lockstitch.timeline.times import microseconds_of, text_of
from lockstitch_protocol.ids import new_id

if TYPE_CHECKING:
    from lockstitch_protocol import worker as wire

_ENDS = {status.name: type_ for type_, status in workers.ENDS.items()}


async def start(runtime: Runtime, call: Call, params: wire.WorkerStartParams) -> dict[str, Any]:
    """Begin a worker's first attempt."""
    worker_id = params.worker_id or new_id("worker")
    payload = {
        "workerId": worker_id,
        "kind": params.kind,
        "leaseMs": params.lease_ms,
        "maxAttempts": params.max_attempts,
    }
    event = Incoming(workers.STARTED, payload, params.turn_id)
    await change(runtime, call, params.thread_id, lambda admission: admission.add(event), allow_archived=False)
    return await _worker(runtime, params.thread_id, worker_id)


async def heartbeat(runtime: Runtime, call: Call, params: wire.WorkerParams) -> dict[str, Any]:
    """Renew a worker's lease."""
    return await _go_on(runtime, call, params.thread_id, params.worker_id, workers.HEARTBEAT, {})


async def finish(runtime: Runtime, call: Call, params: wire.WorkerFinishParams) -> dict[str, Any]:
    """End a worker; one that ended so already is left as it is."""
    more = {name: call.params[name] for name in ("result", "error") if call.params.get(name) is not None}
    return await _go_on(runtime, call, params.thread_id, params.worker_id, _ENDS[params.status], more)


async def retry(runtime: Runtime, call: Call, params: wire.WorkerParams) -> dict[str, Any]:
    """Begin the next attempt of a worker that failed or was interrupted."""
    return await _go_on(runtime, call, params.thread_id, params.worker_id, workers.RETRIED, {})


async def _go_on(
    runtime: Runtime, call: Call, thread_id: str, worker_id: str, type_: str, more: dict[str, Any]
) -> dict[str, Any]:
    payload = {"workerId": worker_id, **more}
    await change(runtime, call, thread_id, _adding(type_, payload, runtime.boots), allow_archived=False)
    return await _worker(runtime, thread_id, worker_id)


def _adding(type_: str, payload: dict[str, Any], boots: Boots) -> Callable[[Admission], None]:
    def build(admission: Admission) -> None:
        row = admission.workers.worker(payload["workerId"])
        if row is not None and row.status == workers.ENDS.get(type_):
            return
        if row is not None and type_ == workers.RETRIED:
            # what is tried again was lost before: the log says so in that order
            interrupt_lost(admission, row, boots, microseconds_of(admission.now()))
        admission.add(Incoming(type_, payload))

    return build


async def list_(runtime: Runtime, call: Call, params: wire.WorkerListParams) -> dict[str, Any]:
    """A page of workers."""
    del call
    wanted = None if params.status is None else WorkerStatus[params.status]
    after = key_of("workers", params.cursor, int, int, str)

    def look(view: View) -> dict[str, Any]:
        thread_no = None if params.thread_id is None else view.thread(params.thread_id).thread_no
        found: list[tuple[WorkerRow, WorkerStatus]] = []
        key: list[Any] | None = after
        while len(found) <= params.limit:
            rows = queries.workers(view, thread_no, wanted, key, params.limit + 1)
            now = [(row, _status_now(runtime, row)) for row in rows]
            found += [(row, status) for row, status in now if wanted in (None, status)]
            if len(rows) <= params.limit:
                break
            key = [rows[-1].started_at, rows[-1].thread_no, rows[-1].worker_id]
        page = found[: params.limit]
        value: dict[str, Any] = {
            "data": [worker_value(view, row, status) for row, status in page],
            "nextCursor": None,
        }
        if len(found) > len(page):
            last = page[-1][0]
            value["nextCursor"] = cursor_of("workers", last.started_at, last.thread_no, last.worker_id)
        return value

    if params.thread_id is None:
        return await runtime.read(look)
    return await runtime.read_thread(params.thread_id, look)


def _status_now(runtime: Runtime, row: WorkerRow) -> WorkerStatus:
    lost = workers.lost_because(row, runtime.boots.is_alive, runtime.clock.now())
    return WorkerStatus.interrupted if lost else WorkerStatus(row.status)


async def _worker(runtime: Runtime, thread_id: str, worker_id: str) -> dict[str, Any]:
    def look(view: View) -> dict[str, Any]:
        thread = view.thread(thread_id)
        row = view.rows.worker(thread.thread_no, worker_id)
        if row is None:
            raise workers.not_found(thread.thread_id, worker_id)
        return worker_value(view, row, _status_now(runtime, row))

    return await runtime.read(look)


def worker_value(view: View, row: WorkerRow, status: WorkerStatus) -> dict[str, Any]:
    """A Worker."""
    turn = None if row.turn_no is None else view.rows.turn_by_number(row.thread_no, row.turn_no)
    return present(
        {
            "workerId": row.worker_id,
            "threadId": queries.thread_id_of(view, row.thread_no),
            "turnId": turn and turn.turn_id,
            "kind": row.kind,
            "status": status.name,
            "attempt": row.attempt,
            "maxAttempts": row.max_attempts,
            "leaseExpiresAt": text_of(row.lease_until),
            "bootId": row.boot_id or "",
            "startedAt": text_of(row.started_at),
            "finishedAt": None if row.finished_at is None else text_of(row.finished_at),
        }
    )
