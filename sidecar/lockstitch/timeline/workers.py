"""Workers: what a turn's agent has running beside itself, each under a lease that its host renews.

Invariant: a worker is alive while the boot that last vouched for it lives and its lease lasts; whoever finds that
neither is so may record it, and only a bounded retry begins the next attempt.
Invariant: what an event says of leases, boots and attempts is the sidecar's own word, whatever a host sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from lockstitch.errors import ConflictError, LockstitchError, NotFoundError, RefusedError
from lockstitch.timeline.payloads import WorkerPayload, read_worker
from lockstitch.timeline.rows import TurnRow, WorkerRow, WorkerStatus
from lockstitch.timeline.times import microseconds_of, text_of
from lockstitch_protocol.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from lockstitch.timeline.reducer import Fact
    from lockstitch.timeline.state import ThreadState

STARTED, HEARTBEAT, RETRIED, INTERRUPTED = "worker.started", "worker.heartbeat", "worker.retried", "worker.interrupted"
ENDS: dict[str, WorkerStatus] = {
    "worker.completed": WorkerStatus.completed,
    "worker.failed": WorkerStatus.failed,
    "worker.cancelled": WorkerStatus.cancelled,
}
TYPES = frozenset({STARTED, HEARTBEAT, RETRIED, INTERRUPTED, *ENDS})

LEASE_MS, MAX_ATTEMPTS = 30_000, 3
"""What a worker gets that is started without saying."""

_AFRESH = (WorkerStatus.failed, WorkerStatus.interrupted)
"""What can be tried again."""


# -- what events mean -------------------------------------------------------------------------------------------
def on_worker(state: ThreadState, fact: Fact, turn: TurnRow | None, moment: int) -> None:
    """The reducer's part: one event about a worker."""
    found = read_worker(fact.payload)
    before = state.worker(found.workerId)
    number = None if turn is None else turn.turn_no
    after = _applied(before, fact.type, found, state.thread.thread_no, number, moment)
    if after is not None:
        state.touch_worker(after)


def _applied(
    row: WorkerRow | None, type_: str, found: WorkerPayload, thread_no: int, turn_no: int | None, moment: int
) -> WorkerRow | None:
    """The worker after the event; None for an event about a worker that nobody started."""
    lease = microseconds_of(found.leaseExpiresAt) if found.leaseExpiresAt else 0
    if type_ == STARTED:
        made = WorkerRow(thread_no, found.workerId, turn_no, found.kind, WorkerStatus.active, found.attempt)
        made.max_attempts, made.lease_ms, made.lease_until = found.maxAttempts, found.leaseMs, lease
        made.boot_id, made.started_at = found.bootId, moment
        return made
    if row is None:
        return None
    if type_ == HEARTBEAT:
        return replace(row, lease_until=lease, boot_id=found.bootId)
    if type_ == RETRIED:
        active = replace(row, status=WorkerStatus.active, attempt=found.attempt, finished_at=None)
        return replace(active, lease_until=lease, boot_id=found.bootId)
    if type_ == INTERRUPTED:
        return replace(row, status=WorkerStatus.interrupted)
    return replace(row, status=ENDS[type_], finished_at=moment)


def lost_because(row: WorkerRow, is_alive: Callable[[str | None], bool], now: int) -> str | None:
    """Why an active worker is to be interrupted, if it is."""
    if row.status != WorkerStatus.active:
        return None
    if not is_alive(row.boot_id):
        return "processEnded"
    return "leaseExpired" if row.lease_until <= now else None


# -- what may be appended ---------------------------------------------------------------------------------------
class WorkerAdmission(msgspec.Struct):
    """The workers of one thread, as one append finds and leaves them."""

    state: ThreadState
    boot_id: str
    is_alive: Callable[[str | None], bool]
    _changed: dict[str, WorkerRow] = {}

    def admit(self, type_: str, sent: dict[str, Any], turn_id: str | None, now: str) -> dict[str, Any]:
        """The payload to store. Raises LockstitchError for what cannot be."""
        worker_id = sent.get("workerId") or new_id("worker")
        row = self.worker(worker_id)
        moment = microseconds_of(now)
        facts: dict[str, Any]
        if type_ == STARTED:
            if row is not None:
                raise ConflictError(
                    f"Thread {self.thread_id} already has a worker {worker_id}; give a new one its own id.",
                    kind="workerExists",
                    threadId=self.thread_id,
                    workerId=worker_id,
                )
            facts = {"kind": sent["kind"], "attempt": 1, "maxAttempts": sent.get("maxAttempts") or MAX_ATTEMPTS}
            facts["leaseMs"] = sent.get("leaseMs") or LEASE_MS
            facts |= self._lease(facts["leaseMs"], moment)
        elif row is None:
            raise not_found(self.thread_id, worker_id)
        else:
            worker_id = row.worker_id
            facts = self._going_on(type_, row, moment)
        facts = {"workerId": worker_id, **facts}
        found = WorkerPayload(**{name: facts[name] for name in WorkerPayload.__struct_fields__ if name in facts})
        after = _applied(row, type_, found, self.state.thread.thread_no, None, moment)
        if after is not None:
            self._changed[worker_id.lower()] = after
        return {**sent, **facts}

    def _going_on(self, type_: str, row: WorkerRow, moment: int) -> dict[str, Any]:
        lost = lost_because(row, self.is_alive, moment)
        status = WorkerStatus.interrupted if lost else WorkerStatus(row.status)
        if type_ == INTERRUPTED:
            return {}
        if type_ == RETRIED:
            if status not in _AFRESH:
                raise self._refused(row, status, "only one that failed or was interrupted can be tried again")
            if row.attempt >= row.max_attempts:
                raise self._exhausted(row)
            return {"attempt": row.attempt + 1, **self._lease(row.lease_ms, moment)}
        if status != WorkerStatus.active:
            hint = "worker/retry begins its next attempt" if status in _AFRESH else "it is over"
            raise self._refused(row, status, hint)
        return self._lease(row.lease_ms, moment) if type_ == HEARTBEAT else {}

    def _lease(self, milliseconds: int, moment: int) -> dict[str, Any]:
        return {"leaseExpiresAt": text_of(moment + milliseconds * 1000), "bootId": self.boot_id}

    @property
    def thread_id(self) -> str:
        return self.state.thread.thread_id

    def worker(self, worker_id: str) -> WorkerRow | None:
        """The worker after what was admitted so far."""
        return self._changed.get(worker_id.lower()) or self.state.worker(worker_id)

    def _refused(self, row: WorkerRow, status: WorkerStatus, hint: str) -> LockstitchError:
        return RefusedError(
            f"Worker {row.worker_id} of thread {self.thread_id} is {status.name}: {hint}.",
            kind="invalidRequest",
            threadId=self.thread_id,
            workerId=row.worker_id,
            status=status.name,
        )

    def _exhausted(self, row: WorkerRow) -> LockstitchError:
        return RefusedError(
            f"Worker {row.worker_id} of thread {self.thread_id} has had its {row.max_attempts} attempts; start another "
            "one if it is to be tried again.",
            kind="attemptsExhausted",
            threadId=self.thread_id,
            workerId=row.worker_id,
            attempt=row.attempt,
            maxAttempts=row.max_attempts,
        )


def not_found(thread_id: str, worker_id: str) -> NotFoundError:
    """The error of a worker that nobody started."""
    return NotFoundError(
        f"Thread {thread_id} has no worker {worker_id}; worker/list shows those that it has.",
        kind="workerNotFound",
        threadId=thread_id,
        workerId=worker_id,
    )
