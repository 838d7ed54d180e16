"""Turns that a dead boot left open: how they are ended.

Invariant: idempotent, a job of the writer; a read never does it.
"""

from __future__ import annotations

from collections.abc import Callable

from lockstitch.timeline.admission import Admission
from lockstitch.timeline.boots import Boots
from lockstitch.timeline.incoming import Incoming


def interrupt_job(boots: Boots) -> Callable[[Admission], None]:
    """End the open turn as interrupted, if the boot that served it is dead; else do nothing."""

    def build(admission: Admission) -> None:
        turn = admission.state.open_turn()
        if turn is None or boots.is_alive(turn.boot_id):
            return
        payload = {"reason": "processEnded", "bootId": turn.boot_id}
        # The time is that of the thread's last event: recovery does not know when the process ended.
        admission.add(
            Incoming("turn.interrupted", payload, turn.turn_id, at=admission.state.thread.last_at or None, own=True)
        )

    return build
