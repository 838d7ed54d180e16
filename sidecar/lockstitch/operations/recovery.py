"""What dead boots left open, turns and workers: how it is ended.

Invariant: idempotent, a job of the writer; a read never does it.
"""

from __future__ import annotations

from collections.abc import Callable

from lockstitch.timeline.admission import Admission
from lockstitch.timeline.boots import Boots
from lockstitch.timeline.incoming import Incoming
from lockstitch.timeline.rows import WorkerRow
from lockstitch.timeline.times import microseconds_of, text_of
from lockstitch.timeline.workers import INTERRUPTED, lost_because


def interrupt_job(boots: Boots) -> Callable[[Admission], None]:
    """End what nobody serves any more: the open turn of a dead boot, workers that are lost; else do nothing."""

    def build(admission: Admission) -> None:
        turn = admission.state.open_turn()
        last_at = admission.state.thread.last_at or None
        now = microseconds_of(admission.now())
        for worker in admission.state.active_workers():
            interrupt_lost(admission, worker, boots, now)
        if turn is None or boots.is_alive(turn.boot_id):
            return
        payload = {"reason": "processEnded", "bootId": turn.boot_id}
        # The time is that of the thread's last event: recovery does not know when the process ended.
        admission.add(Incoming("turn.interrupted", payload, turn.turn_id, at=last_at, own=True))

    return build


def interrupt_lost(admission: Admission, worker: WorkerRow, boots: Boots, now: int) -> None:
    """Record that a worker is lost, if it is. A lease says itself when it ran out."""
    reason = lost_because(worker, boots.is_alive, now)
    if reason is not None:
        at = text_of(worker.lease_until) if reason == "leaseExpired" else admission.state.thread.last_at or None
        payload = {"workerId": worker.worker_id, "reason": reason, "bootId": worker.boot_id}
        admission.add(Incoming(INTERRUPTED, payload, at=at, own=True))
