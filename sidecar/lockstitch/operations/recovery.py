"""What a start does before anything is served: new and vanished rollouts, turns that a dead boot left open.

Invariant: idempotent, under the write lock; a read never does it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from collections.abc import Callable

from lockstitch.timeline.admission import Admission, Incoming
from lockstitch.timeline.boots import Boots
from lockstitch.timeline.moves import tell_archived
from lockstitch.timeline.rebuild import index_one, unique
from lockstitch.timeline.stored import forget_thread
from lockstitch.timeline.writer import Writer

log = logging.getLogger(__name__)


def recover_at_start(writer: Writer) -> None:
    """Compare the names of the rollouts with the thread table, and finish deletions. No contents are read."""
    place, rows = writer.place, writer.rows
    connection = writer.database.connection
    known = {
        thread_id.lower(): (number, path)
        for number, thread_id, path in connection.execute("SELECT thread_no, thread_id, path FROM thread")
    }
    for found in unique(place.root.rollouts()):
        row = known.pop(found.thread_id.lower(), None)
        if row is None:
            index_one(place, writer.database, rows.next_thread_number(), found)
        elif row[1] != found.path:
            rows.set_place(row[0], found.path, found.archived)
    for number, path in known.values():
        if not place.root.resolve(path).exists():
            forget_thread(connection, number)
    _empty_trash(writer)
    untold = "SELECT thread_id, archived FROM thread WHERE archived<>(archived_at IS NOT NULL)"
    for thread_id, archived in connection.execute(untold).fetchall():
        tell_archived(writer, thread_id, bool(archived))


def _empty_trash(writer: Writer) -> None:
    trash = writer.place.root.trash
    with contextlib.suppress(OSError):
        for name in os.listdir(trash):
            if name.startswith("boot_") and writer.place.boots.is_alive(name.partition("-")[0]):
                continue  # a fork that a live process is writing
            path = trash / name
            with contextlib.suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()


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
